"""What the rule of a function does in a region: forward, back, and in a tangent."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.slices.calls.arguments import Arguments, Path
from mooncake_py.overriding import override
from mooncake_py.remembered import remembered
from mooncake_py.rules import creation, joining, registry
from mooncake_py.rules.broadcasting import fit
from mooncake_py.rules.differences import difference
from mooncake_py.rules.einsum import einsum_of_several
from mooncake_py.rules.exact_zeros import is_sound, pushed
from mooncake_py.rules.grids import area, slope
from mooncake_py.rules.interpolation import interpolated
from mooncake_py.rules.kinds import (
    AtOnce,
    BilinearRule,
    ElementwiseRule,
    LinearRule,
    NotImplementedDerivative,
    OverlayRule,
    Rule,
    VjpRule,
    ZeroDerivativeRule,
)
from mooncake_py.runtime import pulls
from mooncake_py.runtime.rule_pulls import THUNKS, careful_cotangent
from mooncake_py.runtime.values import FLOAT64

__all__ = [
    "ELEMENT", "ITEM", "Bilinear", "Chosen", "Cleared", "Constant", "Element", "Item", "Linear",
    "Operation", "Pulled", "Pushed", "PushedChoice", "fitted_to", "is_served", "made",
    "operation_of", "rule_of",
]  # fmt: skip

CREATED: frozenset[Any] = frozenset({
    np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like, np.eye, np.identity,
})  # fmt: skip
"""Functions that make arrays whatever their arguments hold."""
LINEAR = frozenset({*joining.JOINS, creation.assemble, slope, area})
"""Functions with a pullback that are linear in their first argument."""
FACTORS = 32  # of a product by `np.einsum`, at most, in which each alone it is linear
DRAWS = frozenset({"draws", "random", "shuffling", "transformed_draws"})
"""Files of rules whose functions must not run twice."""
NEW: frozenset[Any] = frozenset({
    *CREATED, *LINEAR, einsum_of_several, np.roll, np.cumsum, np.tile, np.repeat, np.copy,
    np.convolve, np.correlate, np.outer, np.inner, np.vdot, np.kron, np.tensordot, np.sort,
    np.linalg.inv, np.linalg.solve, np.linalg.norm, np.linalg.det, np.linalg.cholesky,
    np.trace, np.prod, np.cumprod, np.max, np.min, np.std, np.var, np.triu, np.tril, np.full,
    np.take, np.insert, np.delete, difference, interpolated,
})  # fmt: skip
"""Functions whose result is new memory; that of others may be a view of an operand."""
LIMIT = 64  # operations that are kept


class Operation:
    """What is done with a function of whole arrays.

    Attributes
    ----------
    function : callable
        That is called.
    wrt, flat : collection of int
        The positions of the arguments of which there are cotangents, and of those on which the
        function depends in steps only.
    multiplies : bool
        Whether a tangent may meet a factor that is not finite.
    """

    wrt: Sequence[int] = ()
    flat: Sequence[int] = ()
    multiplies = False

    def __init__(self, function: Any) -> None:
        self.function = function

    @property
    def callee(self) -> Any:
        """What stands for the function in a `Call`: itself, or the operation where that is ours."""
        return self.function

    @property
    def linear_in(self) -> tuple[Sequence[int], Sequence[int]]:
        """The positions of the arguments in which it is linear jointly, and in each alone."""
        return (), ()

    @property
    def is_new(self) -> bool:
        """Whether the result is new memory."""
        return self.function in NEW

    def reaches(self, position: int) -> bool:
        """Return True if there is a cotangent of an argument."""
        return position in self.wrt

    def ahead(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Return the value, and what the way back needs."""
        raise NotImplementedError

    def back(self, g: Any, saved: Any, paths: Sequence[Path]) -> list[Any]:
        """Return the cotangents of operands that stand at some places; None for zero."""
        raise NotImplementedError


class Constant(Operation):
    """A function whose value does not depend on what its arguments hold."""


