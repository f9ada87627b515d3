"""Which elements of an array a message is about, in all forms in which mpi4py takes buffers."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from mpi4py import MPI
from mpi4py.util.dtlib import to_numpy_dtype
from numpy import ndarray

from mooncake_py.diagnostics.places import current_place
from mooncake_py.errors import MissingRuleError
from mooncake_py.words import with_article

__all__ = ["Blocks", "Message", "blocks_of", "message_of"]

Positions = slice | ndarray


class Message:
    """A buffer: an array, and the positions in its memory of the elements of a message.

    Attributes
    ----------
    array : ndarray
        The user's.
    order : {"C", "F"}
        In which order its elements stand in memory.
    positions : slice or ndarray of int
        Of the elements in that order.
    rows : int
        How many they are.
    is_vector : bool
        Whether they are the whole of a vector.
    """

    def __init__(self, array: ndarray, positions: Positions) -> None:
        self.array = array
        self.order: Literal["C", "F"] = "C" if array.flags.c_contiguous else "F"
        self.positions = positions
        self.rows = count_of(positions)
        self.dtype = array.dtype
        self.is_vector = (
            array.ndim == 1 and isinstance(positions, slice) and self.rows == array.size
        )


class Blocks(Message):
    """A buffer with elements for or from each rank.

    Attributes
    ----------
    counts : list of int
        How many for each.
    """

    def __init__(self, array: ndarray, positions: Positions, counts: Sequence[int]) -> None:
        super().__init__(array, positions)
        self.counts = list(counts)


def count_of(positions: Positions) -> int:
    """Return how many positions there are."""
    if isinstance(positions, slice):
        return positions.stop - positions.start
    return len(positions)


def array_of(data: Any) -> ndarray:
    """Return the array of a buffer.

    Raises
    ------
    BufferError or ValueError
        What mpi4py raises, for an array whose elements are not side by side.
    MissingRuleError
        For anything but an array of numbers.
    """
    if not isinstance(data, np.ndarray) and not isinstance(data, np.generic):
        raise MissingRuleError(
            f"a message from or into {with_article(type(data).__name__)} in a derivative",
            where=current_place()[0],
            why="derivatives follow NumPy arrays",
            fix="pass an array, or [array, MPI.DOUBLE]",
        )
    a = np.asarray(data)
    if not (a.flags.c_contiguous or a.flags.f_contiguous):
        MPI.buffer.frombuffer(a)  # raises, in mpi4py's words
        raise BufferError("the elements of the array are not side by side")
    return a


def positions_of(a: ndarray, count: int | None, datatype: Any, start: int = 0) -> Positions:
    """Return the positions of so many elements of an MPI type, from an extent on."""
    if datatype is None or is_basic(datatype, a.dtype):
        number = a.size - start if count is None else count
        if start + number > a.size:
            raise ValueError(f"message: {start + number} elements of an array of {a.size}")
        return slice(start, start + number)
    extent = datatype.Get_extent()[1]
    whole = a.nbytes // extent if extent else 0
    return packed_positions(a, whole if count is None else count, datatype, start * extent)


def is_basic(datatype: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether an MPI type is that of the elements of an array."""
    if not datatype.is_predefined:
        return False
    if to_numpy_dtype(datatype) != dtype:
        raise MissingRuleError(
            f"a message of {datatype.Get_name()} in an array of {dtype}",
            where=current_place()[0],
            why="a derivative follows elements as they are, not their bytes",
            fix="give the type of the array, or none",
        )
    return True


