"""Functions that do nothing but compute, and what their results are like.

Results are found by a call with numbers that are made up, of the types and of lengths that are
equal where those of the operands are.  Only their types count, and each later call is checked: it
leaves the region where it returns something else.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.building.values import Tuple, Unfit, Unread, Value
from mooncake_py.compiler.native.functions.of_scipy import is_of_distribution
from mooncake_py.compiler.native.nodes.node import DTYPES, NUMBERS, Leaf, require_apart
from mooncake_py.compiler.native.nodes.text import defined
from mooncake_py.compiler.native.regions.region import BOOL, INT
from mooncake_py.compiler.regions.ir import Const, Expr
from mooncake_py.modules import module_of
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import (
    BilinearRule,
    ElementwiseRule,
    LinearRule,
    OverlayRule,
    Rule,
    VjpRule,
)

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.call_nodes import Operands
    from mooncake_py.compiler.native.reading.calls import CallReader

__all__ = ["Form", "form_of_result", "is_pure", "name_of"]

PURE_KINDS = BilinearRule, ElementwiseRule, LinearRule, OverlayRule, VjpRule
"""Rules of functions without side effects."""
OF_MODULES = (
    "numpy.linalg", "numpy.fft", "scipy.linalg", "scipy.fft", "scipy.special", "scipy.signal",
    "scipy.ndimage",
)  # fmt: skip
OF_NUMPY = frozenset({
    "convolve", "correlate", "cov", "corrcoef", "percentile", "quantile", "median", "interp",
    "trapezoid", "trapz", "unwrap", "polyfit", "polyval", "kron", "nanmean", "nansum", "nanstd",
    "nanvar", "nanmax", "nanmin", "gradient", "logaddexp2", "sinc", "i0", "vander", "average",
})  # fmt: skip
"""Names of functions of NumPy: their results are new arrays."""
SIZES = (4, 7), (6, 9)
"""The lengths that are made up, in two trials: all are the first, or each is another one."""
OTHERS = dict(zip((v for v in NUMBERS.values()), NUMBERS, strict=True))


class Form(NamedTuple):
    """What the results of a function are like.

    Attributes
    ----------
    leaves : tuple of Leaf
    shapes : tuple of tuple of (Expr or None)
        The lengths, as far as they are known.
    in_order : tuple of bool
        Whether these are arrays in C order.
    is_tuple : bool
        Whether it returns a tuple of them.
    cls : type or None
        The class of a named tuple.
    unread : mapping of int to str
        Items of the tuple that compiled code does not have, and why.
    """

    leaves: tuple[Leaf, ...]
    shapes: tuple[tuple[Expr | None, ...], ...]
    in_order: tuple[bool, ...]
    is_tuple: bool
    cls: type | None = None
    unread: Mapping[int, str] = MappingProxyType({})

    @property
    def returned(self) -> str:
        """The text of the results, given the tuple, or the one result, `r`."""
        if not self.is_tuple:
            return "(r,)"
        count = len(self.leaves) + len(self.unread)
        return f"({''.join([f'r[{k}], ' for k in range(count) if k not in self.unread])})"

    def made(self, found: Sequence[Value]) -> Value:
        """Return the result, given what it consists of."""
        if not self.is_tuple:
            return found[0]
        rest = iter(found)
        count = len(self.leaves) + len(self.unread)
        items = [Unread(self.unread[k]) if k in self.unread else next(rest) for k in range(count)]
        return Tuple(tuple(items), cls=self.cls)


def is_pure(f: Any) -> bool:
    """Return True for a function that does nothing but compute, with derivatives."""
    if is_of_distribution(f):
        return True
    rule = rule_of(f)
    if rule is None or not isinstance(rule, PURE_KINDS):
        return False
    return not rule.by_user and is_of_libraries(f)  # code of users may print, draw, write


def rule_of(f: Any) -> Rule | None:
    """Return the rule of a function."""
    try:
        return registry.find(f)
    except TypeError:
        return None


def is_of_libraries(f: Any) -> bool:
    """Return True for a function of a module that only computes."""
    name = str(getattr(f, "__name__", ""))
    if name in OF_NUMPY and getattr(np, name, None) is f:
        return True
    own = "" if isinstance(f, np.ufunc) else module_of(f)
    for module in OF_MODULES:
        if own.startswith(module) or getattr(sys.modules.get(module), name, None) is f:
            return True
    return False


def form_of_result(r: CallReader, f: Any, operands: Operands, passed: str) -> Form:
    """Return the results of a function for operands of such types.

    Raises
    ------
    Unfit
        It returns something else than numbers and arrays.
    """
    function = defined(operands.names, [f"return f({passed})"], {**operands.scope, "f": f})
    errors: list[Exception] = []
    for differ in (True, False):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                first, second = (
                    tried(function, made_up(operands, size, differ=differ)) for size in SIZES
                )
        except Exception as error:
            errors.append(error)
            continue
        return form_of(r, f, operands, first, second, differ=differ)
    raise Unfit(
        f"a call of {name_of(f)}, which raises {type(errors[0]).__name__} when it is tried out",
        r.b.place,
    )


def tried(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Return the result of a function; raise if it writes arguments, or returns parts of them.

    Arguments are as `Leaf.value` makes them.
    """
    for a in args:
        if type(a) is ndarray:
            a.flags.writeable = False
    found = function(*args)
    require_apart(found if isinstance(found, tuple) else (found,), args)
    return found


