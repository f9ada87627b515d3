"""Classes of operands with methods that say that they ran, and operators to try them with."""

from __future__ import annotations

import decimal
import enum
import fractions
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py import zero_derivative

__all__ = ["ACTIVES", "OPERANDS", "calls", "measured", "note"]

calls: list[tuple[Any, ...]] = []
"""The methods that have run, in order, with the types of the operands."""
sys.__dict__["_calls_of_operators"] = calls
PLAIN = (float, int, complex, np.float64, np.float32, np.complex128, np.ndarray)


def note(*words: Any) -> None:
    """Remember a call: also of differentiated code, which this has no part in.

    The list is where debug mode does not look, as it would report the write.
    """
    sys.__dict__["_calls_of_operators"].append(words)


zero_derivative(note, because="it only remembers")


def answer(name: str, scale: float, self: Any, other: Any) -> Any:
    """Return the result of a method for the other operand and the contents of an object."""
    note(name, type(self).__name__, type(other).__name__)
    held = self.held if hasattr(type(self), "held_by") else 0.0
    return scale * other + held if type(other) in PLAIN else scale + held


class Forward:
    def __add__(self, other: Any) -> Any:
        return answer("add", 2.0, self, other)

    def __sub__(self, other: Any) -> Any:
        return answer("sub", 3.0, self, other)

    def __mul__(self, other: Any) -> Any:
        return answer("mul", 5.0, self, other)

    def __truediv__(self, other: Any) -> Any:
        return answer("truediv", 7.0, self, other)

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return answer("pow", 11.0, self, other)

    def __divmod__(self, other: Any) -> Any:
        return answer("divmod", 13.0, self, other)

    def __matmul__(self, other: Any) -> Any:
        return answer("matmul", 17.0, self, other)

    def __neg__(self) -> Any:
        note("neg", type(self).__name__)
        return 2.5

    def __abs__(self) -> Any:
        note("abs", type(self).__name__)
        return 3.5


