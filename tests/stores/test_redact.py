from typing import Any

import pytest

from agentframework.stores.redact import REDACTED, redact

# Put together here, so that no scanner takes this file for a leak.
SHAPES = [
    "sk-" + "ant-api03-" + "a1B2" * 8,
    "sk-" + "proj-" + "a1B2" * 8,
    "sk-" + "a1B2" * 10,
    "gh" + "p_" + "a1B2" * 9,
    "github" + "_pat_" + "a1B2" * 14,
    "gl" + "pat-" + "a1B2" * 6,
    "xo" + "xb-1234567890-abcdef",
    "AK" + "IA" + "ABCDEFGH12345678",
    "AI" + "za" + "a" * 35,
    "npm" + "_" + "a" * 36,
    "ey" + "JhbGciOiJIUzI1NiJ9" + ".ey" + "JzdWIiOiIxMjM0In0" + ".abcdefghijklmn",
    "-----BEGIN RSA " + "PRIVATE KEY-----\nabc\n-----END RSA " + "PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SHAPES)
def test_the_shape_of_a_secret_is_enough(secret: str) -> None:
    assert redact({"text": f"export KEY={secret} and more"}) == {"text": f"export KEY={REDACTED} and more"}


@pytest.mark.parametrize(
    "key",
    ["api_key", "apiKey", "X-API-Key", "Authorization", "access_token", "refreshToken", "client-secret", "password",
     "OPENAI_API_KEY", "db.password", "cookie", "AWS_SECRET_ACCESS_KEY"],
)  # fmt: skip
def test_the_name_of_its_key_is_enough(key: str) -> None:
    assert redact({"headers": [{key: "hunter2"}]}) == {"headers": [{key: REDACTED}]}


def test_passwords_in_addresses_and_bearers_go() -> None:
    assert redact("git clone https://bob:hunter22@example.org/x") == f"git clone https://{REDACTED}@example.org/x"
    assert redact("Authorization: Bearer abcdefghijklmnopqrstuvwxyz") == f"Authorization: Bearer {REDACTED}"


@pytest.mark.parametrize(
    "harmless",
    [
        "task-list and disk-usage of the risk-assessment",
        "the token count is 12345",
        {"total_tokens": 12, "input_tokens": "12", "max_tokens": "3", "key": "value", "keyboard": "us"},
        {"file_path": "/src/password.py", "passwords": ["list"], "api_key": None},
        {"type": "thinking", "text": "Bearer abcdefghijklmnopqrstuvwxyz", "signature": "sk-" + "a1B2" * 10},
        {"signature": "sk-" + "a1B2" * 10, "data_base64": "AI" + "za" + "a" * 35},
        "https://example.org:8080/a@b",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    ],
)
def test_what_is_no_secret_is_returned_itself(harmless: Any) -> None:
    assert redact(harmless) is harmless
