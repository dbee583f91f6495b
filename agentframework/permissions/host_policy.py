"""The host's policy at the gate: its word before a call is decided, and its answer where an approval is needed.

Fail closed: a policy that raises or answers nonsense denies the call.
"""

from collections.abc import Mapping
from typing import Any

from agentframework._base.abort import run_abortable
from agentframework.errors import ErrorCode
from agentframework.permissions.decisions import Explanation, GateCall, PolicyVerdict, StageName, TurnScope

_DENIED = {
    "policy": "the policy denies it",
    "approval": "the approval was refused",
}
_REDIRECTED = "the policy gives another instruction"
_REQUIRED = "the policy requires an approval"


async def judge_by_policy(item: GateCall, arguments: Mapping[str, Any], scope: TurnScope) -> Explanation:
    """Why the policy refuses or redirects the call, or that it goes on: ``allow``, or ``ask`` for an approval.

    Raises `AbortedError`, and ``TypeError`` for an answer that is none.
    """
    if scope.policy is None:
        return Explanation("allow", "there is no policy", "policy")
    verdict: object = await run_abortable(scope.policy.judge(item, arguments, scope), scope.abort)
    if not isinstance(verdict, PolicyVerdict) or verdict.decision not in ("deny", "redirect", "ask", None):
        raise TypeError(f"the policy answered {verdict!r:.200}")
    if verdict.decision is None:
        return Explanation("allow", "the policy lets it go on", "policy")
    if verdict.decision == "ask":
        return Explanation("ask", verdict.reason or _REQUIRED, "policy", verdict.rule)
    return _refusal(verdict, "policy")


async def approval_of_policy(item: GateCall, arguments: Mapping[str, Any], scope: TurnScope) -> Explanation | None:
    """The policy's answer to a call that is asked about: ``allow``, ``deny`` or ``redirect``; None if it has none.

    Raises `AbortedError`, and ``TypeError`` for an answer that is none.
    """
    if scope.policy is None:
        return None
    verdict: object = await run_abortable(scope.policy.approve(item, arguments, scope), scope.abort)
    if verdict is None:
        return None
    if not isinstance(verdict, PolicyVerdict) or verdict.decision not in ("allow", "deny", "redirect"):
        raise TypeError(f"the approval answered {verdict!r:.200}")
    if verdict.decision == "allow":
        return Explanation("allow", verdict.reason or "the host approved it", "approval", verdict.rule)
    return _refusal(verdict, "approval")


def required_by(found: Explanation) -> str | None:
    """Why an approval is required, if the policy said so."""
    return found.reason if found.outcome == "ask" else None


def _refusal(verdict: PolicyVerdict, stage: StageName) -> Explanation:
    if verdict.decision == "redirect":
        if not verdict.message.strip():
            raise TypeError("the policy redirects without a message")
        reason = verdict.reason or _REDIRECTED
        return Explanation("redirect", reason, stage, verdict.rule, ErrorCode.TOOL_DENIED, verdict.message)
    reason = verdict.reason or _DENIED[stage]
    return Explanation("deny", reason, stage, verdict.rule, ErrorCode.TOOL_DENIED, verdict.message)
