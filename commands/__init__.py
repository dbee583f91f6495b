"""The built-in slash commands. A command sees its session only through the host port of ``agentframework.slash``.

Inside this folder siblings are imported relatively and the framework by its full name, because a wheel ships the
folder under another package name. Nothing but ``agentframework.bundled`` may load it on behalf of the framework.
"""
