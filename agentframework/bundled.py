"""The only place that knows where the bundled folders ``tools_builtin/`` and ``commands/`` lie.

A wheel carries them in ``agentframework/_bundled/``; in a checkout they lie beside the package. Both names
are so general that a stranger's folder may well answer to them, in the current directory or in
``site-packages``. A name is therefore never simply imported: where it leads is looked up first, and only
our own file is run. Nothing is loaded before it is asked for.

Above: whoever hands out the built-in tools and commands. Below: ``errors`` only.
"""

import importlib
import importlib.util
import sys
import threading
from pathlib import Path
from types import ModuleType

from agentframework.errors import ConfigurationError

_PACKAGE = Path(__file__).resolve().parent
_LOADING = threading.RLock()


def load_tools_builtin() -> ModuleType:
    """Load the folder of built-in tools, once per process.

    Raises:
        ConfigurationError: this installation does not hold the folder.
    """
    return _load("tools_builtin")


def load_commands() -> ModuleType:
    """Load the folder of built-in slash commands, once per process.

    Raises:
        ConfigurationError: this installation does not hold the folder.
    """
    return _load("commands")


def _load(name: str) -> ModuleType:
    entry = _entry_file(name)
    with _LOADING:
        # In a checkout `import tools_builtin` must give the very same modules, or every class would exist
        # twice. Whoever else owns the name keeps it: ours is then loaded under its name in a wheel.
        if _name_leads_to(name, entry):
            return importlib.import_module(name)
        return _load_file(f"{__package__}._bundled.{name}", entry)


def _entry_file(name: str) -> Path:
    folders = [_PACKAGE / "_bundled" / name]
    # What lies beside an installed package is `site-packages/commands`, and nobody knows whose that is. Only
    # a checkout has the build hook there.
    if (_PACKAGE.parent / "hatch_build.py").is_file():
        folders.append(_PACKAGE.parent / name)
    for folder in folders:
        entry = folder / "__init__.py"
        if entry.is_file():
            return entry
    raise ConfigurationError(
        f"The bundled folder {name!r} is missing from this installation of agentframework ({_PACKAGE}). "
        "Reinstall the package."
    )


def _name_leads_to(name: str, entry: Path) -> bool:
    """Whether importing the top-level `name` would run `entry`. Looks only; runs nothing."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None and Path(spec.origin).resolve() == entry


def _load_file(full_name: str, entry: Path) -> ModuleType:
    loaded = sys.modules.get(full_name)
    if loaded is not None:
        return loaded
    spec = importlib.util.spec_from_file_location(
        full_name, entry, submodule_search_locations=[str(entry.parent)]
    )
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"{entry} is no Python file that can be loaded. Reinstall the package.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[full_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[full_name]
        raise
    return module
