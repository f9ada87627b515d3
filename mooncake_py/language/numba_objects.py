"""Objects of Numba that only compiled code can use, which are refused if they matter.

The engine can follow neither derivatives nor writes in typed containers, instances of jitted
classes and structures.  Numbers in constant ones can be read.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.diagnostics.pages import with_page
from mooncake_py.diagnostics.refusals import missing_rule
from mooncake_py.diagnostics.reporting import unsupported
from mooncake_py.remembered import remembered
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.numerals import checked

if TYPE_CHECKING:
    from mooncake_py.errors import MissingRuleError
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "call_library", "is_holder", "make", "read_attribute", "refuse_unreadable",
    "refused",
]  # fmt: skip

DECORATORS = frozenset({
    "numba.core.ccallback", "numba.core.decorators", "numba.np.ufunc.decorators",
})  # fmt: skip
ACCESSOR = "accessor"  # the function behind attributes of such instances
PASSED_ON = frozenset({"literal_unroll", "literally"})
READING = frozenset({"__contains__", "__getitem__", "__len__", "count", "get", "index"})
# From the beginning of a module to what its objects are, and what to take instead.
STRUCTURES = "numba.experimental.structref"
KINDS = {
    "numba.core.ccallback": ("a C callback of Numba's", "make it a jitted function"),
    "numba.core.extending": ("an intrinsic of Numba's", "register a rule for it, as by from_vjp"),
    "numba.core.withcontexts": (
        "a block of objmode",
        "call the Python function itself: it is differentiated without objmode",
    ),
    "numba.cuda": ("a kernel for a GPU", "write it as a jitted function for the CPU"),
    "numba.experimental.jitclass": (
        "an object of a jitted class",
        "leave the decorator jitclass out: plain classes are differentiated",
    ),
    STRUCTURES: (
        "a structure of Numba's",
        "use a named tuple or a plain class: these are differentiated",
    ),
    "numba.stencils": ("a stencil of Numba's", "write its loops in a jitted function"),
    "numba.typed": (
        "a typed container of Numba's",
        "use a list or a dict of Python, or an array",
    ),
}


@remembered
def kind_of(cls: type) -> tuple[str, str] | None:
    """Return a description of the objects of a class, and the advised alternative, or None."""
    bases = [*cls.__mro__, *type.mro(type(cls))]
    modules = [str(base.__module__) for base in bases]
    return next((KINDS[key] for key in KINDS for m in modules if m.startswith(key)), None)


def is_holder(value: Any) -> bool:
    """Return True for an object that holds values where only compiled code finds them."""
    cls = value if issubclass(type(value), type) else type(value)
    return cls not in INERT and kind_of(cls) is not None


def refused(ctx: Mode, f: Any, values: Any) -> MissingRuleError:
    """Return the error for a call that only compiled code can make."""
    found = next(filter(is_holder, (f, *values)), None)
    kind = (
        None if found is None else kind_of(found if issubclass(type(found), type) else type(found))
    )
    if kind is None:
        return missing_rule(ctx, f, values)
    what, fix = kind
    name = getattr(f, "__name__", None)
    return unsupported(
        ctx,
        f"{what} cannot be differentiated" + (f": {name}" if isinstance(name, str) else ""),
        why="its contents and methods are compiled, so the engine cannot follow derivatives and "
        "writes",
        fix=with_page(fix, "numba"),
    )


def make(ctx: Mode, cls: type, args: Any, kwargs: Any) -> Any:
    """Create an instance of one of Numba's classes; `prange` is a range."""
    if ctx.contains_active((*args, *kwargs.values())):
        raise refused(ctx, cls, (*args, *kwargs.values()))
    return cls(*args, **kwargs)


# Functions in Python.


def call_library(ctx: Mode, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Call a Python function of Numba's."""
    if f.__module__ in DECORATORS:
        return f(*args, **kwargs)
    if f.__name__ in PASSED_ON:
        return args[0]
    values = (*args, *kwargs.values())
    if any(map(ctx.contains_active, values)):
        raise refused(ctx, f, values)
    if not any(map(is_holder, values)):
        return checked(ctx, f, values, f(*args, **kwargs))
    if f.__name__ in READING:
        y = f(*args, **kwargs)
        if type(y) in INERT:
            return y
    raise refused(ctx, f, values)


def read_attribute(ctx: Mode, f: Any, values: Any) -> Any:
    """Return a number that is an attribute of an instance of a jitted class."""
    if getattr(f, "__name__", "") == ACCESSOR:
        y = f(*values)
        if type(y) in INERT:
            return y
    raise refused(ctx, f, values)


def refuse_unreadable(ctx: Mode, f: Any, values: Any) -> None:
    """Raise if a jitted function has no Python that could read what it is passed.

    Setters are written by Numba; attributes of structures call jitted functions in Python.
    """
    if f.py_func.__code__.co_filename == "<string>" or any(map(is_structure, values)):
        found = [value for value in values if is_holder(value)]
        if found:
            raise refused(ctx, f, found)


def is_structure(value: Any) -> bool:
    """Return True for a structure."""
    return type(value) not in INERT and kind_of(type(value)) is KINDS[STRUCTURES]
