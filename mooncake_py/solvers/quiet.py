"""Solvers whose callbacks can change nothing: functions that only read numbers, arrays and lists.

Most are: then there is no state to look for, to compare and to put back.  Whether code can change
anything is found out once; what a function reads is looked at for each solve.  Whatever is not
known to be harmless is left to `Run`.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy import ndarray

from mooncake_py.containers import beyond
from mooncake_py.containers.reach import names_read
from mooncake_py.derivatives import Derivative
from mooncake_py.diagnostics.places import is_library
from mooncake_py.modules import DISPATCHER
from mooncake_py.overriding import override
from mooncake_py.remembered import remembered
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT, unwrapped
from mooncake_py.runtime.enclosing import enclosed
from mooncake_py.solvers.held_still import has_own_memory, held_still, is_refused_write
from mooncake_py.solvers.start import Solved
from mooncake_py.tangents.memory import is_writeable

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Quiet", "quiet"]

DATA = INERT - {type, ModuleType}
NUMBERS = frozenset({int, float, Active})
BY_NAME = beyond.OF_INTERPRETER | {"getattr", "setattr", "delattr"}
RUNS_LATER = 0x20 | 0x80 | 0x200
"""Flags of the code of generators and coroutines."""
REBIND = frozenset({
    "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_NAME", "DELETE_NAME", "STORE_ATTR", "DELETE_ATTR",
    "IMPORT_NAME", "LOAD_BUILD_CLASS",
})  # fmt: skip
REBIND_CAPTURED = frozenset({"STORE_DEREF", "DELETE_DEREF"})
STORE = frozenset({"STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR"})
NAMES = """
    add append appendleft at base byteswap clear copyto discard extend fill fill_diagonal heapify
    heappop heappush heapreplace insert itemset nan_to_num out partition place pop popitem popleft
    put put_along_axis putmask remove resize reverse rotate setdefault setfield setflags shuffle
    sort update
"""
WRITERS = frozenset(NAMES.split())
"""Methods and functions that change what they are given, or may."""


class Code(NamedTuple):
    """What the code of a function may do besides computing."""

    rebinds: bool  # variables, attributes; or it finds objects by their names
    writes: bool  # into what it is given
    names: tuple[str, ...]


@remembered
def read(code: CodeType) -> Code:
    """Return what code may do, that of nested functions included."""
    names = beyond.names_in(code)
    rebinds = bool(names.introspects or names.imported or BY_NAME & names.variables)
    rebinds |= bool(code.co_flags & RUNS_LATER) or is_library(code.co_filename)
    found = names_read(code)
    writes = not WRITERS.isdisjoint(found)
    for inner in codes(code):
        # Among these are the names of keywords.
        texts = [p for c in inner.co_consts for p in (c if type(c) is tuple else (c,))]
        writes |= any(map(is_writing_option, texts))
        for instruction in dis.get_instructions(inner):
            name = instruction.opname
            if name in REBIND:
                rebinds = True
            elif name in REBIND_CAPTURED:
                rebinds |= instruction.argval in inner.co_freevars
            elif name in STORE or (name == "BINARY_OP" and instruction.argrepr.endswith("=")):
                writes = True
    return Code(rebinds, writes, tuple(found))


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield code, and that of the functions within it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from codes(part)


def is_writing_option(name: Any) -> bool:
    """Return whether a keyword lets a function write into an argument."""
    return isinstance(name, str) and (name in ("out", "copy") or name.startswith("overwrite"))


class Reader:
    """Looks at all that callbacks read, and says whether they can change any of it.

    Attributes
    ----------
    arrays : list of ndarray
    numbers : int
        How many active ones were met.
    """

    def __init__(self, ctx: Mode) -> None:
        self.ctx = ctx
        self.running = (ctx, *ctx.outers)
        self.arrays: list[ndarray] = []
        self.numbers = 0
        self.has_memory = False  # that could be written
        self.writes = False
        self.entered: set[int] = set()
        self.known: dict[int, int] = {}  # by id, how many active numbers are held

    @property
    def is_active(self) -> bool:
        """Return whether anything that was met is."""
        return self.numbers > 0 or any(self.ctx.find(a) is not None for a in self.arrays)

    def is_quiet(self, values: Iterable[Any]) -> bool:
        """Return whether nothing that can be reached from arguments of a solver is changed."""
        for value in values:
            if type(value) in (list, tuple) and NUMBERS.issuperset(map(type, value)):
                if not all(map(self.reads, value)):  # a point, which the solver copies
                    return False
            elif not self.reads(value):
                return False
        return not (self.writes and self.has_memory)

    def reads(self, value: Any) -> bool:
        """Return whether a value is data, or a function that only reads."""
        t = type(value)
        if t in DATA:
            return True
        if t is Active:
            self.numbers += 1
            return self.is_of_these(value)
        if t is ndarray:
            self.has_memory = True
            self.arrays.append(value)
            return value.dtype.kind in "fcbiu" and (
                has_own_memory(value) or not is_writeable(value)
            )
        if t is FunctionType:
            return self.holder_reads(value, self.function_reads)
        if t in (tuple, list, dict):
            self.has_memory |= t is not tuple
            return self.holder_reads(value, self.container_reads)
        return is_known_module(value) if t is ModuleType else computes_only(value)

    def is_of_these(self, value: Any) -> bool:
        """Return whether a number is one of a derivative that is running."""
        while type(value) is Active:
            if value.context not in self.running:
                return False
            value = value.primal
        return True

    def holder_reads(self, value: Any, reads: Callable[[Any], bool]) -> bool:
        """Return the same for what holds others, unless it holds itself."""
        key = id(value)
        if key in self.known:
            self.numbers += self.known[key]
            return True
        if key in self.entered:
            return False
        self.entered.add(key)
        before = self.numbers
        if not reads(value):
            return False
        self.known[key] = self.numbers - before
        return True

    def container_reads(self, value: Any) -> bool:
        """Return the same for a list, a tuple or a dict."""
        if type(value) is dict and not DATA.issuperset(map(type, value)):
            return False
        return all(map(self.reads, value.values() if type(value) is dict else value))

    def function_reads(self, f: FunctionType) -> bool:
        """Return the same for a function of the user's, and all that it reads by name."""
        code = read(f.__code__)
        has_rule = self.ctx.handlers_at.get(id(f)) is not None
        if code.rebinds or f.__dict__ or f.__kwdefaults__ or has_rule:
            return False
        self.writes |= code.writes
        if f.__closure__ is not None:
            try:
                held = [cell.cell_contents for cell in f.__closure__]
            except ValueError:  # not bound yet
                return False
            if not all(map(self.reads, held)):
                return False
        if f.__defaults__ is not None and not all(map(self.reads, f.__defaults__)):
            return False
        return self.globals_read(f.__globals__, code.names)

    def globals_read(self, scope: dict[str, Any], names: tuple[str, ...]) -> bool:
        """Return the same for global variables, which must not hold active numbers."""
        before = self.numbers
        for name in names:
            value = scope.get(name)
            if type(value) not in DATA and not self.reads(value):
                return False
        return self.numbers == before


