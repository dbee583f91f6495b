"""Where requests go and with which key: arguments first, then the variables that the vendor's SDK documents.

The one place of the package that reads credentials from the environment. Everything is checked at once, before
any request.
"""

import ipaddress
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from agentframework.errors import ConfigurationError, MissingCredentialsError
from agentframework.providers.failures import Source

_NO_KEY = "no-key-needed"
_KEY_HEADERS = {"authorization", "x-api-key"}
_SHORTEST_SECRET = 8


@dataclass(frozen=True, slots=True)
class Vendor:
    """The variables and the address of a vendor."""

    key_variable: str
    url_variable: str
    base_url: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address with its key and headers. ``secrets`` must not appear in messages."""

    vendor: Vendor
    base_url: str
    api_key: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)

    @property
    def is_official(self) -> bool:
        """Whether this is the vendor's own server."""
        return urlsplit(self.base_url).hostname == urlsplit(self.vendor.base_url).hostname

    def source(self, path: str, model: str) -> Source:
        """Who is asked, for error messages: an address without user name and password."""
        url = urlsplit(self.base_url)
        host = url.netloc.rpartition("@")[2]
        shown = f"{url.scheme}://{host}{url.path.rstrip('/')}{path}"
        known = [self.api_key, *self.headers.values()]
        secrets = tuple(secret for secret in known if len(secret) >= _SHORTEST_SECRET and secret != _NO_KEY)
        return Source(host, shown, model, self.vendor.key_variable, secrets)


def resolve_endpoint(
    vendor: Vendor, api_key: str | None, base_url: str | None, headers: Mapping[str, str] | None
) -> Endpoint:
    """The endpoint for a provider's arguments.

    Raises `MissingCredentialsError` naming the variable unless there is a key, a header that takes its place, or
    a server on this machine; `ConfigurationError` for an address or a key that cannot work.
    """
    url = (base_url or os.environ.get(vendor.url_variable) or vendor.base_url).strip()
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(
            f"base_url must begin with http:// or https:// and name a host, not {url!r}",
            details={"field": "base_url"},
        )
    given = dict(headers or {})
    key = (api_key if api_key is not None else os.environ.get(vendor.key_variable) or "").strip()
    if not key:
        if not _is_this_machine(parts.hostname) and not _KEY_HEADERS & {name.lower() for name in given}:
            raise MissingCredentialsError(
                f"no API key for {parts.hostname}: pass api_key or set {vendor.key_variable} "
                "(any text will do for a server that needs none)",
                details={"variable": vendor.key_variable},
            )
        key = _NO_KEY
    if not key.isascii() or not key.isprintable():
        raise ConfigurationError(
            f"the API key holds characters that cannot be sent; check api_key or {vendor.key_variable}",
            details={"field": "api_key"},
        )
    return Endpoint(vendor, url, key, given)


def check_seconds(name: str, value: float) -> None:
    """Raises `ConfigurationError` unless ``value`` is a positive number of seconds."""
    if not value > 0 or not math.isfinite(value):
        raise ConfigurationError(f"{name} must be a positive number of seconds, not {value!r}", details={"field": name})


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
