from itertools import islice
from pathlib import Path
from random import Random

import pytest
from shellfuzz import corpus, fault, hostile, reading_bench

TEXTS = 400


@pytest.mark.parametrize("seed", range(4))
def test_no_text_breaks_the_reader_or_is_allowed_without_being_a_command_line(seed: int, tmp_path: Path) -> None:
    bench = reading_bench(tmp_path)
    found = {line: fault(line, bench) for line in islice(hostile(Random(seed), corpus()), TEXTS)}
    assert {line: why for line, why in found.items() if why is not None} == {}
