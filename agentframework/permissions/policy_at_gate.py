"""A `ToolPolicy` as the gate's policy: its rulings become the gate's, its handler is announced and asked."""

from collections.abc import Mapping
from typing import Any

from agentframework._base.ids import short_id
from agentframework.events import PermissionDecision, PermissionRequest, PromptResolved
from agentframework.events.sink import EventSink
from agentframework.permissions.decisions import GateCall, PolicyVerdict, TurnScope
from agentframework.permissions.tool_policy import Ruling, ToolApprovalRequest, ToolAuthorizationEvent, ToolPolicy


class PolicyAtGate:
    """The `PolicyPort` of one run."""

    def __init__(self, policy: ToolPolicy, sink: EventSink) -> None:
        self.policy = policy
        self._sink = sink
        self._metadata: dict[str, Mapping[str, Any]] = {}

    async def judge(self, item: GateCall, arguments: Mapping[str, Any], scope: TurnScope) -> PolicyVerdict:
        """Lists and rules; ``ask`` if they let it go on and an approval is required."""
        ruling = await self.policy.judge(_request(item, arguments, scope))
        self._remember(item, ruling)
        if ruling.decision.decision != "allow":
            return _verdict(ruling)
        return PolicyVerdict("ask" if self.policy.require_approval else None)

    async def approve(self, item: GateCall, arguments: Mapping[str, Any], scope: TurnScope) -> PolicyVerdict | None:
        """The handler's answer; None if there is no handler."""
        if self.policy.approval_handler is None:
            return None
        name = short_id("approval")
        reason = "the host is asked for its approval"
        fields = (item.call.name, arguments, item.call.id, reason, (), scope.driver_id, ("once",))
        self._sink.emit(PermissionRequest, name, *fields)
        try:
            ruling = await self.policy.approve(_request(item, arguments, scope))
        finally:
            self._sink.emit(PromptResolved, name, None)
        if ruling is None:
            return None
        self._remember(item, ruling)
        return _verdict(ruling)

    def _remember(self, item: GateCall, ruling: Ruling) -> None:
        if ruling.decision.metadata:
            self._metadata[item.call.id] = ruling.decision.metadata

    def authorization(self, event: PermissionDecision, run_id: str, iteration: int) -> ToolAuthorizationEvent:
        """What the policy's observer is told of a decision of the gate."""
        return ToolAuthorizationEvent(
            event.tool_name, event.decision, event.reason, event.rule, event.stage, event.session_id, run_id,
            iteration, event.tool_use_id, self._metadata.pop(event.tool_use_id, {}),
        )  # fmt: skip


def _request(item: GateCall, arguments: Mapping[str, Any], scope: TurnScope) -> ToolApprovalRequest:
    context = None if scope.context is None else scope.context(item)
    return ToolApprovalRequest(item.call.name, arguments, context, None if item.tool is None else item.tool.info)


def _verdict(ruling: Ruling) -> PolicyVerdict:
    found = ruling.decision
    return PolicyVerdict(found.decision, found.reason, found.message, ruling.rule_id)
