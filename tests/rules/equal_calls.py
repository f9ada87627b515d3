"""Whether an overlay does exactly what the function that it stands for does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.testing import assert_array_equal

__all__ = ["assert_same_call"]


def assert_same_call(
    overlay: Callable[..., Any], original: Callable[..., Any], *args: Any, **kwargs: Any
) -> None:
    """Compare the errors, or else the results and the arguments after the call, bit for bit."""
    ours, theirs = copy.deepcopy((args, kwargs)), copy.deepcopy((args, kwargs))
    expected = outcome(original, *theirs)
    assert_identical(outcome(overlay, *ours), expected)
    if not (isinstance(expected, type) and issubclass(expected, Exception)):
        assert_identical(ours, theirs)


def outcome(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Return the result, drawn from an iterator if it is one, or the type of the error."""
    try:
        result = function(*args, **kwargs)
        return list(result) if hasattr(result, "__next__") else result
    except Exception as error:
        return type(error)


def assert_identical(ours: Any, theirs: Any) -> None:
    """Compare two values in type, dtype, shape and content."""
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs), (ours, theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_identical(a, b)
    elif isinstance(theirs, dict):
        assert_identical(list(ours.items()), list(theirs.items()))
    elif isinstance(theirs, (np.ndarray, np.generic)):
        assert_array_equal(ours, theirs, strict=True)
    elif hasattr(theirs, "bit_generator"):
        assert ours.random() == theirs.random()
    elif isinstance(theirs, (int, float, complex, str, bytes, type)):
        assert ours == theirs or (ours != ours and theirs != theirs)
