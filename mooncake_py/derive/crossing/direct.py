"""The short way through a pullback: arrays and numbers go in and come out, adjoints lie between.

A short tape of adjoints that nobody outside can see needs no state brought forth, no limits raised
and no structure walked through.  Measured on functions of 100 elements, Python 3.11: a call takes
2.3 us where the general way takes 15, what the adjoint computes not counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.crossing.outputs import seed
from mooncake_py.derive.recording.active import Active
from mooncake_py.derive.recording.memory import Memory
from mooncake_py.derive.recording.mirror import Mirror
from mooncake_py.derive.recording.pulls import ADJOINTS, READS
from mooncake_py.derive.recording.reverse import ReverseContext
from mooncake_py.derive.reports.places import GENERATED, PACKAGE
from mooncake_py.rules.kinds import Rule

__all__ = ["Direct"]

LONGEST = 64  # entries: on a longer tape the general way costs next to nothing
LENT = 1 << 15  # bytes from which on a cotangent is lent, not copied


class Direct:
    """How the cotangent of an array or a number goes to the tape.

    Attributes
    ----------
    output : ndarray or Active
    node : node
        Of the output.
    dtype, shape
        Of an array that nothing but the adjoint of the last operation gives a cotangent on;
        None for other outputs.
    lends : bool
        Whether that adjoint only reads its cotangent, so that it may be the caller's own array.
        Measured at a million elements: the pullback of ``x * y`` takes 1.9 times a hand-written
        one with a copy, 1.2 without.
    """

    __slots__ = ("dtype", "lends", "node", "output", "shape")

    def __init__(self, output: Any, node: Any, tape: Any) -> None:
        self.output = output
        self.node = node
        self.dtype = self.shape = None
        self.lends = False
        if type(node) is Memory and tape and tape[-1][1] is node:
            self.dtype, self.shape = output.dtype, output.shape
            self.lends = tape[-1][0] in READS and all(map(is_own, tape[-1]))

    @classmethod
    def of(cls, ctx: Any, output: Any, mirrors: list[Any]) -> Direct | None:
        """Return the short way for a forward pass, None if it must be reversed in general."""
        tape = ctx.tape
        if (
            type(ctx) is not ReverseContext
            or (type(output) is not ndarray and type(output) is not Active)
            or len(tape) > LONGEST
            or any(type(mirror) is Mirror for mirror in mirrors)
            or not all(is_adjoint(entry[0]) for entry in tape)
        ):
            return None
        return cls(output, ctx.find(output) if type(output) is ndarray else output, tape)

    def reverse(self, ctx: Any, cotangent: Any) -> None:
        """Give the cotangent to the output and run backwards."""
        node = self.node
        if type(cotangent) is ndarray:
            # What is general about `seed` takes 2 us.
            if cotangent.dtype is not self.dtype or cotangent.shape != self.shape:
                seed(ctx, self.output, cotangent, "dy")
            elif self.lends and cotangent.nbytes >= LENT:
                node.grad = lent = cotangent.view()
                lent.setflags(write=False)
            else:
                node.grad = cotangent.copy()
        elif type(cotangent) is float and type(node) is Active:
            node.grad = np.float64(cotangent)
        else:
            seed(ctx, self.output, cotangent, "dy")
        ctx.run_backwards()


def is_adjoint(pull: Any) -> bool:
    """Tell whether a tape function does nothing but add cotangents to others."""
    return pull in ADJOINTS or pull.__code__.co_filename.startswith(GENERATED)


def is_own(part: Any) -> bool:
    """Tell whether a part of an entry is no rule of a user's: that may write in its cotangent."""
    return not isinstance(part, Rule) or part.origin.file.startswith(PACKAGE)
