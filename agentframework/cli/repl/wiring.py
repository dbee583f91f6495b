"""The parts of the interactive mode that need no particular terminal, put together for one session."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from agentframework._base.owner import TaskOwner
from agentframework.cli.repl.driver import Driver
from agentframework.cli.repl.live import Live
from agentframework.cli.repl.questions import Panel, PermissionPanel, Questions
from agentframework.cli.repl.transcript import Transcript
from agentframework.cli.version import version
from agentframework.cli.view import Screen
from agentframework.events import AskRequest, PermissionRequest, PromptResolved
from agentframework.permissions import parse_rule
from agentframework.session import InteractiveSession


@dataclass(frozen=True, slots=True)
class Wired:
    """One conversation, ready to be shown."""

    session: InteractiveSession
    screen: Screen
    live: Live
    transcript: Transcript
    questions: Questions
    driver: Driver
    owner: TaskOwner


def wire(
    session: InteractiveSession,
    screen: Screen,
    *,
    keys: str,
    changed: Callable[[bool], None],
    leave: Callable[[int], None],
    streams: bool = False,
) -> Wired:
    """Attach everything to ``session``. ``changed`` gets True for what should be seen at once."""
    live = Live()
    transcript = Transcript(screen, live, changed, streams=streams)
    owner = TaskOwner(on_fault=lambda name, error: transcript.message(f"! {name} failed: {error!r}", "red"))

    def opened(panel: Panel) -> None:
        if isinstance(panel, PermissionPanel):
            transcript.permission(panel.event)

    def redraw() -> None:
        changed(True)

    questions = Questions(session, _rule_checker(session), opened, transcript.answered, redraw)
    driver = Driver(session, transcript, owner, leave=leave, changed=redraw, keys=keys)
    transcript.attach(session)
    session.on(PermissionRequest, questions.permission)
    session.on(AskRequest, questions.ask)
    session.on(PromptResolved, questions.resolved)
    return Wired(session, screen, live, transcript, questions, driver, owner)


def welcome(cwd: str) -> str:
    """The first two lines: who this is, how to learn more, and where."""
    home = os.path.expanduser("~")
    inside = cwd == home or cwd.startswith(home.rstrip("/") + "/")
    place = "~" + cwd[len(home.rstrip("/")) :] if inside and home != "/" else cwd
    return f"agentframework {version()}, /help for help\n{place}"


def _rule_checker(session: InteractiveSession) -> Callable[[str], str | None]:
    home = os.path.expanduser("~")

    def problem(rule: str) -> str | None:
        try:
            parse_rule(rule, "allow", base=session.cwd, home=home if os.path.isabs(home) else None)
        except ValueError as error:
            return f"the rule {error}"
        return None

    return problem
