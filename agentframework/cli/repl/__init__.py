"""The interactive mode of the command line: a person at a terminal, and a session.

``start`` wires it. A full terminal gets ``terminal`` (a line editor below, a transcript above, between them what
moves); one without cursor addressing gets ``plain``. What both do with lines, interrupts and questions is in ``driver``
and ``questions``. Imported by ``cli.main`` only when the mode begins: it needs rich and prompt_toolkit.
"""
