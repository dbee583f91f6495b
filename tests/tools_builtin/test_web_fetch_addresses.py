"""The verdict on every kind of network address."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools_builtin._address_guard import (
    AddressGuard,
    AddressRefusedError,
    UnknownHostError,
    system_resolver,
    why_refused,
)

PUBLIC = ["8.8.8.8", "1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::1"]
OFF_LIMITS = [
    "0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "168.63.129.16",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "5f00::1",
    "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
    "", "localhost", "127.1", "0x7f000001", "1.2.3.4.5", "1.2.3.4/24",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_pass(address: str) -> None:
    assert why_refused(address) is None


@pytest.mark.parametrize("address", OFF_LIMITS)
def test_every_other_address_is_refused_with_its_kind(address: str) -> None:
    assert why_refused(address)


@given(st.ip_addresses(v=4))
def test_wrapping_an_address_does_not_change_the_verdict(address: object) -> None:
    assert why_refused(f"::ffff:{address}") == why_refused(str(address))
    assert why_refused(f"64:ff9b::{address}") == why_refused(str(address))


@given(st.ip_addresses())
def test_what_passes_is_global_by_the_standard_library_too(address: object) -> None:
    from ipaddress import ip_address  # noqa: PLC0415 - the second opinion

    if why_refused(str(address)) is None and not str(address).startswith("64:ff9b:"):
        assert ip_address(str(address)).is_global
        assert not ip_address(str(address)).is_multicast


async def test_the_guard_returns_what_it_judged() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["8.8.8.8", "2606:4700::1111"]

    assert await AddressGuard(resolve).addresses("ok.test", 443) == ["8.8.8.8", "2606:4700::1111"]


async def test_one_bad_address_of_many_is_enough() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["8.8.8.8", "10.0.0.1"]

    with pytest.raises(AddressRefusedError, match=r"mixed\.test has the address 10\.0\.0\.1 \(private\)"):
        await AddressGuard(resolve).addresses("mixed.test", 443)


@pytest.mark.parametrize("error", [OSError("no"), UnicodeError("label too long"), None])
async def test_no_address_is_an_unknown_host(error: Exception | None) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        if error is not None:
            raise error
        return []

    with pytest.raises(UnknownHostError):
        await AddressGuard(resolve).addresses("gone.test", 443)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "localhost"])
async def test_numbers_in_disguise_are_seen_as_the_address_they_are(host: str) -> None:
    assert any(why_refused(address) == "loopback" for address in await system_resolver(host, 80))