def made_up(operands: Operands, sizes: tuple[int, int], *, differ: bool) -> list[Any]:
    """Return arguments of the types of operands."""
    rng = np.random.default_rng(5)
    lengths = lengths_of(operands, sizes, differ=differ)
    return [
        example(rng, leaf, tuple([lengths[n] for n in shape]))
        for leaf, shape in zip(operands.takes, operands.shapes, strict=True)
    ]


def lengths_of(operands: Operands, sizes: tuple[int, int], *, differ: bool) -> dict[Expr, int]:
    """Return lengths that are made up, for those of the operands."""
    found: dict[Expr, int] = {}
    for n in [n for shape in operands.shapes for n in shape]:
        if isinstance(n, Const):
            found[n] = int(n.value or 0)
        elif n not in found:
            found[n] = sizes[0] + (sizes[1] - sizes[0]) * 4 * len(found) if differ else sizes[0]
    return found


def example(rng: np.random.Generator, leaf: Leaf, shape: tuple[int, ...]) -> Any:
    """Return a number or an array of a type: a matrix that is square is positive definite."""
    if leaf.axes is None:
        value = float(rng.uniform(0.2, 0.8))
        return NUMBERS[leaf.type](value if leaf.is_real else 2)
    if leaf.type == INT:
        return np.sort(rng.integers(1, 3, shape))
    if leaf.type == BOOL:
        return rng.random(shape) > 0.5
    found = np.sort(rng.uniform(0.2, 0.8, shape))
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        found = (found + found.swapaxes(-1, -2)) / 20 + np.diag(np.arange(1.0, shape[-1] + 1))
    return found.astype(DTYPES[leaf.type])


def form_of(
    r: CallReader, f: Any, operands: Operands, first: Any, second: Any, *, differ: bool
) -> Form:
    """Return the type of two results."""
    is_tuple = isinstance(first, tuple)
    cls = type(first) if is_tuple and type(first) is not tuple else None
    pairs = list(zip(first, second, strict=True)) if is_tuple else [(first, second)]
    leaves: list[Leaf] = []
    shapes: list[tuple[Expr | None, ...]] = []
    unread: dict[int, str] = {}
    for k, (one, other) in enumerate(pairs):
        leaf = leaf_of(one)
        if leaf is None or leaf != leaf_of(other):
            why = f"the result of {name_of(f)}, which is of type {type(one).__name__}"
            if not is_tuple:
                raise Unfit(why, r.b.place)
            unread[k] = why
            continue
        leaves.append(leaf)
        shapes.append(tuple(lengths_in(operands, one, other, differ=differ)))
    if not leaves:
        raise Unfit(f"a call of {name_of(f)}, which returns no arrays", r.b.place)
    in_order = [
        type(y) is not ndarray or y.flags.c_contiguous
        for k, (y, _) in enumerate(pairs)
        if k not in unread
    ]
    return Form(tuple(leaves), tuple(shapes), tuple(in_order), is_tuple, cls, unread)


def leaf_of(value: Any) -> Leaf | None:
    """Return the type of a result, None for values that compiled code has no type for."""
    if type(value) in OTHERS:
        return Leaf(OTHERS[type(value)], None)
    if type(value) is not ndarray or not value.ndim:
        return None
    kinds = [kind for kind, dtype in DTYPES.items() if value.dtype == dtype]
    return Leaf(kinds[0], value.ndim) if kinds else None


def lengths_in(operands: Operands, one: Any, other: Any, *, differ: bool) -> list[Expr | None]:
    """Return which lengths of operands those of a result are, None where that is not sure."""
    if type(one) is not ndarray:
        return []
    first, second = (lengths_of(operands, sizes, differ=differ) for sizes in SIZES)
    found: list[Expr | None] = []
    for n, m in zip(one.shape, other.shape, strict=True):
        same = [e for e in first if (first[e], second[e]) == (n, m) and not isinstance(e, Const)]
        found.append(same[0] if same and (len(same) == 1 or not differ) else None)
    return found


def name_of(f: Any) -> str:
    """Return the name of a function."""
    return str(getattr(f, "__qualname__", None) or getattr(f, "__name__", type(f).__name__))
