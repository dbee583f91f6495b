"""The ``agentframework`` command: the host that makes the choices which the library leaves open."""