@remembered
def is_known_module(module: ModuleType) -> bool:
    """Return whether the functions of a module compute only."""
    return not beyond.is_users_module(module) and not beyond.module_leads_beyond(module)


@remembered
def computes_only(value: Any) -> bool:
    """Return whether a value is a function or a class of a library that computes only."""
    is_function = type(value) in (BuiltinFunctionType, DISPATCHER)
    if type(value) is BuiltinFunctionType and type(value.__self__) is not ModuleType:
        return False
    is_class = type(value) is type and beyond.is_of_library(value)
    return (is_function or is_class) and not beyond.leads_beyond(value)


class Quiet(Solved):
    """One call of such a solver within a derivative."""

    def __init__(self, ctx: Mode, is_active: bool, arrays: list[ndarray]) -> None:
        super().__init__(ctx)
        self.begin = [] if is_active else None
        self.arrays = arrays if is_active else []

    def solve(self, f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Return what a solver finds from plain numbers; `NotImplemented` if it cannot be known."""
        try:
            with held_still(self.arrays):
                return self.evaluated(f, *args, **kwargs)
        except ValueError as error:
            if self.arrays and is_refused_write(error):
                return NotImplemented
            raise

    @override
    def evaluated(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        known: dict[int, Any] = {}
        args = tuple([bare(value, known) for value in args])
        kwargs = {name: bare(value, known) for name, value in kwargs.items()}
        with self.ctx.outside(), enclosed(None):
            return f(*args, **kwargs)


def quiet(ctx: Mode, args: Any, kwargs: Any) -> Quiet | None:
    """Return the call of a solver whose callbacks can change nothing, None if they perhaps can."""
    if ctx.watches or ctx.objects or ctx.numerals is not None:
        return None
    reader = Reader(ctx)
    if not reader.is_quiet((*args, *kwargs.values()) if kwargs else args):
        return None
    return Quiet(ctx, reader.is_active, reader.arrays)


def bare(value: Any, known: dict[int, Any]) -> Any:
    """Return data and functions with plain numbers in place of active ones.

    What holds none is returned itself.
    """
    t = type(value)
    if t in DATA:
        return value
    if t is Active:
        return unwrapped(value)
    if t is FunctionType:
        if id(value) not in known:
            known[id(value)] = bare_function(value, known)
        return known[id(value)]
    if t in (tuple, list):
        parts = [bare(part, known) for part in value]
        return value if all(map(is_same, parts, value)) else t(parts)
    if t is dict:
        parts = {key: bare(part, known) for key, part in value.items()}
        return value if all(map(is_same, parts.values(), value.values())) else parts
    if isinstance(value, Derivative):
        return value.of(bare(value.function, known))
    return value


def is_same(a: Any, b: Any) -> bool:
    """Return whether two values are one object."""
    return a is b


def bare_function(f: FunctionType, known: dict[int, Any]) -> FunctionType:
    """Return a function with plain numbers among its captured variables and defaults."""
    held = [cell.cell_contents for cell in f.__closure__ or ()]
    parts = [bare(part, known) for part in held]
    defaults = bare(f.__defaults__, known)
    if defaults is f.__defaults__ and all(map(is_same, parts, held)):
        return f
    cells = tuple(map(CellType, parts)) if parts else None
    return FunctionType(f.__code__, f.__globals__, f.__name__, defaults, cells)
