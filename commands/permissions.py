"""``/permissions``: what may run, and the way to take back what was allowed for the session."""

from collections.abc import Iterator

from agentframework.slash import Command, CommandHost, CommandResult, PermissionOverview

_TITLES = {"allow": "Allowed by rule", "ask": "Always asked", "deny": "Refused by rule"}


def permissions_command() -> Command:
    """``/permissions [clear]``."""
    return Command(
        "permissions",
        "Show what is allowed; clear takes back what you allowed in this session",
        _run,
        "[clear]",
        ("clear",),
        read_only=lambda args: not args,
    )


async def _run(host: CommandHost, args: str) -> CommandResult:
    if args == "clear":
        count = len(host.get_permissions().grants)
        host.clear_grants()
        return CommandResult(f"Taken back: {count}. You will be asked again.", data={"cleared": count})
    if args:
        return CommandResult(f"/permissions does not know {args!r}; use it alone or with clear.", success=False)
    overview = host.get_permissions()
    return CommandResult(
        "\n".join(_lines(overview)),
        data={
            "mode": str(overview.mode),
            "rules": {effect: list(rules) for effect, rules in overview.rules.items()},
            "grants": [{"text": grant.text, "scope": grant.scope} for grant in overview.grants],
        },
    )


def _lines(overview: PermissionOverview) -> Iterator[str]:
    yield f"Mode: {overview.mode} (/mode changes it)"
    for effect, title in _TITLES.items():
        rules = overview.rules.get(effect)
        if rules:
            yield f"{title}:"
            yield from (f"  {rule}" for rule in rules)
    if not overview.grants:
        yield "Allowed in this session: nothing yet"
        return
    yield "Allowed in this session (/permissions clear takes it back):"
    yield from (f"  {grant.text}" for grant in overview.grants)
