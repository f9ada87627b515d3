"""Indices that are floats, which NumPy refuses; active ones too."""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from mooncake_py.errors import DerivativeDropError
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped

__all__ = ["index_error"]


def index_error(error: DerivativeDropError, o: ndarray, i: Any) -> Exception:
    """Return the `IndexError` of the plain call instead of an error for an active index.

    NumPy tries to make an array of an index; the error is another one if ``o[i]`` is possible.
    """
    try:
        o[unwrapped(i)]
    except IndexError as found:
        for part in i if type(i) is tuple else (i,):
            if type(part) is Active and part.context.failure is error:
                part.context.failure = None
        return found.with_traceback(None)
    return error
