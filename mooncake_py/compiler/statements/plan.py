"""The plan of a form on arrays, made before it is printed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from mooncake_py.compiler.regions.flat import is_flat
from mooncake_py.compiler.regions.ir import (
    Call,
    Compare,
    Const,
    Expr,
    Let,
    Name,
    Op,
    Select,
    parts_of,
)
from mooncake_py.compiler.statements.array_partials import (
    declared,
    is_conjugate,
    is_int,
    partials_on_arrays,
)
from mooncake_py.compiler.statements.choices import adjoint_of_choice, is_choice
from mooncake_py.compiler.statements.complexes import (
    COMPLEX128,
    complex_names,
    has_complex_partials,
    is_complex,
    keeps,
)
from mooncake_py.compiler.statements.contractions import adjoints_of, is_contraction, is_sum
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.kinds import (
    ARRAYS,
    ELEMENT,
    FULL,
    FULL_NAMES,
    NDIMS,
    PART,
    Kinds,
)
from mooncake_py.compiler.statements.lines import OTHERWISE, raised, watched
from mooncake_py.compiler.statements.reductions import adjoint_of_reduction, is_reduction
from mooncake_py.compiler.statements.single import FLOAT32, has_functions_of_numbers
from mooncake_py.compiler.statements.statement import Part, is_operand, position_of
from mooncake_py.rules.kinds import AtOnce
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.values import FLOAT64

__all__ = ["Plan", "share"]


class Plan:
    """One pattern of a statement: kinds of operands, and which arrays are active.

    Parameters
    ----------
    core : Core
    kinds : Kinds
    on : dict of int to bool
        Which arrays are active, by their positions among the values.

    Attributes
    ----------
    augments : bool
        Whether an array is changed in place.
    target : Place or None
        Where the value is written; None if it is given back.
    by_mask : bool
        Whether it is written by a mask: also if it augments the array, all of it is computed.
    owner : int or None
        The position of the array that is written.
    arrays : set of str
        Operands and results that are arrays.
    active : set of int
        The operands that receive a cotangent.
    records : bool
        Whether there is anything to record.
    full : list of int
        The operands of the shape of the result.
    broadcast : list of int
        The operands that are broadcast.
    """

    def __init__(self, core: Core, kinds: Kinds, on: Mapping[int, bool]) -> None:
        statement = core.statement
        self.core = core
        self.statement = statement
        self.layout = statement.layout
        self.kinds, self.whole, self.gathers, self.same, self.dtype, self.complex_at = kinds
        written = statement.written
        self.by_mask = written is not None and written[1] in self.gathers
        self.on = on
        self.full = [k for k, kind in enumerate(self.kinds) if kind in FULL_NAMES]
        self.broadcast = [k for k, kind in enumerate(self.kinds) if kind is PART]
        self.augments = statement.augments and self.kinds[0] in ARRAYS and not self.by_mask
        writes = self.augments or statement.into or isinstance(statement.target, tuple)
        target = statement.target if writes else None
        self.target = target
        self.owner: int | None = target[0] if isinstance(target, tuple) else target
        self.arrays = core.arrays(
            {f"v{k}": NDIMS.get(kind, 0) for k, kind in enumerate(self.kinds) if kind in ARRAYS}
        )
        reached = self.reached()
        self.active = {
            k
            for k, part in enumerate(self.layout)
            if f"v{k}" in reached
            and (self.kinds[k] is Active or on.get(part[0] if isinstance(part, tuple) else part))
        }
        self.records = bool(self.active) or (self.owner is not None and on[self.owner])
        if self.augments and self.records and "v0" in reached:
            self.active.add(0)

    def is_gathered(self, part: Part) -> bool:
        """Return True for an operand that is read by an index array or a mask."""
        return isinstance(part, tuple) and part[1] in self.gathers

    @property
    def is_single(self) -> bool:
        """Whether the arrays are of float32."""
        return self.dtype is FLOAT32

    @property
    def is_mixed(self) -> bool:
        """Whether some operands or results are complex."""
        return self.dtype is COMPLEX128

    @property
    def arrays_of_float64(self) -> set[str]:
        """The operands and results that are arrays of float64 for certain."""
        return self.arrays if self.dtype is FLOAT64 else set()

    @cached_property
    def complexes(self) -> set[str]:
        """The operands and results that are complex."""
        return complex_names(self.core, self.complex_at)

    def is_complex(self, e: Expr) -> bool:
        """Return True if a value is complex."""
        return is_complex(e, self.complexes)

    def dtype_of(self, e: Expr) -> np.dtype[Any]:
        """Return the dtype that an array has that is an operand or a result."""
        return FLOAT64 if self.is_mixed and not self.is_complex(e) else self.dtype

    def dtype_at(self, position: int) -> np.dtype[Any]:
        """Return the dtype of an array among the values."""
        return FLOAT64 if self.is_mixed and position not in self.complex_at else self.dtype

    @cached_property
    def old(self) -> int | None:
        """The operand that is about to be overwritten: an element, a part, or what a mask picks."""
        if not isinstance(self.target, tuple) or self.augments:
            return None
        base, index = self.target
        overwritten = {None: ELEMENT, True: FULL, False: None}[self.whole]
        for k, (part, kind) in enumerate(zip(self.layout, self.kinds, strict=True)):
            is_there = type(part) is tuple and part[0] == base and part[1] in {index, *self.same}
            if is_there and (self.by_mask or (kind is overwritten and part == self.target)):
                return k
        return None

    def index(self, position: int) -> int:
        """Return the position of an index, of those that are the same mask that of the target."""
        if position in self.same:
            assert isinstance(self.target, tuple)
            return self.target[1]
        return position

    @property
    def axes(self) -> dict[str, int]:
        """How many axes operands have, if that is certain."""
        return {f"v{k}": NDIMS[kind] for k, kind in enumerate(self.kinds) if kind in NDIMS}

    @property
    def int_names(self) -> list[str]:
        """The operands that are ints."""
        return [f"v{k}" for k, kind in enumerate(self.kinds) if kind is int]

    @property
    def by_operator(self) -> bool:
        """Whether an operator changes the target, and is not an operation of its own."""
        return self.augments and not self.statement.into

    def watched(self, write: list[str]) -> tuple[list[str], list[str]]:
        """Return the lines that write, and those after what is recorded then.

        Arithmetic in place may raise when it has written: that is raised after the record.
        """
        if not self.statement.into and not self.augments:
            return write, []
        arrays = [f"v{k}" for k, kind in enumerate(self.kinds) if kind in ARRAYS]
        slot = "v0" if self.augments else "slot"
        return [*watched(write[:1], slot, *arrays), *write[1:]], raised()

    def nonzero(self, saved: list[str]) -> list[str]:
        """Return the lines that see that numbers do not divide numbers by zero.

        Those of NumPy may be divided so, but not the cotangents, which are numbers of Python.

        Parameters
        ----------
        saved : list of str
            What the adjoint reads.
        """
        quotients = [
            parts_of(let.value)
            for let in self.core.lets
            if isinstance(let.value, Op)
            and let.value.op == "truediv"
            and let.name not in self.arrays
        ]
        divisors = [b.name for _, b in quotients if isinstance(b, Name) and b.name in saved]
        return [line for name in divisors for line in (f"if not {name}:", OTHERWISE)]

    @cached_property
    def masked(self) -> dict[str, tuple[Any, ...]]:
        """The operations whose derivatives are worked out in the forward pass: their partials."""
        found: dict[str, tuple[Any, ...]] = {}
        for let in self.core.lets:
            given = declared(let.value)
            if given is not None and any(type(p) is AtOnce for p in given):
                found[let.name] = given
        return found

    def can_be_written(self) -> bool:
        """Return True if each operation has derivatives, and makes arrays of their dtype."""
        if self.is_single and has_functions_of_numbers(self.core, self.arrays):
            return False
        if self.is_mixed and not (self.fits_target() and self.is_as_in_place()):
            return False
        if any(part.is_real and part.base not in self.complex_at for part in self.statement.views):
            return False
        for let in self.core.lets:
            e = let.value
            of_arrays = any(self.is_array(part) for part in parts_of(e))
            if is_division_by_zero(e) or (of_arrays and isinstance(e, Compare | Select)):
                return False
            if is_contraction(e):
                if adjoints_of(e) is None:
                    return False
            elif is_reduction(e):
                if not of_arrays or adjoint_of_reduction(e) is None:
                    return False
            elif is_choice(e):
                if not (self.is_array(Name(let.name)) and self.is_choice_of_floats(e)):
                    return False
            elif isinstance(e, Call) and not is_sum(e) and not is_conjugate(e):
                if declared(e) is None or not self.is_computed(let.name, e):
                    return False
            elif is_int(e) and of_arrays:
                return False
        return not self.statement.into or self.is_array(self.core.root)

    def is_computed(self, name: str, e: Call) -> bool:
        """Return True if the result of a function is of the dtype that it should have."""
        if any(map(self.is_complex, e.args)):
            return has_complex_partials(e)
        if name not in self.arrays:
            return True
        if self.is_mixed:
            return name not in self.masked and keeps(e.function, FLOAT64)
        return keeps(e.function, self.dtype)

    def is_as_in_place(self) -> bool:
        """Return True if recomputing gives the same bits as computing in place.

        NumPy has another loop for products of complex numbers in place, with other last bits.
        """
        e = self.statement.value
        changes = self.by_mask and self.statement.augments
        return not changes or (isinstance(e, Op) and e.op in ("add", "sub"))

    def fits_target(self) -> bool:
        """Return True if a value that is complex is not written to what is real."""
        return (
            self.owner is None
            or self.owner in self.complex_at
            or not self.is_complex(self.core.root)
        )

    def is_choice_of_floats(self, e: Expr) -> bool:
        """Return True if the result of a choice is float64, and its adjoint is declared."""
        return adjoint_of_choice() is not None and not all(map(self.may_be_int, parts_of(e)[1:]))

    def may_be_int(self, e: Expr) -> bool:
        """Return True for an int that is an operand or is written down."""
        if is_operand(e):
            return self.kinds[position_of(e)] is int
        return isinstance(e, Const) and type(e.value) is int

    def is_array(self, e: Expr) -> bool:
        """Return True if an operand or a result is an array."""
        return isinstance(e, Name) and e.name in self.arrays

    @cached_property
    def consumed(self) -> list[str]:
        """Operands that must have the shape of the result.

        They are products of matrices that are operands of other operations, if arrays, and sums
        next to arrays.
        """
        _, elementwise = self.core.roles
        names = [let.name for let in self.core.contractions]
        found = [name for name in names if name in elementwise and name in self.arrays]
        summed = [] if self.whole is None else self.core.sums
        return found + [
            e.name for let in summed for e in parts_of(let.value) if isinstance(e, Name)
        ]

    @property
    def value(self) -> Expr:
        """The value written or returned; of an augmented assignment the change."""
        return self.core.change if self.by_operator else self.core.root

    def factor_of_outer(self, e: Expr | None) -> str | None:
        """Return the vector of which a matrix receives the outer product with g, None if none does.

        That is where a vector was multiplied by a matrix; `e` is what the matrix receives.
        """
        if not (isinstance(e, Call) and e.args[0] == Name("g")):
            return None
        names = [part.name for part in e.args if isinstance(part, Name)]
        vectors = [name for name in names if self.axes_of(name) == 1]
        of_matrix = any(self.axes_of(name.removeprefix("like_")) == 2 for name in names)
        return vectors[0] if of_matrix and vectors else None

    def axes_of(self, name: str) -> int | None:
        """Return the number of axes of an operand of a product of vectors and matrices."""
        e = Name(name)
        return NDIMS.get(self.kinds[position_of(e)]) if is_operand(e) else None

    def keeps(self, k: int) -> bool:
        """Return True if an operand is in memory that is active, or will be; a copy is not."""
        part = self.layout[k]
        if self.kinds[k] not in ARRAYS or self.is_gathered(part):
            return False
        p = part[0] if isinstance(part, tuple) else part
        return self.on[p] or p == self.owner

    # Derivatives.

    def partials(self, let: Let) -> list[tuple[Expr, Expr | None]]:
        """Return the operands of an operation with its partial derivatives; None for zero.

        One that is worked out in the forward pass is a `share`.
        """
        return partials_on_arrays(
            let.value, self.result(let), lambda p, k, args: share(let.name, k)
        )

    def result(self, let: Let) -> Expr:
        """Return the result of an operation; that of a quotient in place is not kept."""
        if self.by_operator and let is self.core.lets[-1]:
            return let.value
        return Name(let.name)

    def reached(self) -> set[str]:
        """Return the names that a cotangent of the value reaches: none within ``int(...)``."""
        root = self.core.root
        found = {root.name} if isinstance(root, Name) else set[str]()
        for let in reversed(self.core.lets):
            if let.name not in found or is_flat(let.value):
                continue
            given = declared(let.value)
            for k, part in enumerate(parts_of(let.value)):
                if isinstance(part, Name) and (given is None or given[k] is not None):
                    found.add(part.name)
        return found


def share(name: str, k: int) -> Name:
    """Return the partial derivative for operand `k`, which is worked out in the forward pass."""
    return Name(f"w_{name}_{k}")


def is_division_by_zero(e: Expr) -> bool:
    """Return True for a division by a zero that is written down: Python computes no 1 / 0."""
    if not (isinstance(e, Op) and e.op == "truediv"):
        return False
    divisor = e.args[1]
    return isinstance(divisor, Const) and divisor.value == 0
