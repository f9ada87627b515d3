"""The kinds of the operands of a statement on arrays, which select its form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.regions.ir import Name, parts_of
from mooncake_py.compiler.statements.choices import is_comparison
from mooncake_py.compiler.statements.complexes import COMPLEX128, complex_at
from mooncake_py.compiler.statements.complexes import NUMBERS as COMPLEX_NUMBERS
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.dtypes import beside_complex, dtype_of, is_simple
from mooncake_py.compiler.statements.gathers import gathers_in, is_gather, same_as_mask
from mooncake_py.compiler.statements.statement import Statement, View
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.values import FLOAT64

__all__ = [
    "ANY", "ARRAYS", "ELEMENT", "FACTORS", "FULL", "FULL_NAMES", "NDIMS", "NUMBERS", "PART",
    "Kinds", "kind_name", "kinds_of",
]  # fmt: skip

NUMBERS = (float, int, np.float64)
ELEMENT, FULL, PART, ANY = "element", "array", "broadcast array", "array of any shape"
FACTORS = {1: "vector", 2: "matrix"}  # in products, of shapes of their own
FULL_FACTORS = {1: "vector and array", 2: "matrix and array"}
FULL_NAMES = frozenset({FULL, *FULL_FACTORS.values()})
ARRAYS = frozenset({FULL, PART, ANY, *FACTORS.values(), *FULL_FACTORS.values()})
NDIMS = {kind: ndim for kinds in (FACTORS, FULL_FACTORS) for ndim, kind in kinds.items()}


class Kinds(NamedTuple):
    """The kinds of the operands, and of the value.

    Attributes
    ----------
    operands : tuple
        For each `FULL` if it is an array of the shape of the result, `PART` if it is one that is
        broadcast, `ANY` if it is one next to reductions, one of `FACTORS` if it is in a product of
        matrices, one of `FULL_FACTORS` if it is also used outside such a product, `ELEMENT`, or the
        type of a number.
    whole : bool or None
        Whether the value has the shape of the result; else it is broadcast into the target.  None
        if it is a number that is bound to a name or stored in an element: then the shape is that of
        what was summed.
    gathers : frozenset of int
        The positions of index arrays and masks by which operands are read, and of the mask by
        which an array is written.
    same : frozenset of int
        The positions at which the same mask is by which an array is written.
    dtype : dtype
        Of the arrays; of a statement with real and complex ones that of the latter.
    complexes : frozenset of int
        The positions of arrays and numbers that are complex.
    """

    operands: tuple[Any, ...]
    whole: bool | None
    gathers: frozenset[int] = frozenset()
    same: frozenset[int] = frozenset()
    dtype: np.dtype[Any] = FLOAT64
    complexes: frozenset[int] = frozenset()


def kinds_of(core: Core, operands: list[Any], values: Any) -> Kinds | None:
    """Return the kinds of operands and value; None if no form can be used.

    Raises
    ------
    ValueError
        If shapes do not fit.
    """
    statement = core.statement
    target = [] if statement.target is None else [values[position_of_target(statement)]]
    dtype = dtype_of([*operands, *target])
    if statement.has_complex:
        dtype = beside_complex(dtype)
    if dtype is None or not all(map(is_served, operands)):
        return None
    in_place = statement.augments and type(operands[0]) is ndarray
    written = statement.written
    by_mask = written is not None and is_gather(values[written[1]])
    by_operator = in_place and core.by_operator and not by_mask
    given = {f"v{k}": v.shape if type(v) is ndarray else () for k, v in enumerate(operands)}
    shapes = core.shapes(given, len(core.lets) - by_operator)
    root = core.change if by_operator else core.root
    value = shapes[root.name] if isinstance(root, Name) else ()
    shape: Any = given["v0"] if in_place else value
    if not in_place and isinstance(statement.target, tuple):
        base, index = statement.target
        shape = np.shape(values[base][values[index]])
    elif statement.into and not in_place:
        shape = values[statement.target].shape
    if statement.into and not shape:
        return None
    whole: bool | None = value == shape
    terms = [parts_of(let.value)[0] for let in core.sums]
    summed = {shapes[e.name] for e in terms if isinstance(e, Name)}
    if not all(isinstance(e, Name) for e in terms):
        return None  # the sum of a number that is written down
    if shape == () == value and any(given.values()):
        whole = None
        if len(summed) > 1 or () in summed or is_comparison(core.lets[-1].value):
            return None
        shape = summed.pop() if summed else None
    elif not (
        shape
        and np.broadcast_shapes(shape, value) == shape
        and are_beside_arrays(summed, core, shape, whole)
    ):
        return None
    if core.reductions and (statement.into or () in [shapes[let.name] for let in core.reductions]):
        return None
    contracted, elementwise = core.roles
    if contracted and whole is False and value != ():
        return None
    products = [shapes[let.name] for let in core.contractions if let.name in elementwise]
    if any(product not in (shape, ()) for product in products):
        return None
    kinds = [kind_of(core, k, v, shape) for k, v in enumerate(operands)]
    if None in kinds or (dtype is not FLOAT64 and not is_simple(core, kinds, whole, dtype)):
        return None
    gathers = gathers_in(statement.readings - statement.certain, values)
    same = frozenset[int]()
    if by_mask:
        assert written is not None
        same = same_as_mask(written[1], gathers, values)
        gathers |= {written[1]}
    if sees_copies(statement, gathers):
        return None
    complexes = complex_at(values) if dtype is COMPLEX128 else frozenset()
    return Kinds(tuple(kinds), True if statement.into else whole, gathers, same, dtype, complexes)


def are_beside_arrays(
    summed: set[tuple[int, ...]], core: Core, shape: tuple[int, ...], whole: bool | None
) -> bool:
    """Return True if what is summed, if anything, has the shape of the result."""
    return not summed or (summed == {shape} and bool(whole) and not core.reductions)


def sees_copies(statement: Statement, gathers: frozenset[int]) -> bool:
    """Return True for a view of what an index array picks: nothing can be added through it."""
    return any(view.at in gathers for view in statement.views)


def position_of_target(statement: Statement) -> int:
    """Return the position of what is written."""
    target = statement.target
    assert target is not None
    return target[0] if isinstance(target, tuple) else target


def is_served(value: Any) -> bool:
    """Return True for an array of at least one axis, and for a number."""
    if type(value) is ndarray:
        return value.ndim > 0
    return type(value) is Active or type(value) in NUMBERS or type(value) in COMPLEX_NUMBERS


def kind_of(core: Core, k: int, value: Any, shape: Any) -> Any:
    """Return the kind of an operand, None if it does not fit."""
    part = core.statement.layout[k]
    if type(value) is not ndarray:
        return None if isinstance(part, View) else ELEMENT if type(part) is tuple else type(value)
    contracted, elementwise = core.roles
    name = f"v{k}"
    if shape is None and name in elementwise:
        return None
    if core.reductions and not (k == 0 and core.statement.augments):
        return ANY
    if name not in contracted:
        return FULL if value.shape == shape else PART
    if name not in elementwise:
        return FACTORS[value.ndim]
    return FULL_FACTORS[value.ndim] if value.shape == shape else None


def kind_name(kind: Any) -> str:
    """Return the name of an operand's kind in the text of a form."""
    if isinstance(kind, str):
        return kind
    active = kind is not float and kind.__name__ == "float"  # as `Active` calls itself
    return "active float" if active else kind.__name__
