"""The class of the result of a compiled NumPy function, found by running it on stand-ins.

Each NumPy function determines this class in its own way.  So the engine runs it on the plain
arrays, with the derivative, and again on views of classes that only record their origin.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.application.foreign import AS_ARRAYS, flat, is_other
from mooncake_py.application.native_writes import WRITERS
from mooncake_py.diagnostics.reporting import Reporting, dropped
from mooncake_py.errors import DerivativeDropError
from mooncake_py.language.foreign_operands import (
    MAKING,
    as_inputs,
    as_options,
    as_whole,
    is_users,
    refusal,
    require_known,
)
from mooncake_py.language.plain_comparison import compared, copied, tried
from mooncake_py.language.subclass_instances import as_own_array, dressed
from mooncake_py.modules import package_of
from mooncake_py.remembered import remembered
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.numpy_operands import (
    MISSING,
    Conversion,
    is_foreign,
    is_foreign_class,
    own,
    sight_of,
)
from mooncake_py.runtime.quiet import Quiet
from mooncake_py.tangents.subclasses import is_instance, named, plain_operands, plain_parts

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["asks_within", "no_meaning", "require_plain_form", "run_on_plain"]


def run_on_plain(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function in C on plain arrays, and make of the result what NumPy makes."""
    out = kwargs.get("out")
    if f in WRITERS and args and is_other(args[0]):
        raise refusal(ctx, f, args[0])  # it would write to a copy
    if f is np.copy:
        options = dict(zip(("order", "subok"), args[1:], strict=False))
        f, args, kwargs = np.array, args[:1], {"order": "K"} | options | kwargs
    if f in AS_ARRAYS and args and type(args[0]) is np.flatiter:  # a copy may be a view
        f, kwargs = np.array, {name: v for name, v in kwargs.items() if name != "device"}
    if f is np.concatenate and args and is_instance(args[0]):
        args = ([*ctx.iter(args[0])], *args[1:])  # whose class makes its rows
    given = args, kwargs
    if f in MAKING and args:
        args, kwargs = as_whole(ctx, f, args, kwargs)
    args = as_inputs(ctx, f, args)
    kwargs = as_options(ctx, f, kwargs)
    require_known(ctx, f, (*args, *kwargs.values()))
    tried(ctx, f, given, (args, kwargs))
    if out is not None:
        require_unasked(ctx, f, args, kwargs)
    options = {name: plain_parts(v) for name, v in kwargs.items()}
    run = partial(ctx.call, f, *plain_operands(args), **options)
    y = compared(ctx, f, given, (args, kwargs), run)
    if out is not None:  # NumPy returns some without axes as numbers
        out = out[0] if type(out) is tuple else out
        return out if isinstance(unwrapped(y), ndarray) else y
    if y is None or not any(map(named, (*args, *kwargs.values()))):
        return y  # it writes, or is of plain arrays
    stand_ins = StandIns()
    replaced = unwrapped((stand_ins.of(args), stand_ins.of(kwargs)))
    with Quiet():
        try:
            sample = f(*replaced[0], **replaced[1])
        except Asked:
            raise no_meaning(ctx, f, args) from None
    y = stand_ins.made(ctx, y, sample)
    require_form(ctx, f, given, y)
    return y


def require_unasked(ctx: Mode, f: Any, args: Any, kwargs: Any) -> None:
    """Raise if a function in C hands an output to a ufunc, which asks its class.

    `np.round` multiplies into it, for example, and returns what the class has made.
    """
    outs = [v for v in flat(kwargs["out"]) if is_instance(v)]
    if all(own(type(v), "__array_ufunc__") is MISSING for v in outs):
        return
    if is_asked_in(f, *unwrapped((asking_copies(args), asking_copies(kwargs)))):
        raise no_meaning(ctx, f, outs)


def is_asked_in(f: Any, args: Any, kwargs: Any) -> bool:
    """Return whether a function asks one of its arguments, which raise then."""
    with Quiet():
        try:
            f(*args, **kwargs)
        except Asked:
            return True
        except Exception:
            return False
    return False


def is_of_numpy(value: Any) -> bool:
    """Return whether a value is an array of a class of NumPy itself, whose code has no effects."""
    return is_instance(value) and package_of(type(value)) == "numpy"


def require_form(ctx: Mode, f: Any, given: Any, y: Any) -> None:
    """Raise if the plain call raises, or its result is of another class or shape.

    Some functions of np.matrix keep two axes; some functions of SciPy refuse masked arrays.
    """
    values = [v for v in flat((*given[0], *given[1].values())) if is_foreign(v)]
    if f in WRITERS or not values or not all(map(is_of_numpy, values)):
        return
    args, kwargs = unwrapped(given)
    with Quiet():
        try:
            sample = f(*args, **kwargs)
        except Exception:
            sample = None
    if form(sample) != form(unwrapped(y)):
        raise no_meaning(ctx, f, values)


