"""What the assembly gives to tools that need more than the context of a call.

Tools know nothing of sessions and providers. One that wants to show a plan or to ask a model says so by having the
method below; the assembly, which knows both, makes it able to.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, runtime_checkable

from agentframework.tools.tool import Tool

ShowPlan = Callable[[str, Mapping[str, Any]], None]
"""``show(kind, data)``: tell whoever watches the session what happened to the plan."""

AskModel = Callable[[str, str], Coroutine[Any, Any, str]]
"""``await ask(system, prompt)``: the whole answer of a model beside the conversation. Raises the provider's errors."""


@runtime_checkable
class CanShowPlan(Protocol):
    """A tool that keeps a plan."""

    def with_plan(self, show: ShowPlan) -> Tool:
        """The same tool for one session, with a plan of its own."""
        ...


@runtime_checkable
class CanAskModel(Protocol):
    """A tool that can use a model to work on what it has found."""

    def with_model(self, ask: AskModel) -> Tool:
        """The same tool, able to."""
        ...
