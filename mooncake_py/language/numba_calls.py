"""Dispatch of calls of Numba's objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.jitted import is_jitted, key_of
from mooncake_py.language import numba_functions, numba_objects, numba_ufuncs
from mooncake_py.language.numba_objects import call_library, is_holder, read_attribute

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["call", "call_library", "is_holder", "read_attribute"]

SCALARS = ("numba.core.types.scalars", "numba.core.types.old_scalars")  # the second in Numba 0.61
UFUNCS = {
    ("numba.np.ufunc.dufunc", "DUFunc"): numba_ufuncs.call_elementwise,
    ("numba.np.ufunc.gufunc", "GUFunc"): numba_ufuncs.call_generalized,
}


def call(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Call an object of Numba's, or create one."""
    if is_jitted(f):
        return numba_functions.call(ctx, f, args, kwargs)
    if isinstance(f, type):
        return numba_objects.make(ctx, f, args, kwargs)
    run = UFUNCS.get(key_of(type(f)))
    if run is not None:
        return run(ctx, f, args, kwargs)
    if type(f).__module__ in SCALARS:  # converts a number
        return ctx.call(getattr(np, f.name), *args, **kwargs)
    raise numba_objects.refused(ctx, f, (*args, *kwargs.values()))
