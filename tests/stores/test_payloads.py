import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.errors import PayloadError
from agentframework.stores.payloads import Payloads

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
)


@given(value=JSON)
def test_what_is_put_aside_comes_back_the_same(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    payloads = Payloads(tmp_path_factory.mktemp("p") / "a.payloads", limit=40)
    record = payloads.externalize_record({"value": value})
    assert payloads.resolve(json.loads(json.dumps(record))) == {"value": value}


def test_a_large_value_leaves_a_small_record_and_one_file(tmp_path: Path) -> None:
    payloads = Payloads(tmp_path / "a.payloads")
    record = payloads.externalize_record({"kind": "entry", "one": ["x" * 40_000], "two": ["x" * 40_000]})
    assert len(json.dumps(record)) < 700
    assert len(list((tmp_path / "a.payloads").iterdir())) == 1


def reference_to(folder: Path) -> dict[str, Any]:
    return Payloads(folder / "a.payloads", limit=10).externalize("a value of some length")


def issue_of(folder: Path, reference: Any) -> str:
    with pytest.raises(PayloadError) as caught:
        Payloads(folder / "a.payloads").resolve({"value": reference})
    return caught.value.details["issue"]


@pytest.mark.parametrize(
    ("change", "issue"),
    [
        ({"sha256": "../../etc/passwd"}, "INVALID_REFERENCE"),
        ({"sha256": None}, "INVALID_REFERENCE"),
        ({"encoding": "pickle"}, "INVALID_REFERENCE"),
        ({"byte_length": "7"}, "INVALID_REFERENCE"),
        ({"extra": 1}, "INVALID_REFERENCE"),
        ({"path": "../secrets.json"}, "OUTSIDE_ROOT"),
        ({"sha256": "0" * 64, "path": f"a.payloads/{'0' * 64}.json"}, "PAYLOAD_NOT_FOUND"),
        ({"byte_length": 7}, "BYTE_LENGTH_MISMATCH"),
        ({"byte_length": 1 << 40}, "MAX_TOTAL_BYTES_EXCEEDED"),
    ],
)
def test_a_reference_that_was_tampered_with_is_refused(tmp_path: Path, change: dict[str, Any], issue: str) -> None:
    assert issue_of(tmp_path, {**reference_to(tmp_path), **change}) == issue


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    reference = reference_to(tmp_path)
    (tmp_path / reference["path"]).write_bytes(b"x" * reference["byte_length"])
    assert issue_of(tmp_path, reference) == "SHA256_MISMATCH"


def test_a_link_in_place_of_a_payload_is_not_followed(tmp_path: Path) -> None:
    reference = reference_to(tmp_path)
    path = tmp_path / reference["path"]
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert issue_of(tmp_path, reference) == "PAYLOAD_UNREADABLE"


def stored(folder: Path, value: Any) -> dict[str, Any]:
    (folder / "a.payloads").mkdir(exist_ok=True)
    data = json.dumps(value).encode()
    digest = hashlib.sha256(data).hexdigest()
    (folder / "a.payloads" / f"{digest}.json").write_bytes(data)
    path = f"a.payloads/{digest}.json"
    return {"kind": "external-payload", "encoding": "json", "sha256": digest, "byte_length": len(data), "path": path}


def test_references_that_lead_on_and_on_are_given_up(tmp_path: Path) -> None:
    value: Any = "the end of a long way"
    for _ in range(40):
        value = stored(tmp_path, {"next": value})
    assert issue_of(tmp_path, value) == "MAX_DEPTH_EXCEEDED"


@pytest.mark.parametrize("limit", [10, 100_000])
def test_data_that_looks_like_a_reference_stays_data(tmp_path: Path, limit: int) -> None:
    payloads = Payloads(tmp_path / "a.payloads", limit)
    literal = {"kind": "external-payload", "encoding": "literal", "value": {"kind": "external-payload"}}
    for data in ({"kind": "external-payload"}, {"kind": "external-payload", "sha256": "0" * 64}, literal):
        record = payloads.externalize_record({"value": [data]})
        assert payloads.resolve(json.loads(json.dumps(record))) == {"value": [data]}


def test_a_payload_that_is_no_json_is_refused(tmp_path: Path) -> None:
    reference = stored(tmp_path, {})
    data = b"{]"
    digest = hashlib.sha256(data).hexdigest()
    (tmp_path / "a.payloads" / f"{digest}.json").write_bytes(data)
    changed = {**reference, "sha256": digest, "byte_length": 2, "path": f"a.payloads/{digest}.json"}
    assert issue_of(tmp_path, changed) == "INVALID_JSON"
