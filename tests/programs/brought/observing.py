"""A function of programs that turns what can be seen of a value into a number.

So differences in types, dtypes, strides and shared memory are differences of the value.
"""

from __future__ import annotations

__all__ = ["SEEN"]

SEEN = """\
def seen(value, *others):
    kind = type(value).__name__
    total = (len(kind) % 7) + 0.1 * (ord(kind[0]) % 11)
    if isinstance(value, np.ndarray):
        total += 0.01 * (ord(value.dtype.char) % 13) + 0.3 * value.ndim
        if value.size > 1:
            total += 0.001 * sum([step for step, n in zip(value.strides, value.shape) if n > 1])
        total += 0.5 * value.flags.writeable
        for other in others:
            total += 0.7 * np.shares_memory(value, other) + 0.35 * (value is other)
    return 0.1 * total"""
