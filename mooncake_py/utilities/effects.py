"""Side effects of user functions that run in the reverse pass, such as hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.arguments import name_of
from mooncake_py.containers.reach import joined
from mooncake_py.errors import UntrackedWriteError
from mooncake_py.modes.debug.snapshot import difference_between, is_plain_array, restore
from mooncake_py.runtime.activity import INERT, parts
from mooncake_py.tangents.memory import owner
from mooncake_py.utilities.ignoring import Reachable, is_known

if TYPE_CHECKING:
    from mooncake_py.modes.reverse.context import ReverseContext

__all__ = ["Apart"]


class Apart:
    """Around a call in the reverse pass: its writes do not change the derivative.

    The tape reads arrays as they were on the way forward.  What the function writes into these is
    taken out again after the call, there for its next call, and written when the derivative has
    ended.

    Parameters
    ----------
    ctx : ReverseContext
    f : callable
    own : iterable of object, optional
        Values whose arrays it may write.
    arrays : list of ndarray, optional
        All arrays that it can reach, where that is known.
    """

    def __init__(
        self,
        ctx: ReverseContext,
        f: Callable[..., Any],
        own: Iterable[Any] = (),
        arrays: list[ndarray] | None = None,
    ) -> None:
        self.ctx = ctx
        self.f = f
        self.own = {id(owner(a)) for a in arrays_in(own)}
        self.arrays = arrays

    def __enter__(self) -> None:
        if self.arrays is None:
            reached = Reachable(self.ctx, self.f, (), {}).kept
            arrays = [(path, a, old) for path, a, old in reached if is_plain_array(a)]
        else:
            known = [a for a in self.arrays if is_known(self.ctx, a)]
            arrays = [("an array", a, a.copy()) for a in known]
        self.before = [(p, a, old) for p, a, old in arrays if id(owner(a)) not in self.own]
        if self.ctx.waiting is not None:
            held = {id(a) for _, a, _ in self.before}
            others = [a for a in self.ctx.waiting.written() if id(a) not in held]
            self.before += [("an array", a, a.copy()) for a in others]
            self.ctx.waiting()

    def __exit__(self, *details: object) -> None:
        changes = [
            (path, a, old) for path, a, old in self.before if difference_between(a, old) is not None
        ]
        now = [a.copy() for _, a, _ in changes]
        for _, a, old in changes:
            restore(a, old)
        for (path, a, old), new in zip(changes, now, strict=True):
            if self.ctx.outers:
                raise self.refusal(path, new, old)
            if self.ctx.waiting is None:
                self.ctx.waiting = Written()
            self.ctx.waiting.add(a, old, new)

    def refusal(self, path: str, new: ndarray, old: Any) -> UntrackedWriteError:
        """Return the error for a write in a derivative inside another one, which reads on."""
        part, now, former = difference_between(new, old) or ("", "changed", "as before")
        error = UntrackedWriteError(
            f"{name_of(self.f)} changed data that the derivative depends on, on the reverse pass",
            where=self.ctx.user_location(),
            why=f"{joined(path, part)} is {now}, and was {former} before;\n"
            "a derivative outside of this one has computed with it",
            fix="let it write into an array that the function does not use",
        )
        self.ctx.failed(error)
        return error


def arrays_in(values: Iterable[Any]) -> Iterator[ndarray]:
    """Yield the arrays among values, and in their containers and objects at any depth."""
    for value in values:
        if issubclass(type(value), ndarray):
            yield value
        elif type(value) not in INERT:
            yield from arrays_in(parts(value))


class Written:
    """Elements of arrays that were written, and wait: by the id of the array."""

    def __init__(self) -> None:
        self.arrays: dict[int, tuple[ndarray, Any, ndarray]] = {}

    def add(self, a: ndarray, old: Any, new: ndarray) -> None:
        """Note the elements that differ."""
        mask = (pieces(new) != pieces(old)).reshape(a.shape)
        if id(a) in self.arrays:
            mask |= self.arrays[id(a)][1]
        self.arrays[id(a)] = a, mask, new

    def written(self) -> list[ndarray]:
        """Return the arrays."""
        return [a for a, _, _ in self.arrays.values()]

    def __call__(self) -> None:
        """Write them."""
        for a, mask, new in self.arrays.values():
            a[mask] = new[mask]


def pieces(a: Any) -> ndarray:
    """Return the bytes of each element."""
    flat = np.ascontiguousarray(a).reshape(-1)
    return flat.view(f"V{flat.itemsize}")
