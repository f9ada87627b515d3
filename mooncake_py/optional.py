"""Optional packages: how to import and install them."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from threading import Lock
from typing import Any

__all__ = ["import_extension", "import_optional", "installation"]

LOCK = Lock()


def installation(extra: str, *packages: str) -> str:
    """Return a text that says how to install an extra of this package, which is `packages`."""
    return (
        f'pip install {" ".join(packages)}, or pip install ".[{extra}]" in a clone of mooncake_py'
    )


def import_optional(module: str, extra: str, needed_by: str) -> Any:
    """Import a module of a package that is the extra of this one.

    Raises
    ------
    ModuleNotFoundError
        If the package is not installed; the message says how to install it.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise  # it is there, and something that it needs is not
        raise ModuleNotFoundError(
            f"{needed_by} needs {package}, which is not installed: {installation(extra, package)}",
            name=package,
        ) from error


def import_extension(package: str, name: str) -> Any:
    """Import an extension module without the package that it is in, unless that is there already.

    The packages around that one are imported, as what they load may be needed.  Who imports the
    module later by its package finds it as it should be: it initialises itself once.

    Raises
    ------
    ImportError
    """
    return import_module(f"{package}.{name}") if package in sys.modules else alone(package, name)


@cache
def alone(package: str, name: str) -> Any:
    """Import an extension module without its package."""
    full, (outer, _, last) = f"{package}.{name}", package.rpartition(".")
    places = [str(Path(place) / last) for place in import_module(outer).__path__]
    spec = PathFinder.find_spec(full, places)
    if spec is None or not isinstance(spec.loader, ExtensionFileLoader):
        return import_module(full)
    with LOCK:
        found = module_from_spec(spec)
        spec.loader.exec_module(found)
        sys.modules.pop(full, None)  # where it has put itself: the package would not hold it
    return found
