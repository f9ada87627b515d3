"""Random numbers of generators that are made within, and results of pure functions, as inputs.

They are drawn before the region runs: see `made`.  So a draw must happen in each run, as often as
is known then, and in the order in which it is read.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.types import ArrayType, NumberType, type_of
from mooncake_py.compiler.native.building.values import (
    KINDS,
    Array,
    Drawer,
    Known,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading.constants import UNKNOWN, python_of
from mooncake_py.compiler.native.reading.made import OPERATORS, Called, Drawn, Draws
from mooncake_py.compiler.native.regions.linear import ONE, minus
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Const, Count, Expr, Length, Load, Name, Op, walk

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.calls import CallReader

__all__ = ["Running", "drawn", "made_before"]

MAKERS = frozenset([np.random.default_rng, np.random.RandomState, random.Random])
FLOATS = {
    "standard_normal": "size", "random": "size", "normal": "loc scale size",
    "uniform": "low high size", "exponential": "scale size", "standard_exponential": "size",
    "gamma": "shape scale size", "lognormal": "mean sigma size", "standard_t": "df size",
    "beta": "a b size", "chisquare": "df size", "laplace": "loc scale size",
    "logistic": "loc scale size", "standard_gamma": "shape size", "weibull": "a size",
    "rayleigh": "scale size", "gumbel": "loc scale size", "triangular": "left mode right size",
    "random_sample": "size",
}  # fmt: skip
INTS = {
    "integers": "low high size", "poisson": "lam size", "binomial": "n p size",
    "geometric": "p size", "permutation": "x", "choice": "a size replace",
    "randint": "low high size",
}  # fmt: skip
OF_RANDOM = {
    "random": "float", "gauss": "float", "normalvariate": "float", "uniform": "float",
    "expovariate": "float", "betavariate": "float", "gammavariate": "float",
    "lognormvariate": "float", "triangular": "float", "randint": "int", "randrange": "int",
}  # fmt: skip
PURE = frozenset([
    np.indices, np.hanning, np.hamming, np.blackman, np.bartlett,
    np.kaiser, np.tri, np.fft.fftfreq, np.fft.rfftfreq, np.geomspace, np.logspace,
    np.polynomial.legendre.leggauss, np.polynomial.hermite.hermgauss,
    np.polynomial.hermite_e.hermegauss, np.polynomial.laguerre.laggauss,
    np.polynomial.chebyshev.chebgauss, np.polynomial.chebyshev.chebpts1,
    np.polynomial.chebyshev.chebpts2,
])  # fmt: skip
NOWHERE = (-1,)
LIKELY = 3  # an int for which a function is tried out


class Running(NamedTuple):
    """A loop over a range that is being read.

    Attributes
    ----------
    block : list of Statement
    counter : str
    steps : tuple
        Where it begins and ends, and the step.
    may_leave : bool
        Whether ``break`` may end it.
    """

    block: Any
    counter: str
    steps: tuple[Expr, Expr, int]
    may_leave: bool


def new_drawer(r: CallReader, f: Any, args: Sequence[Value], given: Mapping[str, Value]) -> Value:
    """Read how a generator is made, which must have a seed."""
    if len(args) == 1 and isinstance(args[0], Drawer) and f is np.random.default_rng:
        return args[0]
    if not (args or given) or any(v == Known(None) for v in (*args, *given.values())):
        raise Unfit("random numbers without a seed", r.b.place)
    draws = Draws(
        f, tuple(tree_of(r, v) for v in args), {k: tree_of(r, v) for k, v in given.items()}
    )
    r.made.draws.append(draws)
    blocks = (*map(id, r.b.outside), id(r.b.block))
    return Drawer(draws, f is random.Random, blocks, len(r.around))


def drawn(
    r: CallReader, of: Drawer, method: str, args: Sequence[Value], given: Mapping[str, Value]
) -> Value:
    """Read a call of a method of a generator."""
    b = r.b
    if of.is_of_python:
        kind, size = OF_RANDOM.get(method, ""), None
    else:
        kind, size = kind_and_size(r, method, args, given)
    if not kind:
        raise Unfit(f"the method {method} of a generator of random numbers", b.place)
    trees = tuple(tree_of(r, v) for v in args), {k: tree_of(r, v) for k, v in given.items()}
    loops = loops_around(r, of)
    shape = [] if size is None else shape_of(r, size)
    steps = tuple((id(loop.block), tuple([tree(r, e) for e in loop.steps])) for loop in loops)
    name = b.fresh("d")
    held = KINDS[kind] if shape or loops else kind
    of.draws.drawn.append(
        Drawn(name, method, *trees, steps, kind if not shape else KINDS[kind], len(shape))
    )  # type: ignore[arg-type]
    if not shape and not loops:
        return added(r, name, NumberType(held))
    ones = (*(False for _ in loops), *(n == ONE for n in shape))
    added(r, name, ArrayType(KINDS[kind], ones))
    passes = [place_in(r, loop) for loop in loops]
    if not shape:
        e = Load(name, tuple(passes))
        found = b.number(e) if KINDS[kind] == FLOAT else b.counted(e)
        return Number(found, kind)
    return b.kept(Array(tuple(shape), KINDS[kind], lambda at: Load(name, (*passes, *at))))


def added(r: CallReader, name: str, type_: Any) -> Value:
    """Return an input that is made: these come after all others."""
    found = r.argument(name, type_, True, NOWHERE)
    r.order.remove(name)
    r.made.names.append(name)
    return found


def kind_and_size(
    r: CallReader, method: str, args: Sequence[Value], given: Mapping[str, Value]
) -> tuple[str, Value | None]:
    """Return the type of the numbers that a generator of NumPy draws, and what tells how many."""
    names = (FLOATS.get(method) or INTS.get(method) or "").split()
    if not names or len(args) > len(names) or not set(given) <= {*names, "endpoint"}:
        return "", None
    by_name = dict(zip(names, args, strict=False)) | dict(given)
    size = by_name.get("size")
    if method == "permutation":
        size = by_name.get("x")
    if method in ("permutation", "choice"):
        count = by_name.get("x" if method == "permutation" else "a")
        if not isinstance(count, Number) or count.kind != INT:
            raise Unfit(f"`{method}` of {said(count)}: use an int, and index by it", r.b.place)
    if size == Known(None):
        size = None
    if method in FLOATS:
        return "float" if size is None else "float64", size
    if size is not None:
        return "int64", size
    return ("int64" if method in ("integers", "choice") else "int"), None


def shape_of(r: CallReader, size: Value) -> list[Expr]:
    """Return the shape of what is drawn."""
    items = size.items if isinstance(size, Tuple) else (size,)
    if not all(isinstance(n, Number) and n.kind == INT for n in items):
        raise Unfit(f"random numbers of the shape {said(*items)}: use ints", r.b.place)
    return [r.b.natural(r.b.steady(n.e)) for n in items if isinstance(n, Number)]


def loops_around(r: CallReader, of: Drawer) -> list[Running]:
    """Return the loops between where a generator is made and where it draws.

    Raises
    ------
    Unfit
        Where numbers decide whether it draws, or how often it has before.
    """
    b = r.b
    blocks = [*map(id, b.outside), id(b.block)]
    if tuple(blocks[: len(of.blocks)]) != of.blocks:
        raise Unfit("random numbers of a generator that is made under a test", b.place)
    running = {id(loop.block): loop for loop in r.running}
    inner = blocks[len(of.blocks) :]
    tests = [block for block in inner if block not in running]
    if not {*of.tests, *of.left} <= {*blocks} or (tests and len(tests) < len(inner)):
        raise Unfit(
            "random numbers that are drawn under a test, or after a loop that may be left", b.place
        )
    of.tests[:] = tests
    loops = [running[block] for block in inner if block in running]
    if len(loops) != len(r.around) - of.loops:  # as ``while``, and comprehensions
        raise Unfit(
            "random numbers that are drawn in a loop other than `for` over a range or an array",
            b.place,
        )
    of.left.extend(id(loop.block) for loop in loops if loop.may_leave)
    return loops


def place_in(r: CallReader, loop: Running) -> Expr:
    """Return which pass of a loop runs."""
    low, _, step = loop.steps
    at = minus(Name(loop.counter), low)
    if step == 1:
        return at
    return r.b.counted(Op("floordiv", (at, Const(step))))


# Values known before the region runs.


def tree_of(r: CallReader, value: Value) -> Any:
    """Return an argument as a tree of constants and expressions over inputs."""
    found = python_of(value)
    if found is not UNKNOWN:
        return found
    if isinstance(value, Tuple):
        items = [tree_of(r, item) for item in value.items]
        return items if value.is_list else tuple(items)
    if isinstance(value, Number) and value.kind == INT:
        return tree(r, value.e)
    raise Unfit(
        f"{said(value)} for random numbers, or where only constants are supported: draw standard "
        "ones, and shift and scale these",
        r.b.place,
    )


def tree(r: CallReader, e: Any) -> Any:
    """Return an int as an expression over inputs alone."""
    if isinstance(e, int):
        return e
    found = expanded(r, e, 0)
    for part in walk(found):
        known = (
            isinstance(part, Const)
            or (isinstance(part, Op) and part.op in OPERATORS)
            or (isinstance(part, Name | Length))
        )
        if not known:
            raise Unfit("random numbers whose count is known only when it runs", r.b.place)
    return found


def expanded(r: CallReader, e: Expr, depth: int) -> Expr:
    """Return an int with names that are not inputs replaced by their values."""
    b = r.b
    match e:
        case Name(name=name):
            if name in r.order and name in b.stable:
                return e
            blocks = [b.first, *b.outside, b.block]
            bound = [
                s for block in blocks for s in block if isinstance(s, Count) and s.name == name
            ]
            if len(bound) == 1 and name in b.stable and depth < LIKELY * 8:
                return expanded(r, bound[0].value, depth + 1)
        case Length(array=array):
            if array in r.order:
                return e
        case Op(op=op, args=args):
            return Op(op, tuple([expanded(r, arg, depth) for arg in args]))
        case Const():
            return e
    raise Unfit("random numbers whose count is known only when it runs", b.place)


# Pure functions.


def made_before(
    r: CallReader, f: Any, args: Sequence[Value], given: Mapping[str, Value]
) -> Value | None:
    """Read a call that is made before the region runs, None for others."""
    if f in MAKERS:
        return new_drawer(r, f, args, given)
    return made_by(r, f, args, given) if f in PURE else None


def made_by(r: CallReader, f: Any, args: Sequence[Value], given: Mapping[str, Value]) -> Value:
    """Read a call of a pure function that gives arrays, of what is known before the region runs."""
    trees = tuple(tree_of(r, v) for v in args), {k: tree_of(r, v) for k, v in given.items()}
    is_known = all(python_of(v) is not UNKNOWN for v in (*args, *given.values()))
    try:
        result = f(*tried(trees[0]), **tried(trees[1]))
    except Exception as error:
        raise Unfit(f"a call that raises {type(error).__name__}", r.b.place) from None
    parts = result if type(result) is tuple else (result,)
    types = [type_of(part) for part in parts]
    if not all(isinstance(t, ArrayType) and t.kind in (FLOAT, INT) for t in types):
        raise Unfit(f"{f.__name__} with such arguments", r.b.place)
    found: list[Value] = []
    names: list[str] = []
    for part, t in zip(parts, types, strict=True):
        assert isinstance(t, ArrayType)
        names.append(r.b.fresh("d"))
        ones = t.ones if is_known else tuple(False for _ in t.ones)
        a = added(r, names[-1], ArrayType(t.kind, ones))
        assert isinstance(a, Array)
        shape = tuple(map(Const, part.shape)) if is_known else a.shape
        found.append(r.b.kept(Array(shape, t.kind, a.at)))
    r.made.called.append(Called(tuple(names), f, *trees, tuple(types)))
    return Tuple(tuple(found)) if type(result) is tuple else found[0]


def tried(tree: Any) -> Any:
    """Return arguments with a likely int in the place of each that is known only when it runs."""
    if isinstance(tree, tuple | list):
        return type(tree)([tried(part) for part in tree])
    if isinstance(tree, dict):
        return {key: tried(part) for key, part in tree.items()}
    return LIKELY if isinstance(tree, Name | Length | Op | Const) else tree
