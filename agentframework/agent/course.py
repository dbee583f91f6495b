"""The course of one run, from the claim on its session to its result.

The loop below is that of sessions. What is particular to a run is around it: the conversation comes out of a store and
goes back, and failures reach the host as an event and as an exception.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentframework._base.abort import AbortedError
from agentframework._base.ids import short_id
from agentframework._base.owner import TaskOwner
from agentframework.agent.fitting import KEPT_AS, Fitting
from agentframework.agent.inputs import input_messages
from agentframework.agent.record import SessionRecord
from agentframework.agent.run import AgentRun
from agentframework.assembly import Parts
from agentframework.errors import ErrorInfo, ModelResponseInvalidError, PromptBlockedError, describe_error
from agentframework.events import SessionStarted, TurnStarted, UserMessageEvent, WarningEvent
from agentframework.events.sink import EventSink
from agentframework.loop import Conversation, ConversationHooks, Turn, TurnOutcome, TurnSettings
from agentframework.messages import Message, RunResult, UserMessage
from agentframework.stores import SessionStatus
from agentframework.stores.restoring import close_calls

DRIVER = "host"


@dataclass(frozen=True, slots=True)
class RunInput:
    """What a run was asked for."""

    value: Any
    content: Any
    settings: TurnSettings


@dataclass(slots=True)
class Course:
    """One run. ``parts`` are wired for it; ``foreign`` gives what servers add to its conversation."""

    run: AgentRun
    given: RunInput
    record: SessionRecord
    sink: EventSink
    owner: TaskOwner
    fitting: Fitting
    wire: Callable[[Fitting], Parts]
    ready: Callable[[AgentRun], Awaitable[None]]
    foreign: Callable[[AgentRun], Awaitable[Sequence[Message]]]
    mode: str
    whole: list[Message] = field(default_factory=list[Message])
    turn: Turn | None = None
    parts: Parts | None = None
    stored: bool = False

    async def __call__(self) -> RunResult:
        """The result. Raises what the run failed with. Afterwards the session is free for others."""
        try:
            return await self._work()
        except AbortedError:
            await self._last_word("interrupted")
            return self._interrupted()
        except Exception:
            await self._last_word("failed")
            raise
        finally:
            if self.stored:
                await self.record.close()

    async def _work(self) -> RunResult:
        run = self.run
        new = input_messages(self.given.value, self.given.content)
        run.signal.check()
        before = await self.record.open()
        self.stored = True
        restored = close_calls(before, ()).messages
        self.record.resume(restored)
        await self.ready(run)
        parts = self.parts = self.wire(self.fitting)
        hooks = ConversationHooks(parts.hooks, self.owner, lambda: parts.settings.model)
        try:
            return await self._converse(parts, hooks, restored, new)
        except AbortedError:
            hooks.failed(ErrorInfo("interrupted", run.signal.reason or "interrupted"))
            raise
        except Exception as error:
            if not isinstance(error, PromptBlockedError):
                hooks.failed(describe_error(error))
            raise
        finally:
            await hooks.end("other")

    async def _converse(
        self, parts: Parts, hooks: ConversationHooks, restored: Sequence[Message], new: Sequence[Message]
    ) -> RunResult:
        run, sink = self.run, self.sink
        asked = next((one.text for one in reversed(new) if isinstance(one, UserMessage)), "")
        sink.turn_id = short_id("turn")
        turn = Turn(sink.turn_id, run.run_id, DRIVER, run.signal, lambda _message: None, asked, self.given.settings)
        self.turn = turn
        self._announce(parts, hooks, asked)
        foreign = await self.foreign(run)
        self.whole = list(restored)
        sent = self.fitting.resumed(restored, self.record.metadata.get(KEPT_AS))
        conversation = Conversation(sent)
        turn.record = self._recorder(conversation)
        said = {message.text for message in restored}
        for message in (*(one for one in foreign if one.text not in said), *new[:-1]):
            turn.record(message)
        last = new[-1]
        turn.record(await hooks.admit(last, asked, run.signal) if isinstance(last, UserMessage) else last)
        await self._save("running")
        turn.at_boundary = self._at_boundary
        outcome = await parts.loop(conversation, turn)
        if not outcome.response.strip() and not outcome.by_host:
            raise ModelResponseInvalidError("the model's reply holds neither text nor calls of tools")
        return await self._completed(outcome, turn)

    def _recorder(self, conversation: Conversation) -> Callable[[Message], None]:
        def record(message: Message) -> None:
            conversation.append(message)
            self.whole.append(message)
            self.record.add(message)

        return record

    def _announce(self, parts: Parts, hooks: ConversationHooks, asked: str) -> None:
        if self.record.is_new:
            place = parts.sandbox.roots[0]
            self.sink.emit(SessionStarted, place, parts.settings.model, self.mode, parts.catalog.names)
        self.sink.emit(TurnStarted, DRIVER, "user")
        self.sink.emit(UserMessageEvent, asked)
        for warning in (*parts.gate.rules.warnings, *hooks.problems):
            self.sink.emit(WarningEvent, warning, "agent")
        hooks.begin("startup" if self.record.is_new else "resume")

    async def _at_boundary(self) -> None:
        await self._save("running")

    async def _save(self, status: SessionStatus, **fields: Any) -> None:
        remembered = self.fitting.remembered
        if remembered is not None and remembered != self.record.metadata.get(KEPT_AS):
            self.record.metadata = {**self.record.metadata, KEPT_AS: remembered}
            fields["metadata"] = self.record.metadata
        await self.record.save(status, 0 if self.turn is None else self.turn.iteration, **fields)

    # --- the end ----------------------------------------------------------------------------------------

    def _result(self, turn: Turn, response: str, stop_reason: str | None, **fields: Any) -> RunResult:
        return RunResult(
            response=response, usage=turn.usage, stop_reason=stop_reason, messages=tuple(self.whole),
            iterations=turn.iteration, **fields,
        )  # fmt: skip

    async def _completed(self, outcome: TurnOutcome, turn: Turn) -> RunResult:
        stopped = outcome.stop_reason == "stop_after_execution"
        result = self._result(
            turn, outcome.response, outcome.stop_reason,
            structured_output=outcome.structured_output, stopped_after_tool_execution=stopped,
        )  # fmt: skip
        await self._save("completed", content=outcome.response)
        return result

    def _interrupted(self) -> RunResult:
        turn = self.turn or Turn("", self.run.run_id, DRIVER, self.run.signal, lambda _message: None)
        return self._result(turn, "\n\n".join(turn.replies), "interrupted", interrupted=True)

    async def _last_word(self, status: SessionStatus) -> None:
        if not self.stored:
            return
        try:
            await self._save(status)
        except Exception as error:
            self.sink.emit(WarningEvent, f"the session could not be stored: {error}", "store")
