"""Parts of arrays as NumPy has them: slices, where counters go in steps, else arrays of ints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mooncake_py.compiler.native.numpy_text.lengths import Lengths
from mooncake_py.compiler.native.numpy_text.scalars import Scalars, from_end
from mooncake_py.compiler.native.regions.linear import Linear, linear
from mooncake_py.compiler.regions.ir import Const, Expr, Length, Load, Name, parts_of

__all__ = ["Axis", "Loops", "axes_of", "expanded", "parts_of_index"]

Axes = tuple[str, ...]
NOTHING = frozenset[str]()


class Loops:
    """The counters of a statement for all indices, how far they go, and what depends on them.

    Attributes
    ----------
    counters : tuple of str
    extents : mapping of str to Expr
    lets : dict of str to tuple of str
        By names of the statement that are bound to arrays the counters of their axes.
    values : dict of str to Expr
        What these names stand for.
    """

    def __init__(self, counters: Axes, extents: Mapping[str, Expr]) -> None:
        self.counters = counters
        self.extents = extents
        self.lets: dict[str, Axes] = {}
        self.values: dict[str, Expr] = {}
        self._known: dict[int, tuple[Expr, frozenset[str]]] = {}

    def bind(self, name: str, value: Expr) -> None:
        """Note what a name stands for that a statement binds."""
        self.lets[name], self.values[name] = self.axes(value), value
        self._known.clear()

    def axes(self, *parts: Expr) -> Axes:
        """Return the counters on which expressions depend, in their order."""
        found = frozenset[str]().union(*map(self._of, parts))
        return tuple([k for k in self.counters if k in found])

    def _of(self, e: Expr) -> frozenset[str]:
        """Return names on which an expression depends: each level asks for those below it."""
        if isinstance(e, Name):
            return frozenset(self.lets.get(e.name, (e.name,)))
        found = self._known.get(id(e))
        if found is None:
            parts = parts_of(e)
            own = frozenset[str]().union(*map(self._of, parts)) if parts else NOTHING
            found = self._known[id(e)] = e, own.intersection(self.counters)
        return found[1]


def axes_of(loops: Loops, target: Load | Name) -> Axes:
    """Return the counters that an element has."""
    return loops.axes(*target.index) if isinstance(target, Load) else ()


class Axis(NamedTuple):
    """How an index goes along an axis: an int, or by steps of a counter, or as it may."""

    e: Expr
    counter: str = ""
    step: int = 0
    is_free: bool = False


def parts_of_index(loops: Loops, index: Iterable[Expr]) -> list[Axis]:
    """Return how an index goes along each axis of an array."""
    return [part_of_index(loops, i) for i in index]


def part_of_index(loops: Loops, i: Expr) -> Axis:
    """Return how an index goes along one axis."""
    axes = loops.axes(i)
    if not axes:
        return Axis(i)
    found = linear(i)
    own = [(part, n) for part, n in found.parts.items() if loops.axes(part)]
    if len(own) == 1:
        ((part, step),) = own
        if isinstance(part, Name) and part.name in loops.counters and (step > 0 or step == -1):
            first = found.plus(Linear(0, {part: 1}), -step).expression()
            return Axis(first, part.name, step)
    return Axis(from_end(i), is_free=True)


def expanded(text: str, axes: Axes, want: Axes) -> str:
    """Return an array with new axes, so that it goes along the last of those that are wanted."""
    if not axes or axes == want[len(want) - len(axes) :]:
        return text
    start = want.index(axes[0])
    return f"{text}[{', '.join(':' if k in axes else 'None' for k in want[start:])}]"


def sliced(scalars: Scalars, lengths: Lengths, array: str, axis: int, part: Axis, n: Expr) -> str:
    """Return a slice, in steps ahead; turned later if they go back."""
    if part.step == -1:
        begin = linear(part.e).plus(linear(n), -1).plus(Linear(1, {})).expression()
        end = linear(part.e).plus(Linear(1, {})).expression()
        return f"{scalars.text(begin)}:{scalars.text(end)}"
    span = linear(n)
    if part.step > 1:
        span = Linear(0, {}).plus(span, part.step)
    end = linear(part.e).plus(span).expression()
    first = "" if part.e == Const(0) else scalars.text(part.e)
    last = "" if lengths.same(end, Length(array, axis)) else scalars.text(end)
    step = f":{part.step}" if part.step > 1 else ""
    return f"{first}:{last}{step}"