def packed_positions(a: ndarray, count: int, datatype: Any, offset: int) -> ndarray:
    """Return which elements of an array an MPI type picks: by sending their positions."""
    width = a.dtype.itemsize
    numbers = np.zeros((a.size, width), np.uint8)
    digits = min(width, 8)
    numbers[:, :digits] = np.arange(a.size, dtype="<u8")[:, None].view(np.uint8)[:, :digits]
    total = count * datatype.Get_size()
    packed = np.empty((total // width, width), np.uint8)
    memory = numbers.reshape(-1)[offset:]
    MPI.COMM_SELF.Sendrecv([memory, count, datatype], 0, recvbuf=[packed, MPI.PACKED], source=0)
    positions = np.zeros((len(packed), 8), np.uint8)
    positions[:, :digits] = packed[:, :digits]
    return positions.view("<u8").reshape(-1).astype(np.intp)


def is_type(value: Any) -> bool:
    """Return whether a part of a buffer's specification is an MPI type."""
    return isinstance(value, (MPI.Datatype, str))


def type_of(value: Any) -> Any:
    """Return an MPI type that may be given by its character."""
    return MPI.Datatype.fromcode(value) if isinstance(value, str) else value


def message_of(buf: Any) -> Message:
    """Return the elements of a message.

    Parameters
    ----------
    buf : ndarray or sequence
        An array; ``[array, type]``, ``[array, count]``, ``[array, count, type]`` or ``[array,
        (count, displacement), type]``.
    """
    if not isinstance(buf, (list, tuple)):
        a = array_of(buf)
        return Message(a, slice(0, a.size))
    data, *rest = buf
    a = array_of(data)
    datatype = type_of(rest.pop()) if rest and is_type(rest[-1]) else None
    count: Any = None
    start: Any = 0
    if len(rest) == 2:
        count, start = rest
    elif rest and isinstance(rest[0], (list, tuple)):
        count, start = rest[0]
    elif rest:
        count = rest[0]
    count = None if count is None else operator.index(count)
    return Message(a, positions_of(a, count, datatype, operator.index(start or 0)))


def blocks_of(buf: Any, size: int, in_parts: bool = False) -> Blocks:
    """Return the elements of a message with a block for each rank.

    Parameters
    ----------
    buf : ndarray or sequence
        As for :func:`message_of`; and with counts, ``[array, counts]``, or counts and
        displacements, ``[array, (counts, displacements), type]``.
    size : int
        The number of ranks.
    in_parts : bool
        Whether one count is that of a block, as for functions without a v, and not of all.
    """
    if not isinstance(buf, (list, tuple)):
        a = array_of(buf)
        return Blocks(a, slice(0, a.size), even(a.size, size, a, in_parts))
    data, *rest = buf
    a = array_of(data)
    datatype = type_of(rest.pop()) if rest and is_type(rest[-1]) else None
    counts: Any = None
    starts: Any = None
    if len(rest) == 2:
        counts, starts = rest
    elif rest and isinstance(rest[0], (tuple, list)) and len(rest[0]) == 2 and nested(rest[0]):
        counts, starts = rest[0]
    elif rest:
        counts = rest[0]
    if counts is None:
        whole = positions_of(a, None, datatype)
        return Blocks(a, whole, even(count_of(whole), size, a, in_parts))
    if np.ndim(counts) == 0:
        counts = [operator.index(counts)] * size
    counts = [operator.index(c) for c in counts]
    if starts is None:
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).tolist()
    parts = [
        positions_of(a, c, datatype, operator.index(s)) for c, s in zip(counts, starts, strict=True)
    ]
    positions = np.concatenate([as_indices(part) for part in parts])
    return Blocks(a, positions, [count_of(part) for part in parts])


def nested(pair: Sequence[Any]) -> bool:
    """Return whether a pair is one of counts and displacements, not of two counts."""
    return any(part is None or np.ndim(part) for part in pair)


def even(total: int, size: int, a: ndarray, in_parts: bool) -> list[int]:
    """Return how many elements each rank has, of so many."""
    if in_parts and total % size:
        raise ValueError(f"message: {a.size} elements are not the same number for {size} ranks")
    return [total // size + (r < total % size) for r in range(size)]


def as_indices(positions: Positions) -> ndarray:
    """Return positions as an array."""
    if isinstance(positions, slice):
        return np.arange(positions.start, positions.stop)
    return positions
