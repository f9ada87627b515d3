"""Calls of SciPy's solvers, with functions and objects of the program's as arguments, as nodes.

    x = brentq(lambda y: price(y, rate) - quoted, 0.0, 1.0)

The solver runs as it does outside of compiled code, and so do its derivative and the function that
it calls, which may be compiled on its own.  Of results only what is listed here is read.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from mooncake_py.compiler.native.building.types import ObjectType
from mooncake_py.compiler.native.building.values import (
    Known,
    Number,
    Object,
    Tuple,
    Unfit,
    Unread,
    Value,
)
from mooncake_py.compiler.native.nodes.derivatives import Function
from mooncake_py.compiler.native.nodes.node import Leaf, Node
from mooncake_py.compiler.native.nodes.text import defined
from mooncake_py.compiler.native.reading import explicit_solvers
from mooncake_py.compiler.native.reading.call_nodes import Before, require_calls, results_of
from mooncake_py.compiler.native.reading.closures import Closures
from mooncake_py.compiler.native.reading.constants import python_of
from mooncake_py.compiler.native.reading.pure_calls import Form
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.compiler.regions.ir import Const

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.calls import CallReader
    from mooncake_py.compiler.native.reading.reader import FunctionReader

__all__ = ["called"]

FLOAT_NUMBER = Leaf("float", None)
VECTOR, MATRIX = Leaf(FLOAT, 1), Leaf(FLOAT, 2)


class Solution:
    """The result of a solver while it is read: an object with the attributes that are supported."""


class Solver(NamedTuple):
    """What a solver returns.

    Attributes
    ----------
    leaves : dict of str to Leaf
        By the text of a part of the result `r`.
    made : callable
        Takes the reader and the values of these, returns the result.
    refused : dict of str to object
        Options by name, and their values that do not change what it returns.
    succeeds : bool
        Whether the result tells of success: where it does not, the region is left.
    stepped : callable, optional
        Takes the reader and the arguments; returns those of its steps if these can be read.
    """

    leaves: dict[str, Leaf]
    made: Callable[[FunctionReader, Sequence[Value]], Value]
    refused: dict[str, Any]
    succeeds: bool = False
    stepped: Callable[..., Sequence[Value] | None] | None = None


def first(r: FunctionReader, found: Sequence[Value]) -> Value:
    """Return the only result."""
    return found[0]


def with_error(r: FunctionReader, found: Sequence[Value]) -> Value:
    """Return an integral with the estimate of its error, which has no derivative."""
    return Tuple((found[0], Unread("the error that `quad` estimates")))


def with_attributes(*names: str) -> Callable[[FunctionReader, Sequence[Value]], Value]:
    """Return the function that makes an object of results; its solver has succeeded."""

    def made(r: FunctionReader, found: Sequence[Value]) -> Value:
        return solution(r, dict(zip(names, found, strict=True)))

    return made


def solution(r: FunctionReader, parts: Mapping[str, Value]) -> Value:
    """Return an object with some attributes."""
    kind = ObjectType(weakref.ref(Solution), False, ())
    o = Object(r.b.fresh("o"), Solution, kind, ())
    for name, value in {"success": Number(Const(True), "bool"), **parts}.items():
        r.bind_at_first(o, name, value)
    return o


ROOT = Solver({"float(r)": FLOAT_NUMBER}, first, {"full_output": False})
KNOWN: dict[str, dict[str, Solver]] = {
    "scipy.integrate": {
        "quad": Solver(
            {"float(r[0])": FLOAT_NUMBER}, with_error, {"full_output": 0, "complex_func": False},
        ),
        "odeint": Solver({"r": MATRIX}, first, {"full_output": 0}),
    },
    "scipy.optimize": {
        "brentq": ROOT, "brenth": ROOT, "ridder": ROOT, "bisect": ROOT, "toms748": ROOT,
        "fsolve": Solver({"r": VECTOR}, first, {"full_output": 0}),
        "root": Solver({"r.x": VECTOR}, with_attributes("x"), {}, succeeds=True),
        "minimize": Solver(
            {"r.x": VECTOR, "float(r.fun)": FLOAT_NUMBER}, with_attributes("x", "fun"), {},
            succeeds=True,
        ),
        "least_squares": Solver({"r.x": VECTOR}, with_attributes("x"), {}, succeeds=True),
    },
}  # fmt: skip
"""By modules and names."""


def called(
    r: CallReader, f: Any, args: Sequence[Value], given: Mapping[str, Value]
) -> Value | None:
    """Return the result of a solver, None for any other function.

    Raises
    ------
    Unfit
        The function that it calls may do more than compute, or the result is not supported.
    """
    solver = solver_of(r, f, given)
    if solver is None:
        return None
    require_calls(r)
    if r.findings.class_attributes:
        raise Unfit("a solver in a function that assigns attributes of classes", r.b.place)
    for name, value in given.items():
        if name in solver.refused and python_of(value) != solver.refused[name]:
            raise Unfit(f"{f.__name__} with {name}", r.b.place)
    before = Before.of(r.b)
    operands = Closures(cast("FunctionReader", r))
    texts = [operands.text_of(v) for v in args]
    texts += [f"{name}={operands.text_of(v)}" for name, v in given.items()]
    require_unwritten(operands)
    stepped = None
    if solver.stepped is not None and not operands.effects.are_seen:
        stepped = solver.stepped(operands.r, args, given)
    if stepped is not None:
        before.restore(r.b)
        found = explicit_solvers.read(operands.r, stepped)
        forget_written(r, operands)
        return solver.made(operands.r, found)
    checks = ["if not r.success: raise ValueError"] if solver.succeeds else []
    body = [
        *operands.lines,
        f"r = f({', '.join(texts)})",
        *checks,
        f"return ({''.join([f'{text}, ' for text in solver.leaves])})",
    ]
    function = defined(operands.names, body, {**operands.scope, "f": f})
    leaves = tuple(solver.leaves.values())
    node = Node(Function(function), operands.takes, leaves)
    shapes = tuple([(None,) * (leaf.axes or 0) for leaf in leaves])
    form = Form(leaves, shapes, (True,) * len(leaves), is_tuple=True)
    found = results_of(r.b, node, operands, form)
    forget_written(r, operands)
    return solver.made(operands.r, found)


def solver_of(r: CallReader, f: Any, given: Mapping[str, Value]) -> Solver | None:
    """Return the description of a solver, None for any other function."""
    name = str(getattr(f, "__name__", ""))
    if name == "solve_ivp" and f is getattr(sys.modules.get("scipy.integrate"), name, None):
        return of_solve_ivp(r, given)
    for module, table in KNOWN.items():
        if name in table and f is getattr(sys.modules.get(module), name, None):
            return table[name]
    return None


def of_solve_ivp(r: CallReader, given: Mapping[str, Value]) -> Solver:
    """Return the result of `solve_ivp`: times of events are listed by event."""
    events = given.get("events", Known(None))
    count = len(events.items) if isinstance(events, Tuple) else int(events != Known(None))
    leaves = {"r.t": VECTOR, "r.y": MATRIX}
    leaves |= {f"r.t_events[{k}]": VECTOR for k in range(count)}

    def made(r: FunctionReader, found: Sequence[Value]) -> Value:
        times = Tuple(tuple(found[2:]), is_list=True) if count else Known(None)
        return solution(r, {"t": found[0], "y": found[1], "t_events": times, "sol": Known(None)})

    return Solver(
        leaves, made, {"dense_output": False}, succeeds=True, stepped=explicit_solvers.stepped
    )


def require_unwritten(operands: Closures) -> None:
    """Raise if a function writes attributes of objects that are there outside."""
    for o in operands.objects:
        held = {name for name, _ in o.type.attributes} & operands.effects.attributes
        if o.path and held:
            raise Unfit(
                f"a function that a solver calls and that assigns to the attribute {min(held)} of "
                "an object that is passed",
                operands.b.place,
            )


def forget_written(r: CallReader, operands: Closures) -> None:
    """Have no one read the attributes that functions have written, in objects of their own.

    What finds a zero between steps that are read may write them: no one asks for them there.
    """
    if explicit_solvers.is_text(r.scope.function):
        return
    for o in operands.objects:
        for name in operands.effects.attributes:
            slot = Slot(f"{o.name}.", name)
            if slot in r.slots.values:
                r.slots.maybe.pop(slot, None)
                r.slots.values[slot] = Unread(
                    f"the attribute {name}, which a function that a solver calls has assigned"
                )
