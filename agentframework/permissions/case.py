"""One call on its way through the static stages; what takes time is looked up once."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from agentframework.permissions.coverage import coverage_of
from agentframework.permissions.decisions import HookVerdict
from agentframework.permissions.matching import restricts
from agentframework.permissions.patterns import Match
from agentframework.permissions.policy import Policy
from agentframework.permissions.read_only import line_reads_only
from agentframework.permissions.rules import PathScope, Rule
from agentframework.permissions.safeguards import Alarm, find_alarm
from agentframework.permissions.shell_files import SeenFiles, files_of, restricts_files
from agentframework.permissions.shell_permit import Coverage
from agentframework.permissions.shell_restrict import Reading, readings_of, restricts_line
from agentframework.permissions.subject import Subject
from agentframework.permissions.through import Through, seen_through


@dataclass(frozen=True)
class Case:
    """One call before the stages, with what hooks said about it, and why an approval is required, if it is."""

    policy: Policy
    subject: Subject
    hook: HookVerdict = HookVerdict()
    required: str | None = None

    @cached_property
    def denying(self) -> tuple[Match, Rule | None]:
        """The strictest deny rule."""
        return self._strictest(self.policy.rules.deny)

    @cached_property
    def asking(self) -> tuple[Match, Rule | None]:
        """The strictest ask rule."""
        return self._strictest(self.policy.rules.ask)

    @cached_property
    def alarm(self) -> Alarm | None:
        """Why it is asked about in every mode, if it is."""
        return find_alarm(self.subject, self.through, self.policy.protected)

    @cached_property
    def reads_only(self) -> bool:
        """True for a shell line of the built-in read-only set, if that set is on."""
        if not self.policy.read_only_commands or self.subject.line is None:
            return False
        return line_reads_only(self.subject.line, self.subject.around)

    @cached_property
    def coverage(self) -> Coverage:
        """What permits the commands of a shell line, one by one."""
        return Coverage() if self.subject.line is None else coverage_of(self.policy, self.subject, self.subject.line)

    @cached_property
    def through(self) -> Through | None:
        """The command line with everything it runs besides what it spells out."""
        line = self.subject.line or self.subject.runs
        return None if line is None else seen_through(line)

    @cached_property
    def _readings(self) -> tuple[Reading, ...]:
        return () if self.through is None else readings_of(self.through)

    @cached_property
    def _files(self) -> SeenFiles | None:
        return None if self.through is None else files_of(self.through.line, self.subject.around)

    def _strictest(self, rules: Iterable[Rule]) -> tuple[Match, Rule | None]:
        """The first rule that restricts the call for certain, else the first that may."""
        doubtful: Rule | None = None
        for rule in rules:
            match = self._restricts(rule)
            if match is Match.YES:
                return match, rule
            if match is Match.MAYBE and doubtful is None:
                doubtful = rule
        return (Match.NO, None) if doubtful is None else (Match.MAYBE, doubtful)

    def _restricts(self, rule: Rule) -> Match:
        if self.subject.line is None or self.through is None:
            return restricts(rule, self.subject)
        if isinstance(rule.scope, PathScope):
            return Match.MAYBE if self._files is None else restricts_files(rule, self._files)
        names_it = rule.names(self.subject.tool_name)
        return restricts_line(rule, self.through.line, self._readings) if names_it else Match.NO
