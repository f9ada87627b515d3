"""Large arguments that a function overwrites: it gets copies, in memory that earlier calls used.

If a function reaches arrays in its arguments only, these need no copies; but what it overwrites is
logged then, part by part, and undone.  One copy in memory that is at hand takes a fraction of that:
see `spares`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from numpy import ndarray

from mooncake_py.compiler.native.spares import Spares
from mooncake_py.jitted import python_function
from mooncake_py.runtime.references import references_beside
from mooncake_py.tangents.memory import are_laid_out_alike

if TYPE_CHECKING:
    from mooncake_py.runtime.registry import Registry

__all__ = ["LARGE", "copied", "give_back", "is_overwritten", "note_overwritten", "own_block"]

Key = int | str

LARGE = 1 << 15  # bytes from which on it pays to find out whether an array need not be copied
HOLDERS = 3  # the arguments of the call, `OwnMemory`, and the list of all copies

_found: WeakKeyDictionary[CodeType, frozenset[Key]] = WeakKeyDictionary()
_spares = Spares()


def note_overwritten(
    f: Any, arguments: Iterable[tuple[Key, Any]], registry: Registry, copies: Sequence[ndarray]
) -> None:
    """Note which of the large arguments that were not copied a call has overwritten."""
    for key, value in arguments:
        if type(value) is ndarray and value.nbytes >= LARGE and not is_among(value, copies):
            node = registry.known.get(id(value)) or registry.constants.get(id(value))
            if node is not None and node.ref() is value and node.memory.was_overwritten():
                code = code_of(f)
                if code is not None:
                    _found[code] = _found.get(code, frozenset()) | {key}


def is_overwritten(f: Any, key: Key) -> bool:
    """Return whether an earlier call of a function has overwritten a large argument."""
    code = code_of(f)
    return code is not None and key in _found.get(code, ())


def code_of(f: Any) -> CodeType | None:
    """Return the code of a function, None for other callables."""
    f = python_function(f)
    return None if f is None else f.__code__


def is_among(a: ndarray, others: Sequence[ndarray]) -> bool:
    """Return whether an array is one of others."""
    return any(a is other for other in others)


def copied(a: ndarray) -> ndarray:
    """Return a copy of an array in C order, which is to be given back."""
    return _spares.copied(purpose(a), a)


def give_back(copies: list[ndarray]) -> None:
    """Take copies back that no one holds but the call that has ended: a program may keep one."""
    for k in range(len(copies)):
        if copies[k].base is None:
            is_free = references_beside(copies, k) == HOLDERS
        else:  # the list of all copies has the block in place of the view
            blocks = [copies[k].base]
            is_free = references_beside(copies, k) == references_beside(blocks) == HOLDERS - 1
        if is_free:
            block = own_block(copies[k])
            _spares.give(purpose(block), block)


def own_block(a: ndarray) -> Any:
    """Return the block that a copy is, or is a view of; None if it is part of something larger."""
    if a.base is None:
        return a
    block = a.base
    is_alone = type(block) is ndarray and block.base is None and are_laid_out_alike(a, block)
    return block if is_alone else None


def purpose(a: ndarray) -> str:
    """Return the key under which arrays of one kind are kept."""
    return f"{a.dtype.str}{a.shape}"
