"""From a declared partial derivative, a Python function of numbers, to an expression.

    lambda x, y: -math.sin(x)     Op("neg", (Call(math.sin, (Name("x"),)),))

The function runs on symbols.  Where it branches it runs once for each side, and a `Select` joins
them; numbers that are known are passed as they are, so that it branches on them at once.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from mooncake_py.compiler.derivatives.number_functions import NUMPY_FUNCTIONS
from mooncake_py.compiler.regions.ir import Call, Compare, Const, Expr, Op, Select, walk
from mooncake_py.compiler.regions.special import is_special
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import ElementwiseRule

__all__ = ["Untraceable", "trace"]

PATHS = 8  # at most
COMPARISONS: dict[Any, str] = {
    np.equal: "eq", np.not_equal: "ne", np.less: "lt", np.less_equal: "le", np.greater: "gt",
    np.greater_equal: "ge",
}  # fmt: skip


class Untraceable(Exception):
    """A function that does more than arithmetic on its arguments."""


def trace(f: Callable[..., Any], args: Sequence[Expr], of_arrays: bool = False) -> Expr:
    """Return ``f(*args)`` as an expression, or raise `Untraceable`.

    Parameters
    ----------
    of_arrays : bool
        Whether the arguments may be arrays: then nothing branches on them, and functions of NumPy
        stay what they are.
    """
    return _followed(visible, f, args, of_arrays)


def _followed(
    seen: Callable[[Any, _Paths], Any], f: Any, args: Sequence[Expr], of_arrays: bool
) -> Expr:
    """Return ``f(*args)``, for a function that is `seen` as one that takes symbols."""
    given = [a.value if isinstance(a, Const) else Symbol(a) for a in args]
    paths = _Paths(of_arrays)
    try:
        return paths.explored(
            lambda: seen(f, paths)(*[a.on(paths) if isinstance(a, Symbol) else a for a in given])
        )
    except Untraceable:
        raise
    except Exception as error:
        raise Untraceable from error


class _Paths:
    """The branches that a function has taken, and which are still to be taken."""

    def __init__(self, of_arrays: bool) -> None:
        self.of_arrays = of_arrays
        self.sides: list[bool] = []
        self.tests: list[Expr] = []
        self.count = 0

    def branch(self, test: Expr) -> bool:
        """Take a side: the one that is due, or the first."""
        if self.of_arrays:
            raise Untraceable
        self.tests.append(test)
        if len(self.tests) > len(self.sides):
            self.sides.append(True)
        return self.sides[len(self.tests) - 1]

    def explored(self, run: Callable[[], Any]) -> Expr:
        """Return the value of a function that starts with the sides taken so far."""
        self.count += 1
        if self.count > PATHS:
            raise Untraceable
        known = len(self.sides)
        self.tests = []
        value = expression(run())
        tests, sides = self.tests, list(self.sides)
        for k in reversed(range(known, len(sides))):
            self.sides = [*sides[:k], False]
            other = self.explored(run)
            value = value if value == other else Select(tests[k], value, other)
        return value


class Symbol:
    """A number that is not known yet."""

    __slots__ = ("expr", "paths")

    def __init__(self, expr: Expr, paths: _Paths | None = None) -> None:
        self.expr = expr
        self.paths = paths

    def on(self, paths: _Paths) -> Symbol:
        """Return the symbol in a run that takes notes of its branches."""
        return Symbol(self.expr, paths)

    @property
    def real(self) -> Symbol:
        """The real part: the numbers are real."""
        return self

    def __bool__(self) -> bool:
        assert self.paths is not None
        test = self.expr
        if not is_truth(test):
            test = Compare(("ne",), (test, Const(0)))
        return self.paths.branch(test)

    def __hash__(self) -> int:
        raise Untraceable

    def made(self, op: str, *args: Any) -> Symbol:
        """Return the result of an operator."""
        return Symbol(Op(op, tuple(map(expression, args))), self.paths)

    def compared(self, op: str, a: Any, b: Any) -> Symbol:
        """Return the result of a comparison."""
        return Symbol(Compare((op,), (expression(a), expression(b))), self.paths)

    def joined(self, op: str, *others: Any) -> Symbol:
        """Return the result of an operator on booleans; for other numbers, it works on bits."""
        parts = [other.expr for other in (self, *others) if isinstance(other, Symbol)]
        if self.paths is None or self.paths.of_arrays or len(parts) <= len(others):
            raise Untraceable
        if not all(map(is_truth, parts)):
            raise Untraceable
        return Symbol(Op(op, tuple(parts)), self.paths)

    def __and__(self, other: Any) -> Symbol:
        return self.joined("and", other)

    def __or__(self, other: Any) -> Symbol:
        return self.joined("or", other)

    def __invert__(self) -> Symbol:
        return self.joined("not")

    def __neg__(self) -> Symbol:
        return self.made("neg", self)

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return self.made("abs", self)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Symbol:
        if method != "__call__" or kwargs:
            raise Untraceable
        if ufunc in COMPARISONS:
            return self.compared(COMPARISONS[ufunc], *args)
        assert self.paths is not None
        if ufunc is np.absolute:
            return self.made("abs", *args)
        if ufunc is np.sign or (is_special(ufunc) and not self.paths.of_arrays):
            return Symbol(Call(ufunc, tuple(map(expression, args))), self.paths)
        if ufunc not in NUMPY_FUNCTIONS:
            raise Untraceable
        own = ufunc if self.paths.of_arrays else NUMPY_FUNCTIONS[ufunc][0]
        return Symbol(Call(own, tuple(map(expression, args))), self.paths)

    def __array_function__(self, f: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return one of two numbers for `numpy.where`; other functions take no symbols."""
        assert self.paths is not None
        if f is np.iscomplexobj:
            return False
        if f is np.real:
            return self
        if f is not np.where or len(args) != 3 or kwargs or self.paths.of_arrays:
            raise Untraceable
        test, *sides = args
        if not isinstance(test, Symbol) or not is_truth(test.expr):
            raise Untraceable
        return Symbol(Select(test.expr, *map(expression, sides)), self.paths)


