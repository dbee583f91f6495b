"""Scripts of sed and awk: whether they only print, and what else they run, read and write."""

from agentframework.permissions.scripts.awk import awk_only_prints
from agentframework.permissions.scripts.loose import (
    files_of_awk,
    files_of_sed,
    run_by_awk,
    run_by_sed,
)
from agentframework.permissions.scripts.sed import sed_only_prints

__all__ = ["awk_only_prints", "files_of_awk", "files_of_sed", "run_by_awk", "run_by_sed", "sed_only_prints"]
