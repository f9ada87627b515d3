"""The error for a function that the engine can neither derive nor run natively."""

from __future__ import annotations

import array
import pickle
import weakref
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.native_modules import data_taken_out, is_constant_library
from mooncake_py.diagnostics.pages import with_page_about
from mooncake_py.diagnostics.places import current_place
from mooncake_py.diagnostics.public_names import entrance, public_name
from mooncake_py.diagnostics.snippets import by_partials, by_replacement, by_vjp, by_wrapper
from mooncake_py.errors import MissingRuleError
from mooncake_py.modules import module_of
from mooncake_py.rules.kinds import function_name, is_hashable

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Reporting

__all__ = ["missing_rule"]

OTHER_WAYS = {
    memoryview: "index the array itself",
    array.array: "use a list or a NumPy array",
    ndarray.tobytes: "index the array itself, or convert it outside of the function; for bytes "
    "that are\na key only, ignore_derivatives(x.tobytes)",
    ndarray.view: "use z.real and z.imag for the parts of complex numbers, astype for values",
    pickle.dumps: "save it outside of the function; copy.deepcopy makes copies",
    weakref.ref: "leave the callback out, or register it outside of the function",
    weakref.proxy: "use weakref.ref(o) and call it, or the object itself",
    np.frompyfunc: "use np.vectorize(f, otypes=[float]), which is differentiated, or write a loop "
    "or an array expression",
}
INDICES = {
    "scipy.spatial.ConvexHull": "simplices",
    "scipy.spatial.Delaunay": "simplices",
    "scipy.spatial.Voronoi": "ridge_points",
}
"""Classes made of points, and their attribute that tells which of these belong together."""
IN_PARALLEL = ("concurrent.", "multiprocessing.", "threading.")
RUN_HERE = (
    "call the function here, in a loop if need be; take derivatives in threads or processes,\n"
    "not threads or processes in a derivative"
)
DRAWN = "draw constants: ax.plot(stop_gradient(x))"
IN_PLACE = "or, if it writes into its arguments, an overlay or rrule.register"
FROM_PYTHON = " (vectorized)"  # ends the names that np.frompyfunc gives, which are not Python
COMPILED = "it is compiled, so there is no Python source to derive a rule from"


def missing_rule(
    ctx: Reporting, f: Any, values: Any, why: str = "", keywords: Any = ()
) -> MissingRuleError:
    """Return the error for a function that has neither a rule nor source to derive one from.

    The last of the values are those of the keywords.
    """
    where, innermost = current_place()
    name, core = names(f)
    reason = why or (f"it calls {core}, which is compiled" if core else COMPILED)
    if is_view_of_subclass(f, values):
        reason = "subclasses of ndarray give their operators a meaning of their own"
    kinds = ", ".join(describe_argument(ctx, value) for value in values)
    inside = f", in {innermost}" if innermost != where else ""
    error = MissingRuleError(
        f"no rule for {name}",
        where=where,
        why=f"{reason};\ncalled with ({kinds}){inside}",
        fix=with_page_about(fix(ctx, f, name, core, values, keywords, bool(why)), f, *values),
    )
    ctx.failed(error)
    return error


def names(f: Any) -> tuple[str, str]:
    """Return the name by which users call a function, and that of the compiled one behind it.

    The second is empty if users call the compiled function itself.
    """
    public = public_name(f)
    if public:
        return public, ""
    is_ufunc = type(f) is np.ufunc  # which does not say where it lives
    own = f"the ufunc {f.__name__}" if is_ufunc else function_name(f)
    within = entrance()
    return (within, own) if within else (f.__name__ if is_ufunc else own, "")


def fix(
    ctx: Reporting, f: Any, name: str, core: str, values: Any, keywords: Any, unseen: bool
) -> str:
    """Return the fix for a function without a rule."""
    other = other_way(f, values)
    if other:
        return other
    if name.startswith(IN_PARALLEL):
        return RUN_HERE
    foreign = next((v for v in values if is_constant_library(module_of(type(v)))), None)
    if foreign is not None:
        return data_taken_out(type(foreign).__module__)
    if name.startswith("matplotlib."):
        return DRAWN
    if isinstance(f, type) and not core:
        return without_class(name)
    outside = "do it outside of the function, or " if unseen else ""
    if type(f) is np.ufunc and f.__name__.endswith(FROM_PYTHON):
        return (
            f"{OTHER_WAYS[np.frompyfunc]};\n"
            "or call it in a Python function, and declare a rule for that function\n"
            f"{by_wrapper([True] * f.nin, False)}"
        )
    if type(f) is np.ufunc and f.nout == 1 and not core and f.signature is None:
        return f"{outside}declare its partial derivatives:\n{by_partials(name, f.nin)}"
    active = [ctx.contains_active(value) for value in values]
    count = len(active) - len(keywords)
    if not any(active):
        return (
            f"{outside}give it a replacement in Python:\n"
            f"{by_replacement(name, count, bool(keywords))}\n"
            f"or, if it has no derivative and changes nothing, zero_derivative({name})"
        )
    if not is_hashable(f):
        return (
            "it cannot have a rule itself: call it in a Python function, and declare a rule for "
            f"that function\n{by_wrapper(active[:count], bool(keywords))}\n"
            f"{IN_PLACE}(call, mutates=...)"
        )
    positional = None if core else active[:count]
    return (
        f"{outside}register a rule, for example\n{by_vjp(name, positional, bool(keywords))}\n"
        f"{IN_PLACE}({name}, mutates=...)\n"
        f"or, if it has no derivative, zero_derivative({name})"
    )


def without_class(name: str) -> str:
    """Return the advised alternative to a compiled class, which would read numbers."""
    _, _, kind = name.rpartition(".")
    indices = INDICES.get(name)
    if indices is None:
        return f"keep the numbers in arrays, lists or objects instead of {name}"
    return (
        "compute what you need from the points themselves: the indices are constant,\n"
        f"found = ignore_derivatives({kind}, points)\n"
        f"corners = points[found.{indices}]"
    )


def other_way(f: Any, values: Any) -> str:
    """Return the advised alternative to a function for which no rule is possible."""
    if type(f) is MethodType:
        f = f.__func__
    if is_view_of_subclass(f, values):
        return "compute with plain arrays, or keep the array as an attribute of a class of your own"
    try:
        return OTHER_WAYS.get(f, "")
    except TypeError:  # a callable that cannot be hashed
        return ""


def is_view_of_subclass(f: Any, values: Any) -> bool:
    """Return whether an array was to become one of a subclass of ndarray."""
    return f is ndarray.view and any(
        isinstance(v, type) and issubclass(v, ndarray) and v is not ndarray for v in values
    )


def describe_argument(ctx: Reporting, value: Any) -> str:
    """Return activity, type, dtype and shape of an argument, for a message."""
    active = "active " if ctx.contains_active(value) else ""
    if isinstance(value, ndarray):
        return f"{active}{value.dtype}[{', '.join(map(str, value.shape))}]"
    return active + (value.__class__).__name__
