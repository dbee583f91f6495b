"""The installed version."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version


def version() -> str:
    """Version of the distribution, or ``unknown`` when the package runs from a bare folder."""
    try:
        return installed_version("agentframework")
    except PackageNotFoundError:
        return "unknown"
