"""A region that runs on copies, in a context of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.modes.debug.mirror import Mirror
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.values import NUMBERS
from mooncake_py.tangents.memory import owner

if TYPE_CHECKING:
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["REALS", "Run"]

REALS = frozenset({float, np.float64, np.float32})
ITEMS = NUMBERS | {Active}


class RegionMirror(Mirror):
    """Copies of what a region is given.

    Parameters
    ----------
    base : ReverseMode
        Whose values are copied.
    values : iterable
    own : ReverseMode
    nudge : callable, optional
        Returns a number or an array with errors, for copies that have some.
    """

    def __init__(
        self,
        base: ReverseMode,
        values: Iterable[Any],
        own: ReverseMode,
        nudge: Callable[[Any], Any] | None,
    ) -> None:
        self.nudge = nudge
        self.lists: dict[int, Any] = {}
        super().__init__(base, [], values, own, [])
        if nudge is not None:
            arrays = {id(owner(v)): owner(v) for v in self.values if type(v) is ndarray}
            for a in arrays.values():
                if a.dtype.kind in "fc":
                    a[...] = nudge(a)

    @override
    def takes(self, a: ndarray) -> bool:
        return a.dtype.kind in "biufc"

    @override
    def nudged(self, value: Any) -> Any:
        return self.nudge(value) if self.nudge and type(value) in REALS else value

    @override
    def copy(self, level: int, value: Any) -> Any:
        if type(value) is list or type(value) is tuple:
            if id(value) not in self.lists:  # items other than numbers are not looked into
                items = [self.copy(level, v) if type(v) in ITEMS else v for v in value]
                self.lists[id(value)] = type(value)(items)
            return self.lists[id(value)]
        return super().copy(level, self.nudged(value))


class Run:
    """A region that runs in a context of its own, on copies.

    Parameters
    ----------
    ctx : ReverseMode
        Whose values are copied.
    site : Site or RegionSite
    functions, steps, inputs
        As the site is given them.
    nudge : callable, optional
        What returns a number or an array with errors.

    Attributes
    ----------
    inputs : dict of str to object
        The copies, which the region has changed.
    found : dict of str to object
        What it has given back, or `Elsewhere`.
    """

    def __init__(
        self,
        ctx: ReverseMode,
        site: Any,
        functions: Any,
        steps: Any,
        inputs: dict[str, Any],
        nudge: Callable[[Any], Any] | None = None,
    ) -> None:
        self.own = ReverseContext()
        values = RegionMirror(ctx, inputs.values(), self.own, nudge).values
        self.inputs = dict(zip(inputs, values, strict=True))
        self.before = {name: tuple(v) if type(v) is list else v for name, v in self.inputs.items()}
        self.site, self.functions, self.steps = site, functions, steps
        self.found: Any = None

    def forward(self) -> Run:
        """Run it."""
        self.found = self.site.record(self.own, self.functions, self.steps, dict(self.inputs))
        return self

    def is_active(self, value: Any) -> bool:
        """Whether a copy is active."""
        return type(value) is Active or (
            type(value) is ndarray and self.own.find(value) is not None
        )
