"""Code that runs without being differentiated, with a check of its changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from numpy import ndarray

from mooncake_py.application.own_pullbacks import Checked
from mooncake_py.boundary.arguments import name_of
from mooncake_py.boundary.detached import Bare
from mooncake_py.boundary.kept import note_holder
from mooncake_py.boundary.writes import nodes_of
from mooncake_py.containers.containers import module_of
from mooncake_py.containers.reach import CONTAINERS, Walk, joined, parts_of
from mooncake_py.containers.state import old_cell, restore_cell
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.errors import UntrackedWriteError
from mooncake_py.language import draws
from mooncake_py.modes.debug.snapshot import (
    Snapshot,
    difference_between,
    holds_the_same,
    is_plain_array,
    named_parts,
    restore,
)
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modules import package_of
from mooncake_py.overriding import override
from mooncake_py.recomputation.outcome import checksum
from mooncake_py.rules.declare import contextual
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT, holds_inert, is_iterator, parts
from mooncake_py.runtime.enclosing import enclosed
from mooncake_py.runtime.memory import undo_assign
from mooncake_py.runtime.pulls import STATES
from mooncake_py.tangents.fields import own_attributes, set_own_attributes
from mooncake_py.tangents.memory import is_writeable, owner
from mooncake_py.utilities.stopping import stop_gradient
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = [
    "Reachable", "Watch", "has_changed", "ignore_derivatives", "is_known", "restorer",
    "run_watched",
]  # fmt: skip


def ignore_derivatives(x: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Run a function without differentiating it, or drop the derivative of a value.

    Parameters
    ----------
    x : callable or object
        A function is called natively with `args` and `kwargs`, with plain numbers for active ones:
        it may be compiled, plot, or write to a file.  Its changes persist after the derivative, and
        must not affect data that the derivative depends on: it may append to a list that the rest
        of the program does not use.  For any other value, the result is that of
        :func:`stop_gradient`.
    *args, **kwargs
        Arguments for the function.

    Returns
    -------
    object
        The result of the function, as a constant.

    Raises
    ------
    UntrackedWriteError
        If the function changes data that the derivative depends on: memory used in the computation,
        and containers and objects that the program has changed or that hold active numbers.  The
        check covers data that can be reached from the function and its arguments through captured
        variables, attributes and globals.
    DerivativeDropError
        If the function returns an iterator.

    Notes
    -----
    A part that runs a second time, for a checkpoint or an outer derivative, gets the result of the
    first run; the function itself runs once.

    The time is proportional to the data that the function can reach; arrays used by the derivative
    are copied.

    Examples
    --------
    >>> from mooncake_py import grad, ignore_derivatives
    >>> history = []
    >>> def f(x):
    ...     for _ in range(3):
    ...         x = x * x
    ...         ignore_derivatives(history.append, x)
    ...     return x
    >>> grad(f)(2.0)
    1024.0
    >>> history
    [4.0, 16.0, 256.0]
    """
    return x(*args, **kwargs) if callable(x) else stop_gradient(x)


