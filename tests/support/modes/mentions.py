"""What the source of a function mentions: how precise it is, and what it does to memory."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any

import numpy as np

from mooncake_py.tangents.contents import elements_of, plain_dict
from tests.support.modes.snapshots import is_filled, numbers_of

__all__ = ["dtypes_in", "names_in"]

IMPRECISE = {"float32", "float16", "complex64"}


def has(value: Any, name: str) -> bool:
    """Whether a value has an attribute; some classes raise other errors where they have none."""
    try:
        return hasattr(value, name)
    except Exception:
        return False


def code_of(f: Any) -> CodeType | None:
    """Return the code of a function; None for anything else, the class of functions too."""
    code = f.__code__ if has(f, "__code__") else None
    return code if type(code) is CodeType else None


def functions_in(f: Any, depth: int = 4) -> Iterator[Any]:
    """Yield a function and those that it has captured, also in containers; and what else it has."""
    yield f
    if not depth:
        return
    parts: Any = ()
    if isinstance(f, (list, tuple)):
        parts = elements_of(f)
    elif isinstance(f, dict):
        parts = plain_dict(f).values()
    elif has(f, "__wrapped__"):
        parts = (f.__wrapped__,)
    elif code_of(f):
        parts = [c.cell_contents for c in f.__closure__ or () if is_filled(c)]
        parts += [f.__globals__.get(name) for name in names_of(f.__code__)]
    for part in parts:
        yield from functions_in(part, depth - 1)


def names_of(code: Any) -> set[str]:
    """Return the globals and attributes that a code object and those within it name."""
    within = [c for c in code.co_consts if hasattr(c, "co_names")]
    return set(code.co_names).union(*map(names_of, within))


def texts_of(code: Any) -> set[str]:
    """Return the strings in a code object and those within it."""
    within = [c for c in code.co_consts if hasattr(c, "co_consts")]
    return {c for c in code.co_consts if type(c) is str}.union(*map(texts_of, within))


def codes_in(f: Any) -> list[CodeType]:
    """Return the code objects of a function and of those that it uses."""
    return [code for g in functions_in(f) if (code := code_of(g))]


def names_in(f: Any) -> set[str]:
    """Return the globals and attributes that a function and those that it uses name."""
    return set().union(*map(names_of, codes_in(f)))


def dtypes_in(f: Any) -> list[np.dtype]:
    """Return the dtypes of single and half precision that a function mentions or has captured."""
    found = [np.dtype(getattr(np, name)) for name in names_in(f) & IMPRECISE]
    texts = set().union(*map(texts_of, codes_in(f)))
    texts |= {value for value in functions_in(f) if type(value) is str}
    found += [t for t in map(np.dtype, ("f2", "f4", "c8")) if {t.name, t.str[1:]} & texts]
    for value in functions_in(f):
        if isinstance(value, type) and value.__name__ in IMPRECISE:
            found.append(np.dtype(value))
        elif isinstance(value, np.dtype) and value.name in IMPRECISE:
            found.append(value)
        elif isinstance(value, np.ndarray):
            found += [part.dtype for part in numbers_of(value)]
    return [dtype for dtype in found if dtype.kind in "fc"]
