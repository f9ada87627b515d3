"""Optional packages: how to import and install them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["import_optional", "installation"]


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
