"""Which network addresses a model may reach: the public internet, and nothing beside or behind this machine.

Above are the web tools, below only the resolver. The guard looks at addresses, never at names, and its caller connects
to exactly the addresses it returned: a name that resolves differently the next time gains nothing.

Source: the IANA special-purpose address registries (RFC 6890, as of 2025), RFC 6052 for NAT64.
"""

import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from agentframework._base.threads import in_daemon_thread

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
Judge = Callable[[str], str | None]

_NOT_PUBLIC_4 = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "this host"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "carrier-private"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "cloud metadata"),
        ("169.254.0.0/16", "link-local or cloud metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmark"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved or broadcast"),
    )
)
# Only 2000::/3 is handed out at all; of it, these are not ordinary hosts.
_GLOBAL_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
_NAT64 = IPv6Network("64:ff9b::/96")


class AddressRefusedError(Exception):
    """A host has an address that is off limits; ``str()`` says which and why."""


class UnknownHostError(Exception):
    """A host name that does not resolve."""


def why_refused(address: str) -> str | None:
    """What kind of off-limits address it is, or None for a public one. Unparsable counts as off limits."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, IPv6Address):
        return _why_refused_6(parsed)
    return next((kind for network, kind in _NOT_PUBLIC_4 if parsed in network), None)


def _why_refused_6(address: IPv6Address) -> str | None:
    inner = address.ipv4_mapped
    if inner is None and address in _NAT64:
        inner = IPv4Address(int(address) & 0xFFFFFFFF)
    if inner is not None:
        return why_refused(str(inner))
    if address.is_loopback:
        return "loopback"
    if address not in _GLOBAL_6:
        return "private or link-local"
    return "reserved" if any(address in network for network in _NOT_PUBLIC_6) else None


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Addresses of ``host`` by the operating system, best first."""
    found = await in_daemon_thread(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class AddressGuard:
    """Resolves host names and judges every address. ``judge`` gives the kind of an off-limits address or None."""

    def __init__(self, resolve: Resolve = system_resolver, judge: Judge = why_refused) -> None:
        self._resolve = resolve
        self._judge = judge

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """Where ``host`` may be connected to.

        Raises `AddressRefusedError` if even one of its addresses is off limits (a mixed answer is how a rebinding
        attack begins) and `UnknownHostError` if there is none.
        """
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise UnknownHostError(f"the host name {host} cannot be resolved") from error
        if not addresses:
            raise UnknownHostError(f"the host name {host} has no address")
        for address in addresses:
            kind = self._judge(address)
            if kind is not None:
                raise AddressRefusedError(
                    f"{host} has the address {address} ({kind}), which is not on the public internet"
                )
        return addresses
