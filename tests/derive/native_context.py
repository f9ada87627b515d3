"""A context that does what Python does: rewritten code under it must equal the original."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from mooncake_py.derive.language.matching import Matching
from mooncake_py.derive.rewriting.load import derive, instantiate
from mooncake_py.errors import SourceUnavailableError

BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"]
BINARY += ["lshift", "rshift", "and_", "or_", "xor"]
INPLACE = ["i" + name.rstrip("_") for name in BINARY]
COMPARE = ["lt", "le", "eq", "ne", "gt", "ge"]
PLAIN = [*INPLACE, *BINARY, *COMPARE, "neg", "pos", "invert", "getitem", "setitem", "delitem"]


class NativeContext:
    """Run every operation natively, and count them.

    Parameters
    ----------
    within : tuple of str, optional
        Python functions from these files are derived when they are called, as an engine would.
    """

    fuses = False
    chosen: Any = None
    linked: Any = None
    numbers = frozenset({int, float, complex, bool})

    def __init__(self, within: tuple[str, ...] = ()) -> None:
        self.within = within
        self.seen: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and name not in ("within", "seen", "run"):
            object.__getattribute__(self, "seen").append(name)
        return object.__getattribute__(self, name)

    def run(self, function: FunctionType, *args: Any, **kwargs: Any) -> Any:
        new = instantiate(derive(function.__code__, function.__globals__), function)
        return new(*args, **kwargs, _mk_ctx=self)

    def call_one(self, f: Callable[..., Any], x: Any, /) -> Any:
        return self.call(f, x)

    def call(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if isinstance(f, MethodType):
            return self.call(f.__func__, f.__self__, *args, **kwargs)
        if isinstance(f, FunctionType) and f.__code__.co_filename in self.within:
            try:
                derived = derive(f.__code__, f.__globals__)
            except SourceUnavailableError:
                return f(*args, **kwargs)
            return instantiate(derived, f)(*args, **kwargs, _mk_ctx=self)
        return f(*args, **kwargs)

    def method(self, o: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        return self.call(getattr(o, name), *args, **kwargs)

    def decorator(self, d: Any) -> Any:
        return lambda f: self.call(d, f)

    def getattr(self, o: Any, name: str) -> Any:
        return getattr(o, name)

    def setattr(self, o: Any, name: str, value: Any) -> None:
        setattr(o, name, value)

    def delattr(self, o: Any, name: str) -> None:
        delattr(o, name)

    def iter(self, iterable: Any, pattern: Any = None) -> Any:
        return iter(iterable)

    def unpack(self, value: Any, pattern: Any) -> Any:
        return value

    def manager(self, manager: Any) -> Any:
        return manager

    def truth(self, value: Any) -> bool:
        return bool(value)

    def choose(self, value: Any) -> bool:
        self.chosen = value
        return bool(value)

    def link(self, name: str, a: Any, b: Any) -> Any:
        self.linked = b
        return getattr(self, name)(a, b)

    def contained(self, item: Any, container: Any) -> bool:
        return item in container

    def not_contained(self, item: Any, container: Any) -> bool:
        return item not in container

    def key(self, value: Any) -> Any:
        return value

    def format(self, value: Any, conversion: str, spec: str) -> str:
        return format({"": lambda v: v, "r": repr, "s": str, "a": ascii}[conversion](value), spec)

    def mapping(self, value: Any) -> Any:
        return value

    def class_made(self, cls: type) -> type:
        return cls

    def matching(self, subject: Any) -> Matching:
        return Matching(self, subject)

    def delegate(self, iterable: Any) -> Any:
        return iterable

    def augitem(self, op: str, o: Any, i: Any, v: Any) -> None:
        o[i] = getattr(operator, op)(o[i], v)

    def augattr(self, op: str, o: Any, name: str, v: Any) -> None:
        setattr(o, name, getattr(operator, op)(getattr(o, name), v))

    def storeback(self, o: Any, i: Any, v: Any) -> None:
        o[i] = v


for _name in PLAIN:
    setattr(NativeContext, _name, staticmethod(getattr(operator, _name)))
NativeContext.len = staticmethod(len)  # type: ignore[attr-defined]
NativeContext.identical = staticmethod(operator.is_)  # type: ignore[attr-defined]
NativeContext.not_identical = staticmethod(operator.is_not)  # type: ignore[attr-defined]
