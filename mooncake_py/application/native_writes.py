"""NumPy's writes before it raises, where the engine runs a function in another way.

The engine computes first and writes then, so that an error leaves memory as it was.  NumPy may have
written by then: everything before a floating-point error, some elements before a bad index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.runtime import activity
from mooncake_py.runtime.late_errors import refuse_to_go_on
from mooncake_py.tangents.bits import bits_of

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Reporting

__all__ = ["WRITERS", "refuse_other_writes"]

WRITERS = frozenset({
    np.copyto, np.place, np.putmask, np.put, np.put_along_axis, np.fill_diagonal, np.ufunc.at,
    np.add.at, np.subtract.at, ndarray.fill, ndarray.put, ndarray.sort, ndarray.partition,
    np.ufunc.reduce, np.ufunc.accumulate, np.ufunc.reduceat, ndarray.choose, np.choose,
    ndarray.clip, np.clip,
})  # fmt: skip
"""Functions with an overlay that write into an argument, always or into `out`."""


def refuse_other_writes(ctx: Reporting, error: Exception, f: Any, args: Any, kwargs: Any) -> None:
    """Let the call not go on after an error unless `f` by itself leaves what is in memory now.

    Parameters
    ----------
    f : callable
        A function of NumPy that raised; it is tried on copies of its arguments.
    """
    copies: list[tuple[ndarray, ndarray]] = []

    def copied(value: Any) -> Any:
        if issubclass(type(value), ndarray):
            copies.append((value, value.copy("K")))
            return copies[-1][1]
        if type(value) is tuple or type(value) is list:
            return type(value)(map(copied, value))
        return value

    args, kwargs = activity.unwrapped(tuple(args)), activity.unwrapped(dict(kwargs))
    try:
        f(*map(copied, args), **{name: copied(value) for name, value in kwargs.items()})
    except Exception:
        pass
    else:  # it does not accept the layout of an output, which it sees before it writes
        return
    if any(bits_of(a) != bits_of(copy) for a, copy in copies):
        refuse_to_go_on(ctx, error)
