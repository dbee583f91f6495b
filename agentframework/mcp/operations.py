"""Everything that can be asked of one server, the same for both eras of the protocol.

What the modern era dropped is mapped: a ping is ``server/discover``, a subscription is part of a listening stream.
Listings come whole, page after page, up to a limit. Results are models of the official client.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from agentframework.errors import InvalidInputError
from agentframework.mcp.changes import ChangeHub, McpFilter, McpSubscription
from agentframework.mcp.deadlines import Clock
from agentframework.mcp.options import McpOperationOptions, McpOptions

if TYPE_CHECKING:
    from mcp import types
    from mcp.client import Client

    from agentframework.mcp.link import Link

T = TypeVar("T")
Progress = Callable[[float, float | None, str | None], Any]
Send = Callable[["Link", Clock], Coroutine[Any, Any, T]]
_METHOD_NOT_FOUND = -32601


class ServerOperations(ABC):
    """Operations of one server. All take the options of `McpOperationOptions`.

    They raise `McpDisconnectedError`, `McpConnectionError` or `McpOperationError`, and `AbortedError` when stopped by
    ``abort``. Cancelling the caller tells the server.
    """

    _options: McpOptions
    _hub: ChangeHub

    @abstractmethod
    async def _perform(self, operation: str, send: "Send[T]", options: McpOperationOptions) -> T:
        """Send when connected, within the limits, again if that is allowed."""

    @abstractmethod
    def _note(self, problem: str) -> None:
        """Something was not as it should be, and went on all the same."""

    @abstractmethod
    async def _listening_changed(
        self, fresh: Sequence[str], stale: Sequence[str], options: McpOperationOptions
    ) -> None:
        """Make the server send what the hub wants now."""

    # --- tools ------------------------------------------------------------------------------------------

    async def list_tools(self, *, refresh: bool = False, **options: Unpack[McpOperationOptions]) -> "list[types.Tool]":
        """The server's tools under their original names. ``refresh`` asks even if a listing is fresh enough."""
        mode = "refresh" if refresh else "use"

        def page(client: "Client", cursor: str | None) -> Awaitable[Any]:
            return client.list_tools(cursor=cursor, cache_mode=mode)

        return await self._all("list_tools", page, "tools", options)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: Progress | None = None,
        **options: Unpack[McpOperationOptions],
    ) -> "types.CallToolResult":
        """Call a tool by its original name. Sent at most once, unless the retry policy says otherwise.

        A tool that fails is a result with ``is_error``. ``on_progress(progress, total, message)`` is sync or async;
        what it raises is noted.
        """

        async def send(link: "Link", clock: Clock) -> Any:
            async def moved(progress: float, total: float | None, message: str | None) -> None:
                clock.progress()
                if on_progress is not None:
                    await self._report(on_progress, progress, total, message)

            return await link.client.call_tool(name, dict(arguments or {}), progress_callback=moved)

        return await self._perform("call_tool", send, options)

    async def _report(self, on_progress: Progress, *values: Any) -> None:
        try:
            told = on_progress(*values)
            if inspect.isawaitable(told):
                await told
        except Exception as error:
            self._note(f"on_progress failed: {type(error).__name__}: {error}")

    # --- resources --------------------------------------------------------------------------------------

    async def list_resources(self, **options: Unpack[McpOperationOptions]) -> "list[types.Resource]":
        """The server's resources."""

        def page(client: "Client", cursor: str | None) -> Awaitable[Any]:
            return client.list_resources(cursor=cursor)

        return await self._all("list_resources", page, "resources", options)

    async def list_resource_templates(self, **options: Unpack[McpOperationOptions]) -> "list[types.ResourceTemplate]":
        """The server's templates for resources."""

        def page(client: "Client", cursor: str | None) -> Awaitable[Any]:
            return client.list_resource_templates(cursor=cursor)

        return await self._all("list_resource_templates", page, "resource_templates", options)

    async def read_resource(self, uri: str, **options: Unpack[McpOperationOptions]) -> "types.ReadResourceResult":
        """The contents of a resource, always from the server."""

        async def send(link: "Link", _clock: Clock) -> Any:
            return await link.client.read_resource(uri, cache_mode="bypass")

        return await self._perform("read_resource", send, options)

    async def subscribe_resource(self, uri: str, **options: Unpack[McpOperationOptions]) -> None:
        """Ask to be told when a resource changes; `listen` tells."""
        fresh = self._hub.want([uri])
        try:
            await self._listening_changed(fresh, (), options)
        except BaseException:
            self._hub.drop([uri])
            raise

    async def unsubscribe_resource(self, uri: str, **options: Unpack[McpOperationOptions]) -> None:
        """The opposite of `subscribe_resource`."""
        await self._listening_changed((), self._hub.drop([uri]), options)

    # --- prompts ----------------------------------------------------------------------------------------

    async def list_prompts(self, **options: Unpack[McpOperationOptions]) -> "list[types.Prompt]":
        """The server's prompts."""

        def page(client: "Client", cursor: str | None) -> Awaitable[Any]:
            return client.list_prompts(cursor=cursor)

        return await self._all("list_prompts", page, "prompts", options)

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, **options: Unpack[McpOperationOptions]
    ) -> "types.GetPromptResult":
        """A prompt, filled in."""

        async def send(link: "Link", _clock: Clock) -> Any:
            return await link.client.get_prompt(name, dict(arguments or {}))

        return await self._perform("get_prompt", send, options)

    async def complete(
        self,
        ref: Any,
        argument: Mapping[str, str],
        context_arguments: Mapping[str, str] | None = None,
        **options: Unpack[McpOperationOptions],
    ) -> "types.CompleteResult":
        """Values for an argument: ``ref`` is ``{"type": "ref/prompt", "name": …}`` or ``{"type": "ref/resource",
        "uri": …}``, ``argument`` is ``{"name": …, "value": what was typed}``."""

        async def send(link: "Link", _clock: Clock) -> Any:
            known = dict(context_arguments) if context_arguments is not None else None
            return await link.client.complete(_reference(ref), dict(argument), known)

        return await self._perform("complete", send, options)

    # --- the rest ---------------------------------------------------------------------------------------

    async def ping(self, **options: Unpack[McpOperationOptions]) -> None:
        """Ask for a sign of life: a ping, or ``server/discover`` in the modern era."""

        async def send(link: "Link", _clock: Clock) -> None:
            from agentframework.mcp.sign_of_life import ask  # noqa: PLC0415 - needs the official client, heavy

            await ask(link.client)

        await self._perform("ping", send, options)

    async def listen(
        self,
        *,
        tools_list_changed: bool = False,
        prompts_list_changed: bool = False,
        resources_list_changed: bool = False,
        resource_subscriptions: Sequence[str] = (),
        **options: Unpack[McpOperationOptions],
    ) -> McpSubscription:
        """Changes from now on, as an async iterator of `McpChange`; in both eras, over reconnects. Close it."""
        if isinstance(resource_subscriptions, str):
            raise InvalidInputError("resource_subscriptions is a list of URIs, not one text")
        wanted = McpFilter(
            tools_list_changed, prompts_list_changed, resources_list_changed, tuple(resource_subscriptions)
        )
        subscription = McpSubscription(wanted, self._unlisten)
        self._hub.add(subscription)
        try:
            await self._listening_changed(self._hub.want(wanted.resource_subscriptions), (), options)
        except BaseException:
            self._hub.remove(subscription)
            self._hub.drop(wanted.resource_subscriptions)
            raise
        return subscription

    async def _unlisten(self, subscription: McpSubscription) -> None:
        self._hub.remove(subscription)
        stale = self._hub.drop(subscription.wanted.resource_subscriptions)
        await self._listening_changed((), stale, {})

    async def _all(
        self,
        operation: str,
        page: "Callable[[Client, str | None], Awaitable[Any]]",
        items: str,
        options: McpOperationOptions,
    ) -> list[Any]:
        async def send(link: "Link", clock: Clock) -> list[Any]:
            found: list[Any] = []
            cursor: str | None = None
            seen: set[str] = set()
            for _ in range(self._options.list_max_pages):
                result = await page(link.client, cursor)
                clock.progress()
                found += getattr(result, items)
                cursor = result.next_cursor
                if not cursor:
                    return found
                if cursor in seen:
                    self._note(f"{operation}: the server repeats a page; its listing ends there")
                    return found
                seen.add(cursor)
            self._note(
                f"{operation}: the listing has more than {self._options.list_max_pages} pages; the rest is left out "
                "(list_max_pages)"
            )
            return found

        return await self._perform(operation, _empty_if_unknown(send, items), options)


def _empty_if_unknown(send: "Send[list[Any]]", items: str) -> "Send[list[Any]]":
    """A server that neither declares nor knows a kind of thing has none of it."""
    capability = {"resource_templates": "resources"}.get(items, items)

    async def lenient(link: "Link", clock: Clock) -> list[Any]:
        try:
            return await send(link, clock)
        except Exception as error:
            declared = getattr(link.client.server_capabilities, capability, None)
            if declared is None and getattr(error, "code", None) == _METHOD_NOT_FOUND:
                return []
            raise

    return lenient


def _reference(ref: Any) -> Any:
    from mcp.types import PromptReference, ResourceTemplateReference  # noqa: PLC0415 - heavy

    if not isinstance(ref, Mapping):
        return ref
    model = PromptReference if ref.get("type") == "ref/prompt" or "name" in ref else ResourceTemplateReference
    return model.model_validate(dict(ref))
