"""Derive a rewritten code object from a function's code, and make functions of it.

:func:`derive` is pure and remembers its results as long as the original code object lives;
:func:`instantiate` binds a result to the globals and the closure of one function.
"""

from __future__ import annotations

import ast
import linecache
import sys
import threading
import weakref
from functools import partial
from operator import itemgetter
from types import CellType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from mooncake_py.diagnostics.places import start_of
from mooncake_py.errors import SourceUnavailableError
from mooncake_py.runtime.allowance import LoopForm
from mooncake_py.syntax.names import global_value
from mooncake_py.syntax.nodes import replaced
from mooncake_py.syntax.source import locate

if TYPE_CHECKING:
    from mooncake_py.frontend.rewrite import Rewritten

__all__ = ["Derived", "derive", "instantiate", "show_source"]

_CO_GENERATOR = 0x20
_VARIANTS_KEPT = 4
LASTING = sys.stdlib_module_names | {"numpy", "scipy"}


class Derived:
    """A rewritten function before it is bound to globals and a closure.

    The parameters are the names that were free when its code was compiled.
    """

    def __init__(
        self,
        original: CodeType,
        code: CodeType,
        rewritten: Rewritten,
        parameters: tuple[str, ...],
        in_parts: bool,
        loops: LoopForm,
    ) -> None:
        self.in_parts = in_parts
        self.loops: LoopForm = loops
        self.code = code  # takes the context as keyword argument ``_mk_ctx``
        self.injected = rewritten.injected
        self.stored_globals = rewritten.stored_globals
        self.stored_free = rewritten.stored_free
        self.is_generator = bool(original.co_flags & _CO_GENERATOR)
        self.file = original.co_filename
        self.qualname = original.co_qualname
        self.first_line = original.co_firstlineno
        self.node = rewritten.node
        assumed = rewritten.assumed.items()
        self.assumed = tuple([(name, value) for name, value in assumed if lasts(value)])
        # Modules that may go again; else one would be kept alive by what refers to its functions.
        self.assumed_weakly = tuple(
            [(name, weakref.ref(value)) for name, value in assumed if not lasts(value)]
        )
        # The injected constants; never rebound, so all functions share them.
        self.cells = tuple(map(CellType, rewritten.injected.values()))
        # Picks the closure of `code` from the original closure followed by `cells`.
        self.closure = _picker([parameters.index(name) for name in code.co_freevars])


def lasts(value: Any) -> bool:
    """Return whether an object is never freed, or nothing that could hold a function."""
    if not issubclass(type(value), ModuleType):
        return True
    return value.__name__.partition(".")[0] in LASTING


class _Entry:
    """The data remembered for one code object, which is alive as long as `code()` is not None."""

    __slots__ = ("code", "variants")

    def __init__(self, code: CodeType) -> None:
        # All that the callback needs is bound to it: at exit the module may be empty already.
        self.code = weakref.ref(code, partial(_forget, _entries, id(code)))
        self.variants: tuple[Derived, ...] = ()


# Code objects compare by value, so the key is the identity, guarded by a weak reference.
_entries: dict[int, _Entry] = {}
_lock = threading.RLock()


def derive(
    code: CodeType, globals_: dict[str, Any], in_parts: bool = False, loops: LoopForm = "plain"
) -> Derived:
    """Return the rewritten form of a function's code, the same object as long as it fits.

    Of the globals only whether some names are modules or builtins is read; a later call finds out
    if that changed, and derives again.

    Parameters
    ----------
    in_parts : bool
        Whether its loops are compiled.
    loops : {"plain", "counted", "passes"}
        Whether the steps of its loops are counted, by the meter of the context, or some of their
        passes run again, within its budget of memory.
    """
    entry = _entries.get(id(code))
    if entry is not None and entry.code() is code:
        for derived in entry.variants:
            if _fits(derived, globals_, in_parts, loops):
                return derived
    with _lock:
        entry = _entries.get(id(code))
        if entry is None or entry.code() is not code:
            entry = _entries[id(code)] = _Entry(code)
        for derived in entry.variants:
            if _fits(derived, globals_, in_parts, loops):
                return derived
        try:
            derived = _derive(code, globals_, in_parts, loops)
        except SourceUnavailableError:
            if not in_parts:
                raise
            return derive(
                code, globals_, loops=loops
            )  # when that was made there was a source, perhaps
        entry.variants = (derived, *entry.variants[: _VARIANTS_KEPT - 1])
        return derived