class Reflected:
    def __radd__(self, other: Any) -> Any:
        return answer("radd", 1.5, self, other)

    def __rsub__(self, other: Any) -> Any:
        return answer("rsub", 2.5, self, other)

    def __rmul__(self, other: Any) -> Any:
        return answer("rmul", 3.5, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return answer("rtruediv", 4.5, self, other)

    def __rpow__(self, other: Any) -> Any:
        return answer("rpow", 5.5, self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return answer("rdivmod", 6.5, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return answer("rmatmul", 7.5, self, other)


class InPlace:
    def __iadd__(self, other: Any) -> Any:
        note("iadd", type(self).__name__, type(other).__name__)
        return self

    def __imul__(self, other: Any) -> Any:
        note("imul", type(self).__name__, type(other).__name__)
        return NotImplemented


class Comparing:
    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Any) -> Any:
        note("lt", type(self).__name__, type(other).__name__)
        return True

    def __gt__(self, other: Any) -> Any:
        note("gt", type(self).__name__, type(other).__name__)
        return False

    def __eq__(self, other: object) -> Any:
        note("eq", type(self).__name__, type(other).__name__)
        return True

    def __ge__(self, other: Any) -> Any:
        note("ge", type(self).__name__, type(other).__name__)
        return NotImplemented

    def __ne__(self, other: object) -> Any:
        return answer("ne", 1.75, self, other)


class Later:
    def __add__(self, other: Any) -> Any:
        note("add", type(self).__name__, type(other).__name__, "not")
        return NotImplemented

    def __mul__(self, other: Any) -> Any:
        note("mul", type(self).__name__, type(other).__name__, "not")
        return NotImplemented

    def __radd__(self, other: Any) -> Any:
        note("radd", type(self).__name__, type(other).__name__, "not")
        return NotImplemented

    def __rmul__(self, other: Any) -> Any:
        note("rmul", type(self).__name__, type(other).__name__, "not")
        return NotImplemented

    def __lt__(self, other: Any) -> Any:
        note("lt", type(self).__name__, type(other).__name__, "not")
        return NotImplemented


class Prior:
    __array_priority__ = 100.0


class NoUfuncs:
    __array_ufunc__ = None


class TakesUfuncs:
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        note("ufunc", ufunc.__name__, method, *[type(i).__name__ for i in inputs])
        numbers = [i for i in inputs if type(i) in PLAIN]
        return 5.0 * numbers[0] if numbers else 4.0


class Converted:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        note("array", type(self).__name__)
        return np.array([2.0, 3.0])


class Holder:
    """An object that may hold something active."""

    held_by = True

    def __init__(self, held: Any = 0.25) -> None:
        self.held = held


class CallsAnObject:
    """Special methods that are no functions."""

    class Method:
        def __call__(self, other: Any) -> Any:
            note("object", type(other).__name__)
            return other * 6.0

    __radd__ = Method()
    __lt__ = Method()
    __rmul__ = staticmethod(lambda other: other * 1.25)


class WithoutMethods:
    __radd__ = None
    __gt__ = None


class AsksForAFloat(float):
    """A float in arithmetic, which never calls this, though NumPy does."""

    def __float__(self) -> float:
        return 9.0


class Member(enum.IntEnum):
    TWO = 2


MIXINS: dict[str, tuple[type, ...]] = {
    "": (), "forward": (Forward,), "reflected": (Reflected,), "both": (Forward, Reflected),
    "in place": (Forward, Reflected, InPlace), "comparing": (Comparing,), "later": (Later,),
    "prior": (Prior, Forward, Reflected), "prior, bare": (Prior,), "no ufuncs": (NoUfuncs,),
    "no ufuncs, both": (NoUfuncs, Forward, Reflected, Comparing), "takes ufuncs": (TakesUfuncs,),
    "takes ufuncs, both": (TakesUfuncs, Reflected), "converted": (Converted,),
    "converted, both": (Converted, Reflected), "converted, prior": (Converted, Prior, Reflected),
}  # fmt: skip
BASES: dict[str, tuple[type, tuple[Any, ...]]] = {
    "object": (Holder, ()), "float": (float, (2.0,)), "int": (int, (2,)),
    "complex": (complex, (2.0, 1.0)), "np.float64": (np.float64, (2.0,)),
    "list": (list, ([2.0, 3.0],)), "tuple": (tuple, ((2.0, 3.0),)),
}  # fmt: skip


def class_over(base: type, name: str, mixin: str) -> type:
    """Return a class with the methods of some classes, and one base: NumPy's scalars need that."""
    found: dict[str, Any] = {}
    for part in reversed(MIXINS[mixin]):
        found.update({k: v for k, v in vars(part).items() if k not in ("__dict__", "__weakref__")})
    return type(name, (base,), found)


def maker(base: str, mixin: str) -> Callable[[], Any]:
    """Return a maker of instances of a class over a base."""
    cls, args = BASES[base]
    made = class_over(cls, f"{base}, {mixin}", mixin)
    return lambda: made(*args)


def array_maker(mixin: str) -> Callable[[], Any]:
    """Return a maker of instances of a subclass of ndarray."""
    made = class_over(np.ndarray, f"array, {mixin}", mixin)
    return lambda: np.array([2.0, 3.0]).view(made)


OPERANDS: dict[str, Callable[[], Any]] = {
    "float": lambda: 2.0, "int": lambda: 2, "bool": lambda: True, "complex": lambda: 2.0 + 1j,
    "np.float64": lambda: np.float64(2.0), "np.float32": lambda: np.float32(2.0),
    "np.int64": lambda: np.int64(2), "array": lambda: np.array([2.0, 3.0]),
    "0-d": lambda: np.array(2.0), "matrix": lambda: np.asmatrix([[2.0, 3.0]]),
    "masked": lambda: np.ma.masked_array([2.0, 3.0], [False, True]),
    "Fraction": lambda: fractions.Fraction(5, 2), "Decimal": lambda: decimal.Decimal("2.5"),
    "list": lambda: [2.0, 3.0], "tuple": lambda: (2.0, 3.0), "str": lambda: "ab",
    "None": lambda: None, "range": lambda: range(2, 4), "member": lambda: Member.TWO,
    "object methods": CallsAnObject, "no methods": WithoutMethods,
    "asks": lambda: AsksForAFloat(2.0), "object": object,
    **{f"{base}, {mixin}": maker(base, mixin) for base in BASES for mixin in MIXINS},
    **{f"array, {m}": array_maker(m) for m in MIXINS if "converted" not in m},
}  # fmt: skip

Both = type("Active", (Forward, Reflected, InPlace, Holder), {})
Plain = type("PlainArray", (np.ndarray,), {})
Own = type("OwnArray", (Forward, Reflected, np.ndarray), {})
VECTOR = np.array([0.7, 1.3])

ACTIVES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "float": (lambda x: x, 0.7), "np.float64": (lambda x: x[0], VECTOR),
    "complex": (lambda x: complex(x, 1.0), 0.7), "array": (lambda x: x * 1.0, VECTOR),
    "0-d": (lambda x: x * np.ones(()), np.array(0.7)), "list": (lambda x: [x, 2.0], 0.7),
    "holder": (lambda x: Both(x), 0.7),
    "class of arrays": (lambda x: (x * 1.0).view(Plain), VECTOR),
    "own class of arrays": (lambda x: (x * 1.0).view(Own), VECTOR),
    "matrix": (lambda x: np.asmatrix(x), VECTOR),
}  # fmt: skip
"""What makes an active operand of the argument of a function, and that argument."""


def measured(y: Any) -> Any:
    """Return a number that depends on all of a result; its types are noted."""
    shape = str(y.shape) if isinstance(y, np.ndarray) else ""
    note("result", type(y).__name__, str(getattr(y, "dtype", "")), shape)
    if isinstance(y, (tuple, list)):
        total = 0.0
        for part in y:
            total = total + measured(part)
        return total
    if isinstance(y, (bool, np.bool_)):
        note("truth", bool(y))
        return 0.0
    if isinstance(y, np.ma.MaskedArray):
        y = y.filled(0.25)
    if isinstance(y, np.ndarray):
        if y.dtype.kind == "O":
            return measured(y.tolist())
        y = np.asarray(y).ravel() * np.arange(1.0, y.size + 1.0)
        return np.sum(y.real) + 2.0 * np.sum(y.imag)
    if type(y) in PLAIN:
        z = y * 1.0
        return float(z.real) + 2.0 * float(z.imag)
    return y.held if isinstance(y, Holder) else 0.0
