"""A governed agent: a policy of rules and approvals in front of every tool, and a session that goes on.

Run it with ``python examples/10_governed_agent.py`` and ANTHROPIC_API_KEY set.
"""

import asyncio

from agentframework import Agent, AnthropicProvider, Provider, ToolApprovalRequest, ToolDecision, ToolPolicy, tool

PAID = {"17": 30.0, "18": 900.0}


@tool
def order_of(number: str) -> str:
    """What is known about an order."""
    return f"order {number}: {PAID[number]} euros, paid"


@tool
def refund(number: str, euros: float) -> str:
    """Give money back."""
    return f"{euros} euros of order {number} given back"


def own_orders(request: ToolApprovalRequest) -> bool:
    """Nobody gets at orders that are not there: a rule of yours, asked about every call."""
    return request.input["number"] in PAID


async def approve(request: ToolApprovalRequest) -> bool | ToolDecision:
    """A person, or a service: here small sums pass, and for large ones the model is told to do something else."""
    if request.tool_name == "refund" and request.input["euros"] > 100:
        return ToolDecision("redirect", "too much", message="Do not refund. Say that a colleague will call back.")
    return True


async def main(provider: Provider) -> list[str]:
    """Two requests of one customer; returns what was decided about the calls."""
    decided: list[str] = []
    policy = ToolPolicy(
        denied_tools=["delete_order"],
        authorization_rules=[{"id": "own-orders", "authorize": own_orders}],
        require_approval=True,
        approval_handler=approve,
        authorization_observer=lambda event: decided.append(f"{event.tool_name}: {event.decision}"),
    )
    async with Agent(provider=provider, tools=[order_of, refund], tool_policy=policy) as agent:
        for request in ("Please give me back the money for order 17.", "And for order 18."):
            async for event in agent.run(request, session_id="customer-1"):
                if event.type == "text_delta":
                    print(event.text)
    return decided


if __name__ == "__main__":
    asyncio.run(main(AnthropicProvider()))
