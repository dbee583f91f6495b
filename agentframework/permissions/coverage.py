"""Who permits which command of a shell line: allow rules, grants, the read-only set."""

from agentframework.permissions.grants import command_key
from agentframework.permissions.policy import Policy
from agentframework.permissions.read_only import as_found, reads_only
from agentframework.permissions.shell.model import CommandLine, SimpleCommand
from agentframework.permissions.shell_permit import Coverage, cover, permits_command, permittable
from agentframework.permissions.subject import Subject

READ_ONLY = "the read-only commands"
# A longer line is no ordinary one: looking for a permission for each of its parts would take too long.
_MOST_WORDS = 20_000


def coverage_of(policy: Policy, subject: Subject, line: CommandLine) -> Coverage:
    """What permits the commands of a line; those of the read-only set are covered by ``READ_ONLY``."""
    if sum(len(command.argv) for command in line.commands) > _MOST_WORDS:
        return Coverage(missing=list(line.commands[:1]))
    rules = [rule for rule in (*policy.rules.allow, *policy.grants.rules) if rule.names(subject.tool_name)]

    def permitting(command: SimpleCommand) -> str | None:
        spelled = permittable(command)
        for rule in rules:
            if permits_command(rule, spelled):
                return rule.text
        key = command_key(command)
        granted = None if key is None else policy.grants.covering(key)
        if granted is not None or not policy.read_only_commands:
            return granted
        return READ_ONLY if reads_only(as_found(line.commands, command), subject.around) else None

    return cover(line, permitting)
