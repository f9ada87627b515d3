"""Variables that a loop binds, that ran as one entry and does not give them back.

    for k in range(n):      k           the last step, where the range is known
        t = x[k] * a        t           nothing reads it later: only the region has had it
        s = s + t           s           given back

No name of the function means such a variable any more.  Whoever finds it in the frame of the
function, as a debugger or a function that looks at its caller does, must not take an older value
for the last one.
"""

from __future__ import annotations

from typing import Any, NoReturn

from mooncake_py.errors import Location, MissingRuleError

__all__ = ["LeftOut", "last_of"]

USES = (
    "abs", "add", "and", "array", "bool", "call", "complex", "contains", "divmod", "enter", "eq",
    "float", "floordiv", "ge", "getitem", "gt", "index", "int", "invert", "iter", "le",
    "len", "lshift", "lt", "matmul", "mod", "mul", "ne", "neg", "next", "or", "pos", "pow", "radd",
    "rand", "rdivmod", "reversed", "rfloordiv", "rlshift", "rmatmul", "rmod", "rmul", "ror",
    "round", "rpow", "rrshift", "rshift", "rsub", "rtruediv", "rxor", "setitem", "sub",
    "truediv", "xor",
)  # fmt: skip


class LeftOut:
    """What such variables are bound to: all that is done with it is an error.

    Parameters
    ----------
    where : Location
        Of the loop.
    """

    __slots__ = ("_where",)

    def __init__(self, where: Location) -> None:
        self._where = where

    def __repr__(self) -> str:
        return f"<not given back by the loop at line {self._where.line}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by whatever looks what this is
            raise AttributeError(name)
        refuse(self)

    __hash__ = object.__hash__


def refuse(self: LeftOut, *_: Any, **__: Any) -> NoReturn:
    """Raise the error."""
    raise MissingRuleError(
        "a variable was read from the frame of its function, where it has no value",
        where=self._where,
        why="the loop ran as one entry, and gave back only what its function reads later",
        fix="pass the variable, or read it in the function after the loop",
    )


for _use in USES:
    setattr(LeftOut, f"__{_use}__", refuse)


def last_of(steps: Any, otherwise: Any) -> Any:
    """Return the value of the target of a loop over a range after its last step."""
    return steps[-1] if type(steps) is range else otherwise
