"""Entry point of the ``agentframework`` command and of ``python -m agentframework``.

``python -m`` puts the current directory first on the search path. That directory belongs to whatever project
the user is working on, and a ``yaml.py`` in it must not become part of this program: it is taken off the path
before anything else is imported. Above: the shell. Below: ``cli``.
"""

import os
import sys


def main() -> None:
    """Run the command line and exit the process with its status."""
    _leave_current_directory_out()
    try:
        from agentframework.cli.main import main as run_command_line  # noqa: PLC0415 (only after the path is clean)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run_command_line())


def _leave_current_directory_out() -> None:
    own = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    try:
        here = os.path.realpath(os.getcwd())
    except FileNotFoundError:  # deleted under our feet: only the entry for "wherever I am" can lead there
        here = None
    # The directory this very package runs from stays: with it, our dependencies would go.
    foreign = here not in (own, None)
    sys.path[:] = [entry for entry in sys.path if entry and not (foreign and os.path.realpath(entry) == here)]


if __name__ == "__main__":
    main()
