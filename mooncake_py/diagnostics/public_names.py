"""The public names of compiled functions: ``scipy.special.erf``, not ``numpy.erf``.

The ``__module__`` of a function is often a private module, or missing.  So error messages search
the loaded modules for a public name.
"""

from __future__ import annotations

import functools
import sys
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from mooncake_py.diagnostics.places import is_library
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import OverlayRule, function_name

__all__ = ["entrance", "public_name"]

LOW_LEVEL = ("lapack", "blas")
TRUSTED = frozenset({"numpy", "scipy", *sys.stdlib_module_names})


def public_name(f: Any) -> str | None:
    """Return the public dotted name of a function or a class, or None if it has none."""
    owner = getattr(f, "__objclass__", None)
    if owner is not None:
        found = public_name(owner)
        return found and f"{found}.{f.__name__}"
    name = getattr(f, "__name__", "")
    receiver = getattr(f, "__self__", None)
    if receiver is not None and not isinstance(receiver, (ModuleType, type)):
        found = public_name(type(receiver))
        return found and f"{found}.{name}"
    return find(name, lambda value: value is f)


def entrance() -> str | None:
    """Return the name of the innermost public library function that is being run, derived."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if "_mk_ctx" in code.co_varnames:
            if not is_library(code.co_filename):
                return None
            found = replaced_by(code) or find(code.co_name, functools.partial(is_defined_by, code))
            if found:
                return found
        frame = frame.f_back
    return None


def replaced_by(code: CodeType) -> str | None:
    """Return the name of the function that a rule replaces by Python of this place, if any."""
    for function, rule in registry.registered():
        if isinstance(rule, OverlayRule) and is_defined_by(code, rule.replacement):
            return function_name(function)
    return None


def is_defined_by(code: CodeType, value: Any) -> bool:
    """Return whether a function, as users see it, was defined at the same place as `code`."""
    function = getattr(value, "__wrapped__", value)
    own = function.__code__ if type(function) is FunctionType else None
    return own is not None and (own.co_filename, own.co_firstlineno) == (
        code.co_filename,
        code.co_firstlineno,
    )


def find(name: str, holds: Any) -> str | None:
    """Return the best public name, among the modules that are loaded, of what `holds` accepts."""
    if name.startswith("_"):
        return None
    candidates = [
        (rank(module, contents, name), module)
        for module, contents in list(sys.modules.items())
        if is_public(module) and holds(getattr(contents, "__dict__", {}).get(name))
    ]
    if not candidates:
        return None
    _, module = min(candidates)
    return name if module == "builtins" else f"{module}.{name}"


def rank(module: str, contents: Any, name: str) -> tuple[Any, ...]:
    """Order modules that know a name: well known, exporting it, short, where it was defined."""
    exported = getattr(contents, "__all__", None) or ()
    is_elsewhere = getattr(contents.__dict__[name], "__module__", None) != module
    is_public_name = name in exported or not is_elsewhere
    return module.split(".")[0] not in TRUSTED, not is_public_name, module.count("."), is_elsewhere


def is_public(module: str) -> bool:
    """Return whether no part of a module's name is private or of a low level."""
    parts = module.split(".")
    return (
        not any(part.startswith("_") for part in parts)
        and parts[-1] not in LOW_LEVEL
        and (parts[0] != "mooncake_py")
    )