@contextual(ignore_derivatives)
def ignore_inside(ctx: Mode, x: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Run the function natively inside a derivative, and check its changes."""
    if not callable(x):
        return ctx.call(stop_gradient, x)
    watch = Watch(ctx, x, args, kwargs)
    arrays = [*Untracked(ctx, x, args, kwargs).found()] if draws.repeats() else []

    def run() -> tuple[Any, list[Any]]:
        y = run_watched(ctx, watch, x, args, kwargs)
        return y, [*watch.changed, *(a for a, before in arrays if checksum(a) != before)]

    def has_run(changed: list[Any]) -> bool:
        """Return whether a second run finds the very objects that the first one has changed."""
        reached = {id(holder) for _, holder, _ in watch.before} | {id(a) for a, _ in arrays}
        return reached.issuperset(map(id, changed))

    y = draws.once(run, has_run)
    if is_iterator(type(y)):
        raise dropped(
            ctx,
            f"{name_of(x)} returned {with_article(type(y).__name__)} inside ignore_derivatives",
            why="its items would be computed later, in the derivative's sight",
            fix="return a list",
        )
    return ctx.call(stop_gradient, y) if ctx.contains_active(y) else y


def run_watched(ctx: Mode, watch: Watch, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function natively, with plain numbers for active ones."""
    with ctx.outside(), enclosed(None), watch, Bare(ctx) as bare:
        f, args, kwargs = (bare.visit(part)[0] for part in (f, args, kwargs))
        return f(*args, **kwargs)


class Reachable(Snapshot):
    """The data that a function can reach; of arrays only those that the derivative has used."""

    def __init__(self, ctx: Mode, f: Any, args: Any, kwargs: Any) -> None:
        self.ctx = ctx
        super().__init__(None, args, kwargs)  # to look up the names of parameters takes long
        self.follow(name_of(f), f)

    @override
    def may_change(self, value: Any) -> bool:
        return not is_plain_array(value) or is_known(self.ctx, value)


class Untracked(Walk):
    """The arrays that a function can reach, and that the derivative has not used."""

    def __init__(self, ctx: Mode, f: Any, args: Any, kwargs: Any) -> None:
        super().__init__()
        self.ctx = ctx
        self.arrays: list[ndarray] = []
        for value in (f, *args, *kwargs.values()):
            self.follow("", value)

    @override
    def meet(self, path: str, value: Any) -> None:
        if is_plain_array(value) and is_writeable(value) and not is_known(self.ctx, value):
            self.arrays.append(value)

    def found(self) -> Iterator[tuple[ndarray, Any]]:
        """Yield each with what tells whether it changes."""
        for a in self.arrays:
            yield a, checksum(a)


class Watch:
    """A context manager around a call, which checks the data that the function can reach."""

    def __init__(self, ctx: Mode, f: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self.ctx = ctx
        self.f = f
        self.changed: list[Any] = []
        self.before = Reachable(ctx, f, args, kwargs).kept
        self.restorers = [restorer(holder, old) for _, holder, old in self.before]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *details: object) -> None:
        """Restore changed data that the derivative depends on, and raise if there are any."""
        changes = [
            (path, holder, old, put_back)
            for (path, holder, old), put_back in zip(self.before, self.restorers, strict=True)
            if has_changed(holder, old)
        ]
        self.changed = [holder for _, holder, *_ in changes]
        for path, holder, old, _ in changes:
            objection = self.objection(holder, old)
            if objection:
                found = difference_between(holder, old)
                for *_, put_back in changes:
                    put_back()
                raise self.refusal(path, found, objection)
        for _, holder, old, _ in changes:
            if not is_plain_array(holder):
                note_holder(self.ctx, holder, named_parts(holder, old).values())

    def objection(self, holder: Any, old: Any) -> str:
        """Return the reason why a changed value must not change; empty if it may."""
        ctx = self.ctx
        if is_plain_array(holder):
            return "the derivative has computed with it"
        contexts = (ctx, *ctx.outers)
        tapes = [noted(each) for each in contexts if isinstance(each, ReverseContext)]
        if any(id(place) in ids for place in places(holder) for ids in tapes):
            return "the differentiated code has changed it too, or reads it on the reverse pass"
        if type(holder) in CONTAINERS and holds_inert(old):
            return ""
        before, now = named_parts(holder, old), dict(parts_of(holder))
        active = any(
            ctx.contains_active(holder if name not in now else part)
            for name, part in before.items()
            if now.get(name) is not part
        )
        return "it held active values" if active else ""

    def refusal(self, path: str, found: Any, objection: str) -> Exception:
        """Return the error for a forbidden change."""
        part, new, former = found
        error = UntrackedWriteError(
            f"{name_of(self.f)} changed data that the derivative depends on, inside "
            "ignore_derivatives",
            where=self.ctx.user_location(),
            why=f"{joined(path, part)} is {new}, and was {former} before;\n{objection}",
            fix="do such writes outside of ignore_derivatives (or, to a log, all of them inside), "
            "or\nlet the function work on a copy",
        )
        self.ctx.failed(error)
        return error


def is_known(ctx: Mode, a: ndarray) -> bool:
    """Return whether an array is active, or the tape may refer to its present or past contents.

    The enclosing derivatives count too; the usual look-up of an array in them would be an error.
    """
    block = owner(a)
    for context in (ctx, *ctx.outers):
        for nodes in (nodes_of(context), context.registry.constants):
            node = dict.get(nodes, id(block))
            if node is not None and node.ref() is block:
                return True
    return False


def has_changed(holder: Any, old: Any) -> bool:
    """Return whether a value has changed: the quick part of `difference_between`."""
    if type(holder) in CONTAINERS:
        return not holds_the_same(holder, old)
    return difference_between(holder, old) is not None


def places(holder: Any) -> list[Any]:
    """Return the objects that the tape would name in an entry about a change of `holder`."""
    if issubclass(type(holder), FunctionType):
        return [holder, holder.__globals__, *(holder.__closure__ or ())]
    return [holder]


def restorer(holder: Any, old: Any) -> Callable[[], None]:
    """Return a function that restores the contents of an array, a container or an object."""
    if is_plain_array(holder):
        return lambda: restore(holder, old)
    if issubclass(type(holder), FunctionType):
        cells = [(cell, old_cell(cell)) for cell in holder.__closure__ or ()]
        return lambda: restore_cells(cells)
    module = module_of(holder)
    if module is not None:
        contents = old if type(holder) in CONTAINERS else module.contents(holder)
        return lambda: module.restore(holder, contents)
    fields = own_attributes(holder)
    return lambda: set_own_attributes(holder, fields)


def restore_cells(cells: list[tuple[Any, Any]]) -> None:
    """Restore the bindings of captured variables."""
    for cell, old in cells:
        restore_cell(cell, old)


class Noted:
    """The ids of the containers and objects that the entries of a tape may change or read."""

    def __init__(self) -> None:
        self.length = 0  # of the tape, when it was last looked at
        self.last: Any = None  # entry then
        self.ids: set[int] = set()

    def update(self, tape: list[tuple[Any, ...]]) -> set[int]:
        """Read the new entries, and return all ids."""
        if self.length and (len(tape) < self.length or tape[self.length - 1] is not self.last):
            self.__init__()  # a part runs again: much of the tape has been reversed
        for entry in tape[self.length :]:
            if entry[0] in STATES:
                self.ids.add(id(entry[2]))  # what it puts there is not looked into
            elif entry[0] is not undo_assign:
                for part in entry[1:]:
                    self.add(part)
        self.length = len(tape)
        self.last = tape[-1] if tape else None
        return self.ids

    def add(self, value: Any) -> None:
        """Add a value, and the values that it holds or has captured."""
        if type(value) is Checked:  # what debug mode makes of a pullback
            value = value.pullback
        t = type(value)
        if t in INERT or t is Active or issubclass(type(value), ndarray) or id(value) in self.ids:
            return
        if package_of(t) == "mooncake_py":
            return
        self.ids.add(id(value))
        for part in parts(value):
            self.add(part)


_noted: WeakKeyDictionary[Any, Noted] = WeakKeyDictionary()


def noted(ctx: ReverseMode) -> set[int]:
    """Return the ids of the objects that a tape refers to, and so keeps alive."""
    ids = _noted.setdefault(ctx, Noted()).update(ctx.tape)
    return ids if ctx.rehearsal is None else ids.union(ctx.rehearsal.changes.groups)