class Cleared(Constant):
    """Zeros like the value of a function: the tangent of what does not move."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        super().__init__(self.zeros)

    @property
    @override
    def is_new(self) -> bool:
        return True

    def zeros(self, *args: Any, **kwargs: Any) -> Any:
        """Return the zeros, a number where the value is one."""
        y = self.operation.function(*args, **kwargs)
        return np.zeros_like(y) if type(y) is ndarray else 0.0


class OfFirst(Operation):
    """An operation of ours that is linear in its first argument."""

    wrt = (0,)

    @property
    @override
    def callee(self) -> Any:
        return self

    @property
    @override
    def linear_in(self) -> tuple[Sequence[int], Sequence[int]]:
        return (0,), ()


class Element(OfFirst):
    """The number that an element of an array is."""

    def __init__(self) -> None:
        super().__init__(float)


ELEMENT = Element()


class Item(OfFirst):
    """An array in a list."""

    def __init__(self) -> None:
        super().__init__(np.asarray)


ITEM = Item()


class Linear(Operation):
    """A function that is linear in some arguments."""

    def __init__(self, function: Any, rule: LinearRule) -> None:
        super().__init__(function)
        self.adjoint = rule.adjoint
        self.wrt = rule.wrt
        self.flat = rule.stepwise

    @property
    @override
    def linear_in(self) -> tuple[Sequence[int], Sequence[int]]:
        return self.wrt, ()

    @override
    def back(self, g: Any, saved: Any, paths: Sequence[Path]) -> list[Any]:
        args, kwargs = saved
        found = self.adjoint(g, *args, **kwargs)
        if len(self.wrt) == 1 and type(found) is not tuple:
            found = (found,)
        return [part_at(found, (self.wrt.index(path[0]), *path[1:])) for path in paths]


class Bilinear(Operation):
    """A function that is linear in each of its first two arguments."""

    wrt = 0, 1
    multiplies = True

    def __init__(self, function: Any, rule: BilinearRule) -> None:
        super().__init__(function)
        self.adjoints = rule.adjoints

    @property
    @override
    def linear_in(self) -> tuple[Sequence[int], Sequence[int]]:
        return (), (0, 1)

    @override
    def back(self, g: Any, saved: Any, paths: Sequence[Path]) -> list[Any]:
        args, kwargs = saved
        found = []
        for position, *rest in paths:
            c = self.adjoints[position](g, *args, **kwargs)
            if not is_sound(c, args[1 - position]):
                c = careful_cotangent(self.adjoints[position], position, g, args, kwargs)
            found.append(part_at(c, tuple(rest)))
        return found


class Pulled(Operation):
    """A function with a rule that returns output and pullback."""

    multiplies = True

    def __init__(self, function: Any, rule: VjpRule) -> None:
        super().__init__(function)
        self.rule = rule

    @property
    @override
    def linear_in(self) -> tuple[Sequence[int], Sequence[int]]:
        if self.function in LINEAR:
            return (0,), ()
        return (), range(1, FACTORS) if self.function is einsum_of_several else ()

    @override
    def reaches(self, position: int) -> bool:
        return True

    @override
    def ahead(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return self.rule.rule(*args, **kwargs)

    @override
    def back(self, g: Any, saved: Any, paths: Sequence[Path]) -> list[Any]:
        found = saved(g)
        whole = found if type(found) is tuple else (found,)
        return [part_at(whole, path) for path in paths]


class Chosen(Operation):
    """An elementwise function that chooses one of its operands."""

    def __init__(self, function: Any, rule: ElementwiseRule) -> None:
        super().__init__(function)
        self.partials = rule.partials
        self.wrt = range(len(rule.partials))

    @property
    @override
    def is_new(self) -> bool:
        return True

    @override
    def ahead(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        y = self.function(*args, **kwargs)
        return y, args

    def share(self, position: int, args: Sequence[Any]) -> Any:
        """Return the partial derivative for an argument."""
        partial: Any = self.partials[position]
        return partial(*args, None)

    @override
    def back(self, g: Any, saved: Any, paths: Sequence[Path]) -> list[Any]:
        return [part_at(pulls.product(g, self.share(path[0], saved)), path[1:]) for path in paths]


class PushedChoice(OfFirst):
    """The tangent of a choice along one operand, given before the arguments."""

    multiplies = True

    def __init__(self, chosen: Chosen, position: int) -> None:
        self.chosen = chosen
        self.position = position
        self.flat = range(1, 1 + len(chosen.partials))
        super().__init__(self.pushed)

    @property
    @override
    def is_new(self) -> bool:
        return True

    def pushed(self, t: Any, *args: Any) -> Any:
        """Return the tangent where the operand is chosen."""
        return self.ahead(t, *args)[0]

    @override
    def ahead(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        t, *own = args
        share = self.chosen.share(self.position, own)
        return pushed(t, share), share

    @override
    def back(self, g: Any, saved: Any, paths: Sequence[Path]) -> list[Any]:
        return [pulls.product(g, saved) for _ in paths]


class Pushed(Operation):
    """The tangent of a function by its rule, given the tangents before the arguments."""

    multiplies = True

    def __init__(self, pulled: Pulled) -> None:
        self.pulled = pulled
        super().__init__(self.pushed)

    @property
    @override
    def is_new(self) -> bool:
        return False

    def pushed(self, tangents: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the tangent of the value."""
        jvp: Any = self.pulled.rule.jvp
        y = self.pulled.function(*args, **kwargs)
        t = jvp(tangents, y, *args, **kwargs)
        return np.zeros_like(y) if t is None else t

    @override
    def ahead(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return self.pushed(*args, **kwargs), None


class Found(NamedTuple):
    """A rule, and the function that it is of."""

    function: Any
    rule: Rule


def rule_of(f: Any) -> Found | None:
    """Return the rule of a function, or of what it calls after all; None if it has no such."""
    rule = registry.find(f)
    if isinstance(rule, OverlayRule) and rule.built_in and rule.direct is not None:
        f = rule.direct
        rule = registry.find(f)
    if rule is None or not rule.built_in or stem(rule) in DRAWS:
        return None
    return Found(f, rule)


def stem(rule: Rule) -> str:
    """Return the name of the file of a rule."""
    return rule.origin.file.replace("\\", "/").rpartition("/")[2].removesuffix(".py")


def is_served(f: Any) -> bool:
    """Return True if a function may be one operation of a region."""
    try:
        found = rule_of(f)
    except TypeError:
        return False
    return found is not None and made(*found) is not None


def operation_of(f: Any, arguments: Arguments) -> Operation | None:
    """Return what a call of a function does, or None if it is none of a region."""
    if isinstance(f, Operation):
        return f
    found = rule_of(f)
    if found is None:
        return None
    if found.function is not f and not (
        takes(found.function, arguments) and has_names(f, arguments)
    ):
        return None
    return made(*found)


def has_names(f: Any, arguments: Arguments) -> bool:
    """Return True if an overlaid function has parameters of the names that are given."""
    rule = registry.find(f)
    assert isinstance(rule, OverlayRule)
    parameters = signature_of(rule.replacement)
    return {name for name, _ in arguments.named} <= {p.name for p in parameters}


@lru_cache(maxsize=LIMIT)
def made(f: Any, rule: Rule) -> Operation | None:
    """Return what is done with a function, by the kind of its rule."""
    if isinstance(rule, ZeroDerivativeRule):
        return Constant(f) if f in CREATED else None
    if isinstance(rule, LinearRule):
        return Linear(f, rule)
    if isinstance(rule, BilinearRule):
        partials = [isinstance(a, NotImplementedDerivative) for a in rule.adjoints]
        return None if any(partials) else Bilinear(f, rule)
    if isinstance(rule, VjpRule):
        return Pulled(f, rule)
    if isinstance(rule, ElementwiseRule) and len(rule.partials) > 2:
        choosing = all(type(p) is AtOnce for p in rule.partials)
        return Chosen(f, rule) if choosing else None
    return None


def takes(f: Callable[..., Any], arguments: Arguments) -> bool:
    """Return True if a Python function has parameters for the arguments, by their names."""
    parameters = signature_of(f)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if len(arguments.positional) > len(positional) and not takes_more:
        return False
    given = dict(zip([p.name for p in positional], arguments.positional, strict=False))
    named = dict(arguments.named)
    may_be_named = {
        p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    }
    if not named.keys() <= may_be_named - given.keys():
        return False
    given |= named
    is_text = {p.name for p in positional if p.annotation == "str"}
    return all(type(getattr(given.get(name), "value", None)) is str for name in is_text) and all(
        p.name in given for p in positional if p.default is p.empty
    )


@remembered
def signature_of(f: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """Return the parameters of a function, without what would keep the function alive."""
    return tuple(
        [
            p.replace(
                annotation=p.annotation if type(p.annotation) is str else p.empty,
                default=p.empty if p.default is p.empty else None,
            )
            for p in inspect.signature(f).parameters.values()
        ]
    )


def part_at(found: Any, path: Path) -> Any:
    """Return the cotangent at a place; None for zero."""
    for k in path:
        if type(found) in THUNKS:
            found = found()
        if found is None or k >= len(found):
            return None
        found = found[k]
    return found() if type(found) in THUNKS else found


def fitted_to(c: Any, shape: tuple[int, ...] | None) -> Any:
    """Return a cotangent as that of an array of some shape, or of a number."""
    if shape is None:
        return float(c.sum() if type(c) is ndarray else c)
    if type(c) is ndarray and c.shape == shape and c.dtype is FLOAT64:
        return c
    return fit(c, shape, FLOAT64)
