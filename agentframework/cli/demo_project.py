"""The small project that the demonstration works on: a folder of its own, gone afterwards."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_README = """\
# Rain Diary

A small script that averages the rain of some days.

Run the test with `python3 test_rain.py`.
"""

_NOTES = """\
It rained on five days of the first week of March. Tuesday was the wettest day, with 21 millimetres. The weekend
stayed dry.
"""

_CODE = '''\
"""The rain of some days, in millimetres."""


def average(days):
    """The mean of the daily amounts."""
    total = 0
    for amount in days[1:]:
        total += amount
    return total / len(days)
'''

_TEST = """\
import unittest

from rain import average


class AverageTest(unittest.TestCase):
    def test_average_of_three_days(self):
        self.assertEqual(average([3, 6, 9]), 6)


if __name__ == "__main__":
    unittest.main()
"""

FILES = {"README.md": _README, "notes.txt": _NOTES, "rain.py": _CODE, "test_rain.py": _TEST}


@contextmanager
def demo_project() -> Iterator[Path]:
    """A fresh temporary folder with the project in it; removed on leaving, whatever happened."""
    with tempfile.TemporaryDirectory(prefix="agentframework-demo-", ignore_cleanup_errors=True) as folder:
        for name, text in FILES.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        yield Path(folder)
