"""The classifier of the mode ``auto``: a provider asked without tools, as cool as it goes."""

from collections.abc import Callable

from agentframework.assembly.asking import whole_answer
from agentframework.errors import InvalidRequestError, UnsupportedOptionError
from agentframework.messages import TextPart, UserMessage
from agentframework.providers.protocol import ModelRequest, Provider

_MAX_OUTPUT_TOKENS = 2_000


class ProviderClassifier:
    """Asks the model that ``choose`` names at that moment.

    A model that refuses the temperature 0 is asked without one, from then on.
    """

    __slots__ = ("_choose", "_hot")

    def __init__(self, choose: Callable[[], tuple[Provider, str]]) -> None:
        self._choose = choose
        self._hot: tuple[str, ...] = ()

    async def classify(self, system: str, prompt: str) -> str:
        """The whole text of the answer. Raises the provider's errors."""
        provider, model = self._choose()
        await provider.start()
        name = f"{provider.name}:{model}"
        if name in self._hot:
            return await whole_answer(provider, _request(model, system, prompt, None))
        try:
            return await whole_answer(provider, _request(model, system, prompt, 0.0))
        except (InvalidRequestError, UnsupportedOptionError):
            answer = await whole_answer(provider, _request(model, system, prompt, None))
            self._hot = (*self._hot, name)
            return answer


def _request(model: str, system: str, prompt: str, temperature: float | None) -> ModelRequest:
    return ModelRequest(
        model=model,
        messages=(UserMessage((TextPart(prompt),)),),
        system=system,
        max_output_tokens=_MAX_OUTPUT_TOKENS,
        temperature=temperature,
    )
