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
from agentframework.permissions.prompts import PermissionQuestion, PromptBroker
from agentframework.permissions.rules import PermissionRules, Rule, RuleSet, parse_rule, parse_rules

__all__ = [
    "BatchApproval",
    "ClassifierPort",
    "Decision",
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
    "PolicyPort",
    "PolicyVerdict",
    "ProjectRules",
    "PromptBroker",
    "Rule",
    "RuleSet",
    "Step",
    "TurnScope",
    "parse_mode",
    "parse_rule",
    "parse_rules",
]
