"""Who may do what: modes, rules, prompts, and the gate that decides every call."""

from agentframework.permissions.answers import PermissionAnswer
from agentframework.permissions.auto import ClassifierPort
from agentframework.permissions.decisions import (
    BatchApproval,
    Decision,
    Explanation,
    GateCall,
    HookPort,
    HookVerdict,
    PolicyPort,
    PolicyVerdict,
    Step,
    TurnScope,
)
from agentframework.permissions.entries import ProjectRules
from agentframework.permissions.gate import PermissionGate
from agentframework.permissions.grants import Grant
from agentframework.permissions.judge import GateOptions
from agentframework.permissions.modes import PermissionMode, parse_mode
from agentframework.permissions.policy_at_gate import PolicyAtGate
from agentframework.permissions.prompts import PermissionQuestion, PromptBroker
from agentframework.permissions.rules import Effect, PermissionRules, Rule, RuleSet, parse_rule, parse_rules, read_entry
from agentframework.permissions.tool_policy import (
    AuthorizationRule,
    ToolApprovalRequest,
    ToolAuthorizationEvent,
    ToolDecision,
    ToolPolicy,
)

__all__ = [
    "AuthorizationRule",
    "BatchApproval",
    "ClassifierPort",
    "Decision",
    "Effect",
    "Explanation",
    "GateCall",
    "GateOptions",
    "Grant",
    "HookPort",
    "HookVerdict",
    "PermissionAnswer",
    "PermissionGate",
    "PermissionMode",
    "PermissionQuestion",
    "PermissionRules",
    "PolicyAtGate",
    "PolicyPort",
    "PolicyVerdict",
    "ProjectRules",
    "PromptBroker",
    "Rule",
    "RuleSet",
    "Step",
    "ToolApprovalRequest",
    "ToolAuthorizationEvent",
    "ToolDecision",
    "ToolPolicy",
    "TurnScope",
    "parse_mode",
    "parse_rule",
    "parse_rules",
    "read_entry",
]
