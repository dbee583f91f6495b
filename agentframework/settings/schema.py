"""What a settings file may say, and on each field how several files add up.

The shape is that of settings files in the wild; keys that mean nothing here are kept. What a field holds is checked
key by key (`agentframework.settings.merge`), so that one bad value does not take the rest with it.
"""

from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Merge(Enum):
    """How the values of several layers, lowest first, become one."""

    LAST = "the last layer counts"
    UNITED = "lists are united; what stands in several stands once"
    PER_EVENT = "groups of each event follow each other"
    BY_KEY = "each key by itself, the last layer counts"
    STRICTEST = "the most restrictive value counts"
    ANY = "true in one layer is true"
    INSIDE = "each field inside by its own rule"
    PROFILES = "each field of each profile, but a key never meets another layer's address"


TrustLevel = Literal["safe", "moderate", "full"]
TRUST_LEVELS: tuple[TrustLevel, ...] = ("safe", "moderate", "full")  # most restrictive first


class _Section(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow", frozen=True)


class PermissionSettings(_Section):
    """The key ``permissions``: rules as written, broken ones included."""

    allow: Annotated[list[Any], Merge.UNITED] = Field(default_factory=list[Any])
    deny: Annotated[list[Any], Merge.UNITED] = Field(default_factory=list[Any])
    ask: Annotated[list[Any], Merge.UNITED] = Field(default_factory=list[Any])
    additional_directories: Annotated[list[str], Merge.UNITED] = Field(default_factory=list[str])
    default_mode: Annotated[str | None, Merge.LAST] = None
    disable_bypass_permissions_mode: Annotated[bool | str, Merge.ANY] = False


class ProviderProfile(_Section):
    """One entry of ``providers``. ``type`` is a provider's name; ``timeout`` is in seconds.

    ``address_of_project``: the project chose ``base_url``, so no key of the user may be sent there.
    """

    type: str | None = None
    model: str | None = None
    api_key: str | None = None
    base_url: str | None = Field(default=None, alias="baseURL")
    timeout: float | None = None
    options: dict[str, Any] = Field(default_factory=dict[str, Any])
    address_of_project: bool = False


class Settings(_Section):
    """The settings in force: all layers as one."""

    permissions: Annotated[PermissionSettings, Merge.INSIDE] = Field(default_factory=PermissionSettings)
    hooks: Annotated[dict[str, Any] | list[Any], Merge.PER_EVENT] = Field(default_factory=dict[str, Any])
    disable_all_hooks: Annotated[bool, Merge.LAST] = False
    default_trust_level: Annotated[TrustLevel | None, Merge.STRICTEST] = None
    env: Annotated[dict[str, str | int | float | bool], Merge.BY_KEY] = Field(default_factory=dict)
    model: Annotated[str | None, Merge.LAST] = None
    language: Annotated[str | None, Merge.LAST] = None
    current_provider: Annotated[str | None, Merge.LAST] = None
    providers: Annotated[dict[str, ProviderProfile], Merge.PROFILES] = Field(default_factory=dict)
    mcp_servers: Annotated[dict[str, Any], Merge.BY_KEY] = Field(default_factory=dict)
    enable_all_project_mcp_servers: Annotated[bool | None, Merge.LAST] = None
    enabled_mcpjson_servers: Annotated[list[str], Merge.UNITED] = Field(default_factory=list[str])
    disabled_mcpjson_servers: Annotated[list[str], Merge.UNITED] = Field(default_factory=list[str])
    enabled_plugins: Annotated[dict[str, bool], Merge.BY_KEY] = Field(default_factory=dict)
    extra_known_marketplaces: Annotated[dict[str, Any], Merge.BY_KEY] = Field(default_factory=dict)
    auto_compact_threshold: Annotated[float | Literal[False] | None, Merge.LAST] = None


# Of these a value that cannot be used may have been meant to forbid something: it is an error, not a warning.
RESTRICTIVE = frozenset({
    "permissions", "permissions.deny", "permissions.ask", "permissions.disableBypassPermissionsMode", "hooks",
    "defaultTrustLevel",
})  # fmt: skip