def _define_operators() -> None:
    def make(op: str) -> None:
        setattr(Symbol, f"__{op}__", lambda a, b: a.made(op, a, b))
        setattr(Symbol, f"__r{op}__", lambda a, b: a.made(op, b, a))

    def make_comparison(op: str) -> None:
        setattr(Symbol, f"__{op}__", lambda a, b: a.compared(op, a, b))

    for op in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
        make(op)
    for op in COMPARISONS.values():
        make_comparison(op)


_define_operators()


def is_truth(e: Expr) -> bool:
    """Return True for a comparison, or the result of operators on booleans."""
    return isinstance(e, Compare) or (isinstance(e, Op) and e.op in ("and", "or", "not"))


def expression(value: Any) -> Expr:
    """Return the expression of what a function computed: a truth counts as a number."""
    if isinstance(value, Symbol):
        e = value.expr
        return Select(e, Const(1.0), Const(0.0)) if is_truth(e) else e
    if type(value) is int or type(value) is float or type(value) is complex:
        return Const(value)  # type: ignore[arg-type]
    if isinstance(value, bool | np.floating | np.bool_):
        return Const(float(value))
    raise Untraceable


# Modules as a traced function sees them.


class _Globals(dict[str, Any]):
    """The globals of a traced function: other rules are traced too, `math` takes symbols."""

    def __init__(self, given: dict[str, Any], paths: _Paths) -> None:
        super().__init__(given)
        self.paths = paths

    def __getitem__(self, name: str) -> Any:
        return visible(super().__getitem__(name), self.paths)


def visible(value: Any, paths: _Paths) -> Any:
    """Return a global of a rule as a function that takes symbols.

    A function with its own rule is called: the rule says more than its text where that makes
    choices, as at points that it treats apart.
    """
    if type(value) is FunctionType:
        traced = by_text(value, paths)
        if not isinstance(registry.find(value), ElementwiseRule):
            return traced

        def called(*args: Any) -> Any:
            if not any(isinstance(a, Symbol) for a in args):
                return traced(*args)
            given = tuple(map(expression, args))
            return Symbol(inlined(value, given, paths.of_arrays) or Call(value, given), paths)

        return called
    if issubclass(type(value), ModuleType) and value.__name__ in ("math", "cmath"):
        return _Module(value, paths)
    return value


def by_text(f: FunctionType, paths: _Paths) -> FunctionType:
    """Return a function that takes symbols, with what it sees of modules."""
    scope = _Globals(f.__globals__, paths)
    return FunctionType(f.__code__, scope, f.__name__, f.__defaults__, f.__closure__)


def inlined(f: FunctionType, args: tuple[Expr, ...], of_arrays: bool) -> Expr | None:
    """Return a call with numbers that are known as arithmetic, else None.

    It may choose only whether it is infinite: other choices have their own derivatives.
    """
    if not any(isinstance(a, Const) for a in args):
        return None
    try:
        found = _followed(by_text, f, args, of_arrays)
    except Untraceable:
        return None
    choices = [e for e in walk(found) if isinstance(e, Select)]
    return found if all(is_infinite(e.a) or is_infinite(e.b) for e in choices) else None


def is_infinite(e: Expr) -> bool:
    """Return True for an infinite constant."""
    return isinstance(e, Const) and type(e.value) is float and math.isinf(e.value)


class _Module:
    """A module whose functions take symbols."""

    def __init__(self, module: ModuleType, paths: _Paths) -> None:
        self.module = module
        self.paths = paths

    def __getattr__(self, name: str) -> Any:
        f = getattr(self.module, name)
        return partial(self.call, f) if callable(f) else f

    def call(self, f: Any, *args: Any) -> Any:
        """Return ``f(*args)``, as an expression if an argument is a symbol."""
        if not any(isinstance(a, Symbol) for a in args):
            return f(*args)
        given = tuple(map(expression, args))
        if f is math.isfinite or f is cmath.isfinite:
            return Symbol(Compare(("lt",), (Op("abs", given), Const(math.inf))), self.paths)
        if self.module.__name__ != "math":
            raise Untraceable
        return Symbol(Call(f, given), self.paths)
