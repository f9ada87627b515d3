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
from collections.abc import Mapping
from functools import partial
from operator import itemgetter
from types import CellType, CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from mooncake_py.compiler.reading.callees import are_met, held, same_items
from mooncake_py.diagnostics.places import start_of
from mooncake_py.errors import SourceUnavailableError
from mooncake_py.jitted import python_function
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.allowance import LoopForm
from mooncake_py.runtime.attribute_lookup import PLAIN_READS, in_cell, in_class, is_one_of
from mooncake_py.syntax.names import MISSING, global_value
from mooncake_py.syntax.nodes import OBJECT, replaced
from mooncake_py.syntax.source import locate
from mooncake_py.tangents.fields import instance_dict

if TYPE_CHECKING:
    from mooncake_py.frontend.rewrite import Rewritten

__all__ = ["Derived", "derive", "derive_given", "instantiate", "show_source"]

_CO_GENERATOR = 0x20
_VARIANTS_KEPT = 4
_SPECIALIZED_KEPT = 8
NOTHING: Mapping[str, Any] = MappingProxyType({})
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
        self.asked = rewritten.asked
        self.places = [(name, place_of(name, original)) for name in rewritten.asked]
        self.specialized: tuple[tuple[Any, Derived], ...] = ()  # for functions that are given
        self.special: tuple[tuple[Any, ...], Derived] = (), self  # the one that was used last
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


def derive_given(
    derived: Derived,
    f: FunctionType,
    args: Any,
    kwargs: Any,
    given: Mapping[str, Any] = NOTHING,
) -> Derived:
    """Return the rewritten form for the functions that are passed to this one, or captured by it.

    Only the callees of loops are looked at: those that are not yet among the `given` functions.
    """
    places = [item for item in derived.places if item[0] not in given]
    if not places:
        return derived
    found = {n: given_as(f, place, args, kwargs) for n, place in places}
    keys = tuple([g if g is None or isinstance(g, type) else code_of(g) for g in found.values()])
    known, special = derived.special
    in_parts, loops = derived.in_parts, derived.loops
    if not (are_met(keys, known) and _fits(special, f.__globals__, in_parts, loops)):
        special = _specialized(derived, f, found, given)
        derived.special = tuple(map(held, keys)), special
    if special is derived:
        return derived
    return derive_given(special, f, args, kwargs, {**given, **found})


def _specialized(
    derived: Derived, f: FunctionType, found: dict[str, Any], given: Mapping[str, Any]
) -> Derived:
    """Return the rewritten form for the value found, the same form if it is not a function."""
    # Classes are not kept alive; all weak references to one are the same object.
    codes = {n: code_of(g) or weakref.ref(g) for n, g in found.items() if g}
    if not codes:
        return derived
    in_parts, loops = derived.in_parts, derived.loops
    for known, special in derived.specialized:
        if same_items(known, codes) and _fits(special, f.__globals__, in_parts, loops):
            return special
    with _lock:
        special = _derive(f.__code__, f.__globals__, in_parts, loops, {**given, **found})
        derived.specialized = ((codes, special), *derived.specialized[: _SPECIALIZED_KEPT - 1])
    return special


class Place(NamedTuple):
    """Where a name stands that a function is given: a parameter, or an attribute of one.

    Attributes
    ----------
    position : int
        Of a positional parameter; others are further than any argument.
    """

    base: str
    attributes: list[str]
    position: int


def place_of(name: str, code: CodeType) -> Place:
    """Return where a name stands, such as ``"solver.step"``."""
    base, *attributes = name.split(".")
    captured = base in code.co_freevars
    position = sys.maxsize if captured else code.co_varnames.index(base)
    return Place(base, attributes, position if position < code.co_argcount else sys.maxsize)


def given_as(f: FunctionType, place: Place, args: Any, kwargs: Any) -> Any:
    """Return a function or bound method that a call is given, or the class of one's object.

    It is a parameter, a captured variable or an attribute of one: where the object itself has no
    such attribute, its class is returned, if that has a method.
    """
    base, attributes, position = place
    value = args[position] if position < len(args) else value_of(f, base, args, kwargs)
    if type(value) in INERT:
        return None
    for k, attribute in enumerate(attributes):
        if attribute == OBJECT:
            value = getattr(value, "__self__", None)
            continue
        t = type(value)
        if not is_one_of(t.__getattribute__, PLAIN_READS):
            return None
        value = (instance_dict(value) or {}).get(attribute, MISSING)
        if value is MISSING:
            is_method = k == len(attributes) - 1 and type(in_class(t, attribute)) is FunctionType
            return t if is_method else None
    return value if code_of(value) is not None else None


def code_of(value: Any) -> CodeType | None:
    """Return the code of a function, jitted or not, or of a bound method; None for others."""
    f = python_function(value.__func__ if type(value) is MethodType else value)
    return None if f is None else f.__code__


def value_of(f: FunctionType, name: str, args: Any, kwargs: Any) -> Any:
    """Return the value of a parameter or a captured variable in a call, else no function."""
    code = f.__code__
    if name in code.co_freevars:
        return in_cell(f, code.co_freevars.index(name))
    position = code.co_varnames.index(name)
    if position < min(len(args), code.co_argcount):
        return args[position]
    if name in kwargs:
        return kwargs[name]
    defaults = f.__defaults__ or ()
    before = code.co_argcount - len(defaults)  # the first parameter that has one
    if before <= position < code.co_argcount:
        return defaults[position - before]
    return (f.__kwdefaults__ or {}).get(name)


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


def _derive(
    code: CodeType, globals_: dict[str, Any], in_parts: bool, loops: LoopForm, given: Any = None
) -> Derived:
    # Here, as the first derivative needs what `import mooncake_py` does not: the whole compiler.
    from mooncake_py.frontend.counted_loops import with_counted_loops
    from mooncake_py.frontend.rewrite import rewrite
    from mooncake_py.frontend.sites import with_sites

    linecache.lazycache(code.co_filename, globals_)  # the text may be known to a loader only
    source = locate(code, globals_)
    code = source.named(code)
    if isinstance(source.node, ast.GeneratorExp):
        raise _generator_expression(code)
    rewritten = rewrite(source, code, globals_, in_parts, loops, given)
    if (
        loops == "counted" and not code.co_flags & _CO_GENERATOR
    ):  # which would be within its caller's loop
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
