"""``np.nditer`` in Python, because the engine cannot see accesses through the original.

Here each window is a view of its operand, so that reads carry the derivative and writes are undone.
The order of iteration is that of the original, which runs once without accessing the operands.
Buffers, which are copies, are refused.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.rules.declare import overlay, zero_derivative
from mooncake_py.rules.stand_ins import StandIn
from mooncake_py.tangents.memory import address, is_writeable

__all__: list[str] = []

COPYING = frozenset({
    "buffered", "common_dtype", "copy_if_overlap", "delay_bufalloc", "ranged",
})  # fmt: skip

WRITING = frozenset({"readwrite", "writeonly"})


@overlay(np.nditer)
def nditer(
    op: Any, flags: Any = None, op_flags: Any = None, op_dtypes: Any = None, order: Any = "K",
    casting: Any = "safe", op_axes: Any = None, itershape: Any = None, buffersize: Any = 0,
) -> Any:  # fmt: skip
    """Return an iterator that hands out views."""
    flags = tuple(flags or ())
    copying = sorted(COPYING.intersection(flags)) or ["op_dtypes"] * (op_dtypes is not None)
    if copying:
        refuse(f"numpy.nditer with {', '.join(copying)}")
    several = isinstance(op, (list, tuple))
    given = op if several else [op]
    operands = [x if x is None else np.asanyarray(x) for x in given]
    if op_flags is not None and not several and isinstance(op_flags[0], str):
        op_flags = [op_flags]
    for x, how in zip(given, op_flags or (), strict=False):
        if not (x is None or isinstance(x, ndarray)) and not WRITING.isdisjoint(how):
            refuse_writing(how)
    steps = route(operands, flags, op_flags, order, casting, op_axes, itershape)
    if steps is None:
        refuse("numpy.nditer with op_flags that make copies")
    allocated = [np.empty_like(like) for like in steps.allocated]
    operands = [allocated.pop(0) if x is None else x for x in operands]
    return Iterator(operands, steps)


def refuse(what: str) -> NoReturn:
    raise MissingRuleError(
        f"{what} cannot be differentiated",
        why="it does not yield views of the arrays, so the engine cannot follow reads and "
        "writes through it",
        fix="leave that out, or loop over the arrays or their indices (np.ndindex)",
    )


def refuse_writing(op_flags: Any) -> None:
    """Raise NumPy's error if an operand that is not an array is to be written to."""
    np.nditer(0.0, op_flags=[tuple(op_flags)])  # pyright: ignore[reportCallIssue, reportArgumentType]


zero_derivative(refuse_writing, because="raises")


def refuse_nested(*args: Any, **kwargs: Any) -> NoReturn:
    refuse("numpy.nested_iters")


overlay(np.nested_iters)(refuse_nested)


class Window(NamedTuple):
    """Where a view lies within its operand."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    writeable: bool


class Route(NamedTuple):
    """The steps of an iteration.

    Attributes
    ----------
    windows : list
        For each step the window into each operand.
    indices, multi_indices : list
        For each step, or empty where they were not asked for.
    allocated : list of ndarray
        Arrays like those that the iterator allocates.
    shape : tuple of int
        Of the iteration.
    """

    windows: list[list[Window]]
    indices: list[int]
    multi_indices: list[tuple[int, ...]]
    allocated: list[ndarray]
    shape: tuple[int, ...]


def route(operands: Any, flags: Any, op_flags: Any, *options: Any) -> Route | None:
    """Return the steps of the original, or None if it would iterate over copies."""
    order, casting, op_axes, itershape = options
    extra: dict[str, Any] = {}
    if itershape is not None:
        extra["itershape"] = itershape
    native = np.nditer(
        operands, flags, op_flags, order=order, casting=casting, op_axes=op_axes, **extra
    )
    windows: list[list[Window]] = []
    indices: list[int] = []
    multi_indices: list[tuple[int, ...]] = []
    with native:
        arrays, shape = native.operands, () if native.finished else native.shape
        if any(x is not None and x is not a for x, a in zip(operands, arrays, strict=True)):
            return None
        for given in native:
            views: Any = given if native.nop > 1 else (given,)
            windows.append([window(v, a) for v, a in zip(views, arrays, strict=True)])
            if native.has_index:
                indices.append(native.index)
            if native.has_multi_index:
                multi_indices.append(native.multi_index)
    allocated = [a for x, a in zip(operands, arrays, strict=True) if x is None]
    return Route(windows, indices, multi_indices, allocated, shape)


def window(view: ndarray, operand: ndarray) -> Window:
    return Window(address(view) - address(operand), view.shape, view.strides, is_writeable(view))


zero_derivative(route, because="returns places in memory")


class Memory:
    """Stands between an operand and a window into it, for NumPy to read."""

    def __init__(self, base: ndarray, interface: dict[str, Any]) -> None:
        self.base = base
        self.__array_interface__ = interface


def view_of(operand: ndarray, place: Window) -> ndarray:
    """Return a window into an operand."""
    interface = {
        **operand.__array_interface__,
        "shape": place.shape,
        "strides": place.strides,
        "data": (address(operand) + place.offset, not place.writeable),
    }
    return np.asarray(Memory(operand, interface))


zero_derivative(view_of, because="a view: its shadow is a view of the operand's")


class Iterator(StandIn):
    """Do what ``np.nditer`` does."""

    _stands_for = np.nditer

    def __init__(self, operands: list[ndarray], steps: Route) -> None:
        self.operands = tuple(operands)
        self._arrays = [np.asarray(a) for a in operands]  # whose windows are of no other class
        self._steps = steps
        self.shape = steps.shape
        self.nop = len(operands)
        self.ndim = len(steps.shape)
        self.itersize = sum([int(np.prod(places[0].shape, dtype=int)) for places in steps.windows])
        self.dtypes = tuple(a.dtype for a in operands)
        self.has_index = bool(steps.indices)
        self.has_multi_index = bool(steps.multi_indices)
        self.iterindex = 0
        self.finished = not steps.windows
        self._started = False

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        if self.finished or (self._started and not self.iternext()):
            raise StopIteration
        self._started = True
        return self.value

    def iternext(self) -> bool:
        if self.iterindex + 1 < len(self._steps.windows):
            self.iterindex += 1
            return True
        self.finished = True
        return False

    def reset(self) -> None:
        self.iterindex = 0
        self.finished = not self._steps.windows
        self._started = False

    @property
    def value(self) -> Any:
        views = self[:]
        return views if self.nop > 1 else views[0]

    @property
    def index(self) -> int:
        if not self.has_index:
            raise ValueError("Iterator does not have an index")
        return self._steps.indices[self.iterindex]

    @property
    def multi_index(self) -> tuple[int, ...]:
        if not self.has_multi_index:
            raise ValueError("Iterator is not tracking a multi-index")
        return self._steps.multi_indices[self.iterindex]

    def __len__(self) -> int:
        return self.nop

    def __getitem__(self, i: Any) -> Any:
        places = self._steps.windows[self.iterindex]
        if isinstance(i, slice):
            return tuple([view_of(a, p) for a, p in zip(self._arrays[i], places[i], strict=True)])
        return view_of(self._arrays[i], places[i])

    def __setitem__(self, i: Any, value: Any) -> None:
        self[i][...] = value

    def __enter__(self) -> Iterator:
        return self

    def __exit__(self, *details: object) -> None:
        pass

    def close(self) -> None:
        pass
