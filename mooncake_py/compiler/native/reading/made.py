"""Inputs that are made before a region runs: what pure functions give, and random numbers.

    rng = np.random.default_rng(seed)       rng is made, and d1 = [rng.random(n) for _ in range(m)]
    for k in range(m):                      for k in range(m):
        z = rng.random(n)                       z = d1[k]

They depend on ints and lengths only, which are inputs; they are the same where these are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.regions.linear import LARGE
from mooncake_py.compiler.regions.ir import Const, Expr, Length, Name, Op

__all__ = ["Called", "Drawn", "Draws", "Made", "Unmade", "evaluated"]

MOST = 1 << 26  # numbers that are drawn for all passes of loops
OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "neg": operator.neg,
    "floordiv": operator.floordiv, "mod": operator.mod, "min": min, "max": max, "abs": abs,
    "pow": operator.pow,
}  # fmt: skip


class Unmade(Exception):
    """Raised if something cannot be made for these inputs."""


class Drawn(NamedTuple):
    """Random numbers that are drawn in one place, for each pass of the loops around it.

    Attributes
    ----------
    target : str
        The input.
    method : str
    args, given : tree
        Of constants, tuples and expressions.
    loops : tuple of (int, tuple of Expr)
        Those around it, from the outermost on: which, and low, high and step of each.
    kind : str
        Of the elements, or the type of a number.
    """

    target: str
    method: str
    args: tuple[Any, ...]
    given: dict[str, Any]
    loops: tuple[tuple[int, tuple[Expr, Expr, int]], ...]
    kind: str
    ndim: int


@dataclass
class Draws:
    """A generator, and what it draws one after another."""

    make: Callable[..., Any]
    args: tuple[Any, ...]
    given: dict[str, Any]
    drawn: list[Drawn] = field(default_factory=list)


class Called(NamedTuple):
    """A call of a pure function.

    Attributes
    ----------
    targets : tuple of str
        The inputs that its result is, or that are the items of the tuple that it is.
    """

    targets: tuple[str, ...]
    f: Callable[..., Any]
    args: tuple[Any, ...]
    given: dict[str, Any]
    kinds: tuple[Any, ...]


class Made:
    """All inputs of a region that are made before it runs.

    What is made for some ints is kept for the next call: regions copy what they write.
    """

    def __init__(self) -> None:
        self.draws: list[Draws] = []
        self.called: list[Called] = []
        self.names: list[str] = []
        self.last: tuple[Any, list[Any]] | None = None

    def added(self, inputs: Mapping[str, Any]) -> list[Any] | None:
        """Return all inputs, given those that are passed.

        None where the program would raise, or has a result of another type.
        """
        try:
            return [*inputs.values(), *self.values_for(inputs)]
        except Exception:  # what it is, the program says itself
            return None

    def values_for(self, inputs: Mapping[str, Any]) -> list[Any]:
        """Return the inputs that are made, those of the last call if the ints are the same."""
        ints = {name: inputs[name] for name in inputs if type(inputs[name]) in (int, np.int64)}
        shapes = [getattr(v, "shape", None) or sized(v) for v in inputs.values()]
        key = ints, shapes
        last = self.last
        if last is not None and last[0] == key:
            return last[1]
        found: dict[str, Any] = {}
        for draws in self.draws:
            generator = draws.make(*evaluated(draws.args, inputs), **evaluated(draws.given, inputs))
            rows: dict[str, list[Any]] = {d.target: [] for d in draws.drawn}
            draw(generator, draws.drawn, 0, inputs, rows)
            for d in draws.drawn:
                found[d.target] = gathered(d, rows[d.target], inputs)
        for call in self.called:
            result = call.f(*evaluated(call.args, inputs), **evaluated(call.given, inputs))
            parts = result if isinstance(result, tuple) else (result,)
            for name, part, kind in zip(call.targets, parts, call.kinds, strict=True):
                if type_of(part)[0] != kind[0] or np.ndim(part) != len(kind[1]):
                    raise Unmade(name)
                found[name] = part
        values = [found[name] for name in self.names]
        self.last = key, values
        return values


def sized(value: Any) -> int:
    """Return the length of a list, 0 for numbers."""
    return len(value) if type(value) is list else 0


def draw(
    generator: Any,
    drawn: Sequence[Drawn],
    depth: int,
    inputs: Mapping[str, Any],
    rows: dict[str, list[Any]],
) -> None:
    """Draw what stands in a block, pass by pass where loops are in it."""
    k = 0
    while k < len(drawn):
        d = drawn[k]
        if len(d.loops) == depth:
            args, given = evaluated(d.args, inputs), evaluated(d.given, inputs)
            rows[d.target].append(getattr(generator, d.method)(*args, **given))
            k += 1
            continue
        loop, steps = d.loops[depth]
        end = k
        while (
            end < len(drawn)
            and len(drawn[end].loops) > depth
            and drawn[end].loops[depth][0] == loop
        ):
            end += 1
        for _ in range(*evaluated(steps, inputs)):
            draw(generator, drawn[k:end], depth + 1, inputs, rows)
        k = end


def gathered(d: Drawn, rows: Sequence[Any], inputs: Mapping[str, Any]) -> Any:
    """Return the draws of one place, with an axis for each loop."""
    if not d.loops:
        (found,) = rows
        if np.ndim(found) != d.ndim or type_of(found)[0] != d.kind:
            raise Unmade(d.target)
        return found
    counts = [len(range(*evaluated(steps, inputs))) for _, steps in d.loops]
    if not rows or np.ndim(rows[0]) != d.ndim or sum(map(np.size, rows)) > MOST:
        raise Unmade(d.target)
    if not d.ndim and type_of(rows[0])[0] != d.kind:
        raise Unmade(d.target)
    found = np.stack([np.asarray(row) for row in rows]).reshape(*counts, *np.shape(rows[0]))
    if d.ndim and type_of(found)[0] != d.kind:
        raise Unmade(d.target)
    return found


def evaluated(tree: Any, inputs: Mapping[str, Any]) -> Any:
    """Return constants, and the values of expressions, in tuples, lists and dicts."""
    if isinstance(tree, tuple | list):
        return type(tree)([evaluated(part, inputs) for part in tree])
    if isinstance(tree, dict):
        return {key: evaluated(part, inputs) for key, part in tree.items()}
    match tree:
        case Const(value=value):
            return value
        case Name(name=name):
            value = inputs[name]
            if type(value) not in (int, np.int64) or not -LARGE < value < LARGE:
                raise Unmade(name)
            return int(value)
        case Length(array=array, axis=axis):
            value = inputs[array]
            return len(value) if axis == 0 else value.shape[axis]
        case Op(op=op, args=args):
            return OPERATORS[op](*[evaluated(arg, inputs) for arg in args])
    return tree
