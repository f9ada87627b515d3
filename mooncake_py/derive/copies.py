"""``copy.copy`` and ``copy.deepcopy``: arrays are copied with their derivative."""

from __future__ import annotations

import copy
from types import FunctionType
from typing import Any

from numpy import ndarray

from mooncake_py.derive.active import Active

__all__ = ["run_copy", "run_deepcopy"]


def run_deepcopy(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``copy.deepcopy``."""
    return deep_copied(ctx, *args, **kwargs)


def run_copy(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``copy.copy``."""
    if type(args[0]) is ndarray:
        return ctx.call(ndarray.copy, args[0], "K")
    method = getattr(type(args[0]), "__copy__", None)
    if type(method) is FunctionType:
        return ctx.call(method, args[0])
    return copy.copy(*args)


def deep_copied(ctx: Any, value: Any, memo: Any = None) -> Any:
    """Run ``copy.deepcopy``: arrays are copied with their derivative."""
    return copied_inside(ctx, value, {} if memo is None else memo)


def copied_inside(ctx: Any, value: Any, memo: dict[int, Any]) -> Any:
    """Copy one value; `memo` holds the copies so far by the id of the original."""
    if id(value) in memo:
        return memo[id(value)]
    t = type(value)
    if t is ndarray:
        result = ctx.call(ndarray.copy, value, "K")
    elif t is list:
        result = memo[id(value)] = []
        result.extend(copied_inside(ctx, v, memo) for v in value)
    elif t is tuple:
        result = tuple(copied_inside(ctx, v, memo) for v in value)
    elif t is dict:
        result = memo[id(value)] = {}
        result.update((k, copied_inside(ctx, v, memo)) for k, v in value.items())
    elif t is Active or not hasattr(value, "__dict__") or isinstance(value, type):
        result = copy.deepcopy(value, memo)
    elif type(getattr(t, "__deepcopy__", None)) is FunctionType:
        result = ctx.call(t.__deepcopy__, value, memo)
    elif isinstance(value, FunctionType) or t.__reduce_ex__ is not object.__reduce_ex__:
        result = copy.deepcopy(value, memo)
    else:
        result = memo[id(value)] = object.__new__(t)
        for name, field in vars(value).items():
            object.__setattr__(result, name, copied_inside(ctx, field, memo))
    memo[id(value)] = result
    memo.setdefault(id(memo), []).append(value)  # ids are reused once an object is gone
    return result
