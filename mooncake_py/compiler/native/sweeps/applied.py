"""Derivatives of what computes an array from whole arrays.

    Y = solve(A, B)             W = solve(A^T, d_Y)             t_B - t_A Y = R
                                d_B += W,  d_A -= W Y^T         t_Y = solve(A, R)
    L = cholesky(A)             see `systems.cholesky_back`     L^-1 t_A L^-T = S
                                                                t_L = L half(S)
    D = det(A)                  d_A += d_D D A^-T               t_D = D trace(A^-1 t_A)
    L = log |det(A)|            d_A += d_L A^-T                 t_L = trace(A^-1 t_A)

``half`` keeps the lower triangle, and half the diagonal.  M. B. Giles, "Collected matrix
derivative results for forward and reverse mode algorithmic differentiation" (2008).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mooncake_py.compiler.derivatives.cotangents import cotangent
from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.native.regions.helpers import times
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.compiler.native.regions.systems import (
    cholesky,
    cholesky_back,
    cofactors,
    determinant,
    inverse_transposed,
    log_determinant,
    solve,
    solve_lower,
    solve_lower_transposed,
    solve_transposed,
)
from mooncake_py.compiler.native.sweeps import called
from mooncake_py.compiler.native.sweeps.pull import NOTHING, Pull
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Apply,
    Assign,
    Block,
    Bump,
    Call,
    Compare,
    Const,
    Expr,
    ForAll,
    Length,
    Load,
    Name,
    Op,
    Select,
    Statement,
    Target,
)

__all__ = ["Derivatives"]

ZERO, NULL = Const(0.0), Const(0)
TRANSPOSED = {solve: solve_transposed, solve_lower: solve_lower_transposed}
"""Functions that solve systems, and those for the transposed matrix.