def _fits(derived: Derived, globals_: dict[str, Any], in_parts: bool, loops: LoopForm) -> bool:
    if derived.in_parts is not in_parts or derived.loops != loops:
        return False
    for name, value in derived.assumed:
        if global_value(globals_, name) is not value:
            return False
    for name, reference in derived.assumed_weakly:
        if reference() is None or globals_.get(name) is not reference():
            return False
    return True


def _forget(entries: dict[int, _Entry], key: int, reference: weakref.ref[CodeType]) -> None:
    # No lock: this may run within any allocation, also one made under the lock by this thread.
    entry = entries.get(key)
    if entry is not None and entry.code is reference:
        del entries[key]


def _derive(code: CodeType, globals_: dict[str, Any], in_parts: bool, loops: LoopForm) -> Derived:
    # Here, as the first derivative needs what `import mooncake_py` does not: the whole compiler.
    from mooncake_py.frontend.counted_loops import with_counted_loops
    from mooncake_py.frontend.rewrite import rewrite
    from mooncake_py.frontend.sites import with_sites

    linecache.lazycache(code.co_filename, globals_)  # the text may be known to a loader only
    source = locate(code, globals_)
    code = source.named(code)
    if isinstance(source.node, ast.GeneratorExp):
        raise _generator_expression(code)
    rewritten = rewrite(source, code, globals_, in_parts, loops)
    is_generator = bool(code.co_flags & _CO_GENERATOR)
    if loops == "counted" and not is_generator:  # which would be within its caller's loop
        rewritten = rewritten._replace(node=with_counted_loops(rewritten.node))
    node, sites = with_sites(rewritten.node)
    rewritten = rewritten._replace(injected={**rewritten.injected, **sites})
    parameters = (*code.co_freevars, *rewritten.injected)
    new = source.compile(node, code, parameters)
    return Derived(code, new, rewritten, parameters, in_parts, loops)


def _picker(positions: list[int]) -> Any:
    """Return a function that takes the items at some positions of a tuple, as a tuple."""
    if len(positions) == 1:
        return itemgetter(slice(positions[0], positions[0] + 1))
    return itemgetter(*positions) if positions else None


def _generator_expression(code: CodeType) -> SourceUnavailableError:
    return SourceUnavailableError(
        f"{code.co_qualname} cannot be derived alone",
        where=start_of(code),
        why="a generator expression is derived with the function that contains it, but this "
        "one\n"
        "started outside of differentiated code",
        fix="write it within the differentiated function, or pass a list",
    )


def instantiate(derived: Derived, function: FunctionType) -> FunctionType:
    """Make the rewritten function that stands for `function`, and shares all but its code.

    It is called with the arguments of `function` and ``_mk_ctx=context``.
    """
    pick = derived.closure
    new = FunctionType(
        derived.code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        None if pick is None else pick((function.__closure__ or ()) + derived.cells),
    )
    new.__kwdefaults__ = function.__kwdefaults__
    new.__qualname__ = function.__qualname__
    return new


def show_source(derived: Derived) -> str:
    """Return the rewritten function as text, headed by its origin and the injected constants.

    Deterministic: the same function gives the same text.
    """
    lines = [f"# {derived.qualname}, rewritten from {derived.file}:{derived.first_line}"]
    for name, value in derived.injected.items():
        text = value.__name__ if isinstance(value, type | FunctionType) else repr(value)
        lines.append(f"# {name} = {text}")
    node = derived.node
    if isinstance(node, ast.FunctionDef):
        # Decorators were applied to the original function, and are not applied again.
        node = replaced(node, decorator_list=[])
    lines.append(ast.unparse(node))
    return "\n".join(lines) + "\n"
