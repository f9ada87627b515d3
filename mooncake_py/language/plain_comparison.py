"""The plain call of a function whose operands were converted, compared with what the rule gave.

NumPy's and SciPy's compiled code may do more with an object than convert it: ask for a length or a
float, run an operator, wrap the result.  So the engine runs the function natively on stand-ins that
know nothing but the converted array, and refuses the operand where they are asked for more, or
where the result is of another type, shape or value than that of the rule.
"""

from __future__ import annotations

from collections.abc import Callable
from types import WrapperDescriptorType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.foreign import flat, is_other, ufunc_of
from mooncake_py.application.native_writes import WRITERS
from mooncake_py.errors import MooncakeError
from mooncake_py.language.foreign_operands import is_users, refusal
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.numpy_operands import Conversion, sight_of
from mooncake_py.runtime.quiet import Quiet
from mooncake_py.tangents.subclasses import is_instance

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["compared", "copied", "tried"]


def compared(ctx: Mode, f: Any, given: Any, converted: Any, run: Callable[[], Any]) -> Any:
    """Run a rule and return its result, or raise if the plain call gives another one.

    `given` and `converted` are the arguments, by position and by keyword, before and after the
    conversion of foreign ones.
    """
    y, error = None, None
    try:
        y = run()
    except MooncakeError:
        raise
    except Exception as raised:
        error = raised
    values = list(flat((*given[0], *given[1].values())))
    others = [v for v in values if is_other(v)]
    writes = f in WRITERS or ufunc_of(f)[1] == "at" or given[1].get("out") is not None
    if not others or writes or any(map(is_instance, values)):
        if error is not None:
            raise error
        return y
    if y is None and error is None:
        return y
    met: list[str] = []
    args = [copied(stand_in(v, c, met)) for v, c in zip(given[0], converted[0], strict=True)]
    options = {n: copied(stand_in(v, converted[1][n], met)) for n, v in given[1].items()}
    with Quiet():
        try:
            sample = f(*args, **options)
        except Exception as raised:
            sample = raised
    if error is not None and isinstance(error, type(sample)):
        raise error
    if met or error is not None or not are_alike(unwrapped(y), sample):
        raise refusal(ctx, f, others[0])
    return y


def tried(ctx: Mode, f: Any, given: Any, converted: Any) -> None:
    """Raise if the plain call of a function that writes refuses a foreign operand.

    It runs on copies of the arrays, and before the rule.
    """
    others = [v for v in flat((*given[0], *given[1].values())) if is_other(v)]
    if f not in WRITERS or not others or any(map(is_instance, flat(given[0]))):
        return
    met: list[str] = []
    args = [copied(stand_in(v, c, met)) for v, c in zip(given[0], converted[0], strict=True)]
    options = {n: copied(stand_in(v, converted[1][n], met)) for n, v in given[1].items()}
    with Quiet():
        try:
            f(*args, **options)
        except Exception:
            raise refusal(ctx, f, others[0]) from None
    if met:
        raise refusal(ctx, f, others[0])


def copied(value: Any) -> Any:
    """Return an array that the plain call may write to, as SciPy does to `output`."""
    return value.copy() if type(value) is ndarray else value


def stand_in(value: Any, converted: Any, met: list[str]) -> Any:
    """Return a stand-in for an argument in the plain call."""
    t = type(value)
    if t is list or t is tuple:
        return t([stand_in(v, c, met) for v, c in zip(value, converted, strict=True)])
    if not is_other(value) or value is converted:
        return unwrapped(value)
    if not is_users(value):
        by_items = sight_of(value).conversion is Conversion.SEQUENCE  # it may hold active numbers
        return unwrapped(converted if by_items else value)
    plain: Any = unwrapped(converted)
    fields = {
        name: watched(name, part, met)
        for cls in reversed(t.__mro__)
        if cls.__module__ != "builtins"
        for name, part in cls.__dict__.items()
        if name not in NEUTRAL and type(part) is not WrapperDescriptorType  # that of a class in C
    }
    if hasattr(t, "__array_priority__"):
        fields["__array_priority__"] = t.__array_priority__
    kinds: list[Any] = [kind for kind in (float, complex, int) if isinstance(plain, kind)]
    if kinds and not isinstance(value, NUMBERS):
        number: Any = plain
        fields["__float__"] = lambda self: float(number)
    elif kinds:
        base = kinds[0]
        return type(t.__name__, (base,), fields)(getattr(base, f"__{base.__name__}__")(value))
    if hasattr(t, "__array__") or isinstance(plain, ndarray):
        fields["__array__"] = lambda self, dtype=None, copy=None: np.array(plain, dtype, copy=copy)
    elif isinstance(value, (list, tuple)):
        return t(plain) if not fields else plain
    else:
        items: Any = unwrapped(converted)
        fields["__len__"] = lambda self: len(items)
        fields["__getitem__"] = lambda self, i: items[i]
        fields.pop("__iter__", None)
    return type(t.__name__, (), fields)()


NUMBERS = (int, float, complex)
NEUTRAL = frozenset({
    "__class__", "__dict__", "__doc__", "__init__", "__module__", "__new__", "__qualname__",
    "__slots__", "__weakref__", "__hash__", "__annotations__",
    "__static_attributes__", "__firstlineno__", "__repr__", "__str__", "__init_subclass__",
    "__abstractmethods__", "_abc_impl", "__orig_bases__", "__parameters__",
})  # fmt: skip


def watched(name: str, part: Any, met: list[str]) -> Any:
    """Return a stand-in that notes lookups of an attribute of a class."""

    def note(*args: Any, **kwargs: Any) -> Any:
        met.append(name)
        raise AttributeError(name)

    if part is None:
        return None
    looked_up: Callable[..., Any] = note
    return looked_up if callable(part) and name.startswith("__") else property(note)


def are_alike(y: Any, sample: Any) -> bool:
    """Return whether two results are of the same types, shapes and values."""
    if isinstance(y, (list, tuple)):
        if type(y) is not type(sample) or len(y) != len(sample):
            return False
        return all(are_alike(a, b) for a, b in zip(y, sample, strict=True))
    if type(y) is not type(sample):
        return False
    if not isinstance(y, (ndarray, np.generic, int, float, complex)):
        return True
    a, b = np.asarray(y), np.asarray(sample)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind not in "fc":
        return a.dtype.kind == "O" or bool(np.array_equal(a, b))
    return bool(np.allclose(a, b, rtol=1e-6, atol=1e-12, equal_nan=True))