A lower triangle is a Cholesky factor here: a cotangent of what is above the diagonal goes nowhere.
"""


class Derivatives:
    """Makes the adjoints and the tangents.

    Parameters
    ----------
    fresh : callable
        Returns a new name.
    """

    def __init__(self, fresh: Callable[[], str]) -> None:
        self.fresh = fresh

    # Parts.

    def new(self, shape: Sequence[Expr], block: list[Statement], zero: bool = False) -> str:
        """Make an array of floats; return its name."""
        name = self.fresh()
        block.append(Alloc(name, tuple(shape), FLOAT, zero))
        return name

    def each(self, shape: Sequence[Expr], body: Callable[..., Statement]) -> ForAll:
        """Return a statement for all indices within a shape."""
        counters = tuple([self.fresh() for _ in shape])
        return ForAll(counters, tuple(shape), (body(*map(Name, counters)),))

    def zeroed(self, array: str, s: Apply) -> ForAll:
        """Return a loop that sets an array to zero, with the shape of a statement's result."""
        shape = shape_of(array, 1 if s.function in (determinant, log_determinant) else 2)
        return self.each(shape, lambda *at: Assign(Load(array, at), ZERO))

    # Adjoints.

    def pull(self, s: Apply, active: set[str], clears: bool) -> Pull:
        """Return the adjoint.

        Parameters
        ----------
        active : set of str
            Arrays and names.
        clears : bool
            Whether the cotangent of what is computed must be zero afterwards.
        """
        if called.is_call(s):
            return called.pull_call(s, active, self.fresh)
        if s.target not in active:
            return NOTHING
        d = shadow(s.target)
        back: list[Statement] = []
        reads: set[str] = set()
        if active.isdisjoint(s.operands):
            pass  # it is written again
        elif s.function in TRANSPOSED:
            back, reads = self.pull_solve(s, d, active)
        elif s.function is cholesky:
            back = [Apply(cholesky_back, shadow(s.operands[0]), (s.target, d), place=s.place)]
            reads = {s.target}
        elif s.function is determinant:
            back, reads = self.pull_determinant(s, d)
        elif s.function is log_determinant:
            back, reads = self.pull_logarithm(s, d)
        else:
            raise NoPartial
        if clears:
            back.append(self.zeroed(d, s))
        return Pull(tuple(back), frozenset(reads), False)

    def pull_solve(self, s: Apply, d: str, active: set[str]) -> tuple[list[Statement], set[str]]:
        """Return the adjoint of ``Y = solve(A, B)``, and what it reads."""
        a, b = s.operands
        n, m = shape_of(d, 2)
        back: list[Statement] = []
        w = self.new((n, m), back)
        back.append(Apply(TRANSPOSED[s.function], w, (a, d), place=s.place))
        if b in active:
            back.append(
                self.each((n, m), lambda i, j: Bump(Load(shadow(b), (i, j)), Load(w, (i, j))))
            )
        if a not in active:
            return back, {a}

        def dyad(i: Expr, k: Expr, j: Expr) -> Statement:
            e = Call(times, (Load(w, (i, j)), Load(s.target, (k, j))))
            return Bump(Load(shadow(a), (i, k)), Op("neg", (e,)))

        return [*back, self.each((n, n, m), dyad)], {a, s.target}

    def pull_determinant(self, s: Apply, d: str) -> tuple[list[Statement], set[str]]:
        """Return the adjoint of ``D = determinant(A)``, and what it reads."""
        (a,) = s.operands
        shape = shape_of(shadow(a), 2)
        back: list[Statement] = []
        c = self.new(shape, back)
        back.append(Apply(cofactors, c, (a, s.target), place=s.place))

        def multiple(*at: Expr) -> Statement:
            return Bump(Load(shadow(a), at), Call(times, (Load(d, (NULL,)), Load(c, at))))

        return [*back, self.each(shape, multiple)], {a, s.target}

    def pull_logarithm(self, s: Apply, d: str) -> tuple[list[Statement], set[str]]:
        """Return the adjoint of ``S, L = log_determinant(A)``, and what it reads."""
        (a,) = s.operands
        shape = shape_of(shadow(a), 2)
        back: list[Statement] = []
        c = self.new(shape, back)
        back.append(Apply(inverse_transposed, c, (a,), place=s.place))

        def multiple(*at: Expr) -> Statement:
            return Bump(Load(shadow(a), at), Call(times, (Load(d, (Const(1),)), Load(c, at))))

        return [*back, self.each(shape, multiple)], {a}

    # Tangents.

    def push(self, s: Apply, names: Mapping[str, str]) -> Block:
        """Return the statement, and what computes its tangent; of arrays the tangents are named."""
        if called.is_call(s):
            return called.push_call(s, names, self.fresh)
        if s.target not in names:
            return (s,)
        if names.keys().isdisjoint(s.operands):
            return (s, self.zeroed(names[s.target], s))
        if s.function in TRANSPOSED:
            return (s, *self.push_solve(s, names))
        if s.function is cholesky:
            return (s, *self.push_cholesky(s, names))
        if s.function is determinant:
            return (s, *self.push_determinant(s, names))
        if s.function is log_determinant:
            return (s, *self.push_logarithm(s, names))
        raise NoPartial

    def push_solve(self, s: Apply, names: Mapping[str, str]) -> Block:
        """Return the tangent of ``Y = solve(A, B)``."""
        a, b = s.operands
        n, m = shape_of(s.target, 2)
        block: list[Statement] = []
        r = self.new((n, m), block, zero=True)
        if b in names:
            block.append(
                self.each((n, m), lambda i, j: Assign(Load(r, (i, j)), Load(names[b], (i, j))))
            )
        if a in names:

            def dyad(i: Expr, k: Expr, j: Expr) -> Statement:
                target = Load(r, (i, j))
                e = Op("times", (Load(names[a], (i, k)), Load(s.target, (k, j))))
                return Assign(target, Op("sub", (target, e)))

            block.append(self.each((n, n, m), dyad))
        return (*block, Apply(s.function, names[s.target], (a, r), place=s.place))

    def push_cholesky(self, s: Apply, names: Mapping[str, str]) -> Block:
        """Return the tangent of ``L = cholesky(A)``."""
        t, own = names[s.operands[0]], names[s.target]
        shape = shape_of(s.target, 2)
        block: list[Statement] = []
        whole, half, turned, both = (self.new(shape, block) for _ in range(4))

        def symmetric(i: Expr, j: Expr) -> Statement:
            e = Select(Compare(("ge",), (i, j)), Load(t, (i, j)), Load(t, (j, i)))
            return Assign(Load(whole, (i, j)), e)

        def transposed(i: Expr, j: Expr) -> Statement:
            return Assign(Load(turned, (i, j)), Load(half, (j, i)))

        def triangle(i: Expr, j: Expr) -> Statement:
            e = Load(both, (i, j))
            diagonal = Select(Compare(("eq",), (i, j)), Op("mul", (Const(0.5), e)), ZERO)
            return Assign(Load(whole, (i, j)), Select(Compare(("gt",), (i, j)), e, diagonal))

        def product(i: Expr, k: Expr, j: Expr) -> Statement:
            target = Load(own, (i, j))
            e = Op("times", (Load(whole, (k, j)), Load(s.target, (i, k))))
            return Assign(target, Op("add", (target, e)))

        return (
            *block,
            self.each(shape, symmetric),
            Apply(solve_lower, half, (s.target, whole), place=s.place),
            self.each(shape, transposed),
            Apply(solve_lower, both, (s.target, turned), place=s.place),
            self.each(shape, triangle),
            self.zeroed(own, s),
            self.each((shape[0], *shape), product),
        )

    def push_logarithm(self, s: Apply, names: Mapping[str, str]) -> Block:
        """Return the tangent of ``S, L = log_determinant(A)``."""
        (a,) = s.operands
        shape = shape_of(a, 2)
        block: list[Statement] = []
        one, inverse = self.new(shape, block), self.new(shape, block)
        own = names[s.target]
        target = Load(own, (Const(1),))

        def trace(i: Expr, j: Expr) -> Statement:
            e = Op("times", (Load(names[a], (i, j)), Load(inverse, (j, i))))
            return Assign(target, Op("add", (target, e)))

        return (
            *block,
            self.each(shape, identity_at(one)),
            Apply(solve, inverse, (a, one), place=s.place),
            self.zeroed(own, s),
            self.each(shape, trace),
        )

    def push_determinant(self, s: Apply, names: Mapping[str, str]) -> Block:
        """Return the tangent of ``D = determinant(A)``."""
        (a,) = s.operands
        shape = shape_of(a, 2)
        block: list[Statement] = []
        one, inverse = self.new(shape, block), self.new(shape, block)
        target = Load(names[s.target], (NULL,))

        def trace(i: Expr, j: Expr) -> Statement:
            factor = Op("mul", (Load(s.target, (NULL,)), Load(inverse, (j, i))))
            e = Op("times", (Load(names[a], (i, j)), factor))
            return Assign(target, Op("add", (target, e)))

        return (
            *block,
            self.each(shape, identity_at(one)),
            Apply(solve, inverse, (a, one), place=s.place),
            Assign(target, ZERO),
            self.each(shape, trace),
        )


def identity_at(array: str) -> Callable[..., Statement]:
    """Return a statement that sets elements of an array to those of the identity."""

    def identity(i: Expr, j: Expr) -> Statement:
        return Assign(Load(array, (i, j)), Select(Compare(("eq",), (i, j)), Const(1.0), ZERO))

    return identity


def shadow(array: str) -> str:
    """Return the name of the cotangent of an array."""
    found: Target = cotangent(Name(array))
    assert isinstance(found, Name)
    return found.name


def shape_of(array: str, axes: int) -> tuple[Expr, ...]:
    """Return the shape of an array."""
    return tuple([Length(array, axis) for axis in range(axes)])