def require_plain_form(ctx: Mode, f: Any, given: Any, y: Any) -> None:
    """Raise if a function in Python would ask a user's class, or keep it, where its rule does not.

    The function runs on stand-ins for the instances.
    """
    require_form(ctx, f, given, y)
    values = [v for v in flat((*given[0], *given[1].values())) if is_foreign(v)]
    if f in WRITERS or all(map(is_of_numpy, values)):
        return
    if any(is_users(v) for v in values if not is_instance(v)):  # it would run
        return
    stand_ins = StandIns()
    items = listed(given[0]), {name: listed(v) for name, v in given[1].items()}
    args, kwargs = unwrapped((stand_ins.of(items[0]), stand_ins.of(items[1])))
    args, options = list(map(copied, args)), {name: copied(v) for name, v in kwargs.items()}
    with Quiet():
        try:
            sample = f(*args, **options)
        except (Exception, Asked):
            sample = None
    if form(sample) != form(unwrapped(y)):
        raise no_meaning(ctx, f, values)


def listed(value: Any) -> Any:
    """Return a list for a sequence of another class, of which NumPy reads the items."""
    t = type(value)
    if t is tuple or t is list:
        return t([listed(part) for part in value])
    if not is_foreign_class(t) or is_instance(value):
        return value
    by_items = sight_of(value).conversion is Conversion.SEQUENCE
    return [listed(part) for part in value] if by_items else value


def form(y: Any) -> Any:
    """Return the class of a result, or of its parts, and its shape."""
    if isinstance(y, (tuple, list)):
        return tuple(map(form, y))
    return type(y), np.shape(y) if isinstance(y, (ndarray, np.generic)) else ()


class Asked(BaseException):
    """A function of NumPy asks the class of an operand, by one of its protocols."""


def asked(*args: Any, **kwargs: Any) -> Any:
    raise Asked


def no_meaning(ctx: Reporting, f: Any, values: Any) -> DerivativeDropError:
    """Return the error for an operation that a class takes part in, in a way no one knows."""
    name = next(filter(None, map(named, values)), "a subclass of ndarray")
    return dropped(
        ctx,
        f"active data in an array of class {name}, or together with one",
        why=f"what {getattr(f, '__name__', f)} makes of it is not known: the class changes what "
        "operations mean",
        fix="use plain arrays: np.asarray(x)",
    )


def asks_within(source: Any, args: Any, kwargs: Any) -> bool:
    """Return whether NumPy's Python code for a function asks an instance by ``__array_function__``.

    That is, whether it passes an instance on to others of NumPy's functions.  The code runs on
    copies.
    """
    values = flat((*args, *kwargs.values()))
    if not any(
        is_instance(v) and own(type(v), "__array_function__") is not MISSING for v in values
    ):
        return False
    return is_asked_in(source, *unwrapped((asking_copies(args), asking_copies(kwargs))))


def asking_copies(value: Any) -> Any:
    """Return a value with copies of arrays, of classes that raise when they are asked."""
    t = type(value)
    if t is list or t is tuple:
        return t(map(asking_copies, value))
    if t is dict:
        return {name: asking_copies(part) for name, part in value.items()}
    if not is_instance(value):
        return copied(value)
    of_functions = own(t, "__array_function__") is not MISSING
    return ndarray.view(ndarray.copy(value), asking_class(t) if of_functions else silent_class(t))


@remembered
def asking_class(cls: type) -> type:
    """Return a class like that of stand-ins whose ``__array_function__`` raises."""
    return type(cls.__name__, (silent_class(cls),), {"__array_function__": asked})


@remembered
def silent_class(cls: type) -> type:
    """Return a class that results are of where they would be of `cls`, and that runs no code."""
    priority = getattr(cls, "__array_priority__", 0.0)
    priority = priority if isinstance(priority, (int, float)) else 0.0
    fields = {"__array_priority__": priority, "__array_finalize__": note, "stands_for": ref(cls)}
    if getattr(cls, "__array_ufunc__", None) is not ndarray.__array_ufunc__:
        fields["__array_ufunc__"] = asked
    return type(cls.__name__, (ndarray,), fields)


def note(made: Any, template: Any) -> None:
    """Note what NumPy hands to ``__array_finalize__``."""
    made.template = template


class StandIns:
    """Arrays that stand for instances of subclasses."""

    def __init__(self) -> None:
        self.originals: dict[int, tuple[ndarray, ndarray]] = {}  # by id, with the stand-in

    def of(self, value: Any) -> Any:
        """Return a value with stand-ins for instances, in sequences and dicts too."""
        t = type(value)
        if t is list or t is tuple:
            return t(map(self.of, value))
        if t is dict:
            return {name: self.of(part) for name, part in value.items()}
        if not is_instance(value):
            return value
        new = ndarray.view(value, silent_class(t))
        self.originals[id(new)] = value, new
        return new

    def template(self, made: Any) -> Any:
        """Return the instance that a result is finalized by, perhaps over others; None if none."""
        while made is not None and id(made) not in self.originals:
            made = getattr(made, "template", None)
        return None if made is None else self.originals[id(made)][0]

    def made(self, ctx: Mode, y: Any, sample: Any) -> Any:
        """Return a result as it is of the classes that a sample is of."""
        if id(sample) in self.originals and self.originals[id(sample)][1] is sample:
            return self.originals[id(sample)][0]
        cls = getattr(type(sample), "stands_for", type(None))()
        if cls is not None:
            return dressed(ctx, as_own_array(ctx, y), cls, self.template(sample))
        if issubclass(type(sample), (tuple, list)) and type(y) is type(sample):
            parts = [self.made(ctx, v, s) for v, s in zip(y, sample, strict=True)]
            result: Any = type(y)(*parts) if hasattr(y, "_fields") else type(y)(parts)
            return result
        return y
