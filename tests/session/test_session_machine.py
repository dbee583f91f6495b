"""A session driven by anybody, in any order, against a model that does anything: what must hold all the same."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from agentframework import InteractiveSession, Limits, tool
from agentframework.errors import ContextOverflowError, InvalidRequestError, OverloadedError, StreamInterruptedError
from agentframework.messages import (
    AssistantMessage,
    AssistantPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolMessage,
    Usage,
)
from agentframework.providers import anthropic_wire, openai_chat, openai_responses
from agentframework.providers.protocol import (
    Chunk,
    ModelLimits,
    ModelReply,
    ModelRequest,
    RetryChunk,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)
from agentframework.testing.strict_server import check_request
from agentframework.testing.strict_server.records import Api

WAIT_S = 30
ENCODERS: Mapping[Api, Callable[[ModelRequest], bytes]] = {
    "anthropic": anthropic_wire.encode_request,
    "responses": openai_responses.encode_request,
    "chat": partial(openai_chat.encode_request, official=False),
}
ERRORS: Mapping[str, Callable[[], Exception]] = {
    "overloaded": lambda: OverloadedError("busy"),
    "overflow": lambda: ContextOverflowError("too long"),
    "refused": lambda: InvalidRequestError("no"),
    "cut": lambda: StreamInterruptedError("cut"),
    "foreign": lambda: RuntimeError("kaputt"),
}
CALLS = ("look", "fail", "danger", "hold", "unknown", "malformed", "cut", "odd")


class AnyModel:
    """A provider that does what its plan says, then answers plainly. A held answer waits for `go_on`."""

    name = "any"
    default_model = "model-a"

    def __init__(self) -> None:
        self.plan: list[tuple[str, list[str]]] = []
        self.requests: list[tuple[ModelRequest, int]] = []
        self.go_on = asyncio.Event()
        self._calls = 0

    def resolve_model(self, model: str) -> str:
        return model

    def limits(self, model: str) -> ModelLimits:
        return ModelLimits(10_000 if model == "small" else 200_000)

    async def start(self) -> None:
        return None

    async def aclose(self) -> None:
        return None

    def call(self, kind: str) -> ToolCall:
        self._calls += 1
        made = f"call_{self._calls}"
        if kind == "malformed":
            return ToolCall(made, "look", None, "{", "the arguments are not a JSON object")
        if kind == "cut":
            return ToolCall(made, "look", None, '{"pa', "cut off by the output limit")
        if kind == "odd":
            return ToolCall(made, "look", {"path": "\ud83d", "n": 1}, '{"path": "\\ud83d", "n": 1}')
        return ToolCall(made, kind, {}, "{}")

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        self.requests.append((request, len(request.messages)))
        kind, names = self.plan.pop(0) if self.plan else ("text", [])
        content: list[AssistantPart] = []
        if kind == "retry":
            yield RetryChunk(2, 0.0, "busy")
            await asyncio.sleep(0)
        if kind == "thought":
            content.append(ThinkingPart("Hm.", "c2ln"))
            yield ThinkingChunk("Hm.")
        if kind not in ("empty", "silent"):
            content.append(TextPart("text \ud83d" if kind == "odd" else "text"))
            yield TextChunk("text")
        if kind == "hold":
            await self.go_on.wait()
        for name in names:
            content.append(self.call(name))
            yield ToolCallChunk(f"call_{self._calls}", name, "{}")
        if kind in ERRORS:
            raise ERRORS[kind]()
        if kind == "silent":
            raise OverloadedError("busy")
        stop_reason = "tool_use" if names else "end_turn"
        if "cut" in names:
            stop_reason = "max_tokens"
        usage = Usage(input_tokens=10, output_tokens=5)
        yield ModelReply(AssistantMessage(tuple(content), request.model, "anthropic", stop_reason, usage))


class SessionMachine(RuleBasedStateMachine):
    """See the module."""

    @initialize(
        max_turns=st.none() | st.integers(1, 4),
        calls=st.none() | st.just(2),
        tokens=st.none() | st.just(60),
        mode=st.sampled_from(["default", "bypassPermissions", "plan"]),
    )
    def begin(self, max_turns: int | None, calls: int | None, tokens: int | None, mode: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.faults: list[Any] = []
        self.loop.set_exception_handler(lambda _loop, context: self.faults.append(context))
        self.folder = tempfile.TemporaryDirectory()
        self.checked = 0
        self.handles: dict[str, Any] = {}
        self.steered: list[str] = []
        self.acknowledged: list[str] = []
        self.questions: list[str] = []
        self.ended: list[str] = []
        self.run(self.build(max_turns, calls, tokens, mode))

    def run(self, work: Any) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(WAIT_S):
                await work

        self.loop.run_until_complete(bounded())

    async def build(self, max_turns: int | None, calls: int | None, tokens: int | None, mode: str) -> None:
        self.release = asyncio.Event()

        @tool(risk="inspect")
        async def look(path: str = "", n: int = 0) -> str:
            """Looks."""
            return f"seen {path}"

        @tool(risk="inspect")
        async def fail() -> str:
            """Fails."""
            raise RuntimeError("kaputt")

        @tool
        async def danger() -> str:
            """Has to be asked about."""
            return ""

        @tool(risk="inspect")
        async def hold() -> str:
            """Waits."""
            await self.release.wait()
            return "held"

        self.model = AnyModel()
        limits = Limits(max_iterations=max_turns, max_tool_calls_per_turn=calls, max_total_tokens=tokens)
        self.session = InteractiveSession(
            cwd=self.folder.name, provider=self.model, default_tools=[look, fail, danger, hold],
            permission_mode=mode, limits=limits,
        )  # fmt: skip
        self.session.on("steer_result", lambda event: self.acknowledged.append(event.steer_id))
        self.session.on("permission_request", lambda event: self.questions.append(event.id))
        self.session.on("tool_end", lambda event: self.ended.append(event.tool_use_id))

    async def ticks(self, count: int) -> None:
        for _ in range(count):
            await asyncio.sleep(0)

    # --- what anybody may do --------------------------------------------------------------------------------

    @rule(
        kind=st.sampled_from(["text", "empty", "silent", "hold", "retry", "thought", "odd", *ERRORS]),
        names=st.lists(st.sampled_from(CALLS), max_size=3),
    )
    def plan(self, kind: str, names: list[str]) -> None:
        self.model.plan.append((kind, names))

    @rule(driver=st.sampled_from(["a", "b", "c"]), steer=st.booleans(), ticks=st.integers(0, 12))
    def submit(self, driver: str, steer: bool, ticks: int) -> None:
        async def work() -> None:
            handle = self.session.submit_nowait(f"from {driver}", driver_id=driver, steer=steer)
            self.handles[handle.turn_id] = handle
            if steer:
                self.steered.append(handle.turn_id)
            await self.ticks(ticks)

        self.run(work())

    @rule(count=st.integers(1, 60))
    def go_on(self, count: int) -> None:
        self.run(self.ticks(count))

    @rule(which=st.sampled_from(["model", "tool"]), ticks=st.integers(0, 20))
    def let_go(self, which: str, ticks: int) -> None:
        event = self.model.go_on if which == "model" else self.release
        event.set()
        self.run(self.ticks(ticks))
        event.clear()

    @rule(what=st.sampled_from(["abort", "cancel_queue"]), ticks=st.integers(0, 6))
    def stop(self, what: str, ticks: int) -> None:
        getattr(self.session, what)()
        self.run(self.ticks(ticks))

    @precondition(lambda self: self.questions)
    @rule(answer=st.sampled_from([True, False, "allow-session", "nonsense"]), ticks=st.integers(0, 6))
    def answer(self, answer: Any, ticks: int) -> None:
        self.session.resolve_permission(self.questions.pop(0), answer)
        self.run(self.ticks(ticks))

    @rule(model=st.sampled_from(["model-b", "small"]), mode=st.sampled_from(["default", "plan", "bypassPermissions"]))
    def change(self, model: str, mode: str) -> None:
        self.session.set_model(model)
        self.session.set_permission_mode(mode)

    @precondition(lambda self: not self.session.is_executing())
    @rule()
    def clear(self) -> None:
        self.session.clear_conversation_history()

    # --- what must hold -------------------------------------------------------------------------------------

    @invariant()
    def every_request_is_one_that_the_apis_accept(self) -> None:
        for request, count in self.model.requests[self.checked :]:
            messages = list(request.messages)[:count]
            if len(messages) < count:
                continue  # taken back or cleared since
            sent = ModelRequest(request.model, messages, request.system, request.tools)
            for api, encode in ENCODERS.items():
                assert check_request(api, json.loads(encode(sent))) is None
        self.checked = len(self.model.requests)

    @invariant()
    def calls_and_results_are_paired(self) -> None:
        waiting: list[str] = []
        for message in self.session._conversation.messages:
            if isinstance(message, ToolMessage):
                assert [part.tool_use_id for part in message.content] == waiting != []
                waiting = []
                continue
            assert not waiting
            if isinstance(message, AssistantMessage):
                waiting = [made.id for made in message.tool_calls]
        assert not waiting or self.session.is_executing()
        assert len(self.ended) == len(set(self.ended))

    @invariant()
    def nothing_went_wrong_beside_it(self) -> None:
        assert self.faults == []

    def teardown(self) -> None:
        async def end() -> None:
            self.session.abort()
            for handle in list(self.handles.values()):
                await handle.wait_settled()
            assert not self.session.is_executing()
            self.model.plan = [("text", [])]
            handle = await self.session.submit("after all")
            assert (await handle).response == "text"
            assert sorted(self.acknowledged) == sorted(self.steered)
            await self.session.shutdown()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            assert [task for task in others if not task.done()] == []

        if not hasattr(self, "session"):
            return
        try:
            self.run(end())
            assert self.faults == []
        finally:
            self.loop.close()
            self.folder.cleanup()


SessionMachine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
TestAnySession = SessionMachine.TestCase
