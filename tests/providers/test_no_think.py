"""``no_think`` ends prompts in ``/no_think``, once, and changes nothing else of what was sent."""

import json

import pytest
from apikit import APIS, PIXEL, talk
from hypothesis import given
from hypothesis import strategies as st

from agentframework.messages import ImagePart, TextPart, UserMessage, user_text
from agentframework.providers.acceptable import ask_directly, without_thinking
from agentframework.providers.constrained import ConstrainedOptions, build_prompt, chat_body
from agentframework.providers.protocol import ModelRequest
from agentframework.testing.strict_server import text


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("by_request", [True, False])
async def test_what_is_sent_ends_in_no_think(api: str, by_request: bool) -> None:
    async with talk(api, no_think=not by_request) as it:
        it.server.reply(text("yes"))
        it.server.reply(text("yes"))
        first = [user_text("Is it late?")]
        reply = await it.ask(first, no_think=by_request)
        await it.ask([*first, reply, user_text("Still? /no_think")], no_think=by_request)
    one, two = (json.dumps(request.body) for request in it.server.requests)
    assert one.count("/no_think") == 1
    assert two.count("/no_think") == 2
    assert "Is it late? /no_think" in two


@given(st.text())
def test_it_is_appended_once(prompt: str) -> None:
    once = ask_directly(prompt)
    assert once.endswith("/no_think") or once.rstrip().endswith("/no_think")
    assert ask_directly(once) == once


def test_the_last_text_of_a_message_is_the_one() -> None:
    image = ImagePart("image/png", PIXEL)
    message = UserMessage((TextPart("a"), TextPart("b"), image))
    assert without_thinking(message).content == (TextPart("a"), TextPart("b /no_think"), image)
    assert without_thinking(UserMessage((image,))).content == (image, TextPart("/no_think"))


def test_constrained_prompts_end_in_it_too() -> None:
    request = ModelRequest("m", [user_text("Hello")], no_think=True)
    body = chat_body(request, build_prompt(request, ConstrainedOptions()))
    assert body["messages"][-1]["content"] == "Hello /no_think"
