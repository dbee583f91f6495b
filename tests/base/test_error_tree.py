import copy
import inspect
import pickle
import re

import pytest

from agentframework import errors
from agentframework.errors import (
    AgentFrameworkError,
    ErrorCode,
    ProviderError,
    RateLimitError,
    TurnNotRunError,
    describe_error,
    is_turn_not_run_error,
)

CLASSES = sorted(
    (
        found
        for _, found in inspect.getmembers(errors, inspect.isclass)
        if issubclass(found, AgentFrameworkError) and found.__module__.startswith(errors.__name__)
    ),
    key=lambda cls: cls.__name__,
)


def make(cls: type[AgentFrameworkError]) -> AgentFrameworkError:
    if issubclass(cls, TurnNotRunError):
        return cls("turn_1", "dropped")
    return cls("what to do", details={"field": "cwd"})


def test_the_drawn_tree_is_the_tree_of_classes() -> None:
    drawn: dict[str, str | None] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"([ │├└─]*)(\w+Error)\b", line):
            depth, name = len(found[1]), found[2]
            while above and above[-1][0] >= depth:
                above.pop()
            drawn[name] = above[-1][1] if above else None
            above.append((depth, name))
    real: dict[str, str | None] = {
        cls.__name__: cls.__bases__[0].__name__ if cls is not AgentFrameworkError else None for cls in CLASSES
    }
    assert drawn == real


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_an_error_keeps_everything_when_it_is_copied_or_sent_elsewhere(cls: type[AgentFrameworkError]) -> None:
    error = make(cls)
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is cls
        assert (str(other), other.args, vars(other)) == (str(error), error.args, vars(error))
        assert isinstance(other.code, ErrorCode)
        assert other.info == error.info


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_code_names_itself_and_can_be_given_per_error(cls: type[AgentFrameworkError]) -> None:
    assert cls.default_code == cls.default_code.name == str(cls.default_code)
    if not issubclass(cls, TurnNotRunError):
        assert cls("x", code=ErrorCode.TOOL_DENIED).info.code == "TOOL_DENIED"


def test_each_code_is_its_own_text() -> None:
    assert {code.name: str(code) for code in ErrorCode} == {code.name: code.name for code in ErrorCode}


def test_what_a_provider_knows_of_a_failure_is_kept() -> None:
    error = RateLimitError("slow down", status=429, retry_after_s=3.5)
    assert (error.retryable, error.status, error.retry_after_s, error.details) == (True, 429, 3.5, {"status": 429})
    assert not ProviderError("x").retryable
    assert not RateLimitError("x", retryable=False).retryable
    kept = pickle.loads(pickle.dumps(error))
    assert (kept.retry_after_s, kept.retryable) == (3.5, True)


def test_only_a_turn_that_did_not_run_is_known_as_such() -> None:
    assert is_turn_not_run_error(TurnNotRunError("t", "coalesced"))
    for other in (AgentFrameworkError("x", code=ErrorCode.TURN_NOT_RUN), ValueError(), None, "TURN_NOT_RUN"):
        assert not is_turn_not_run_error(other)


class _Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        (AgentFrameworkError("ours"), "ours", "INTERNAL_ERROR"),
        (TurnNotRunError("t", "dropped"), "turn t did not run: the queue was full", "TURN_NOT_RUN"),
        (ValueError("theirs"), "ValueError: theirs", "INTERNAL_ERROR"),
        (ValueError(), "ValueError", "INTERNAL_ERROR"),
        (_Mute(), "_Mute: <its text cannot be shown>", "INTERNAL_ERROR"),
        (KeyboardInterrupt(), "KeyboardInterrupt", "INTERNAL_ERROR"),
    ],
)
def test_any_exception_can_be_described(error: BaseException, message: str, code: str) -> None:
    info = describe_error(error)
    assert (info.message, str(info), info.code) == (message, message, code)
