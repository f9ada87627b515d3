"""Pullbacks of functions that run whole: the reverse sweep for a given cotangent.

The first call runs the reverse sweep of the forward sweep that computed the output; later calls run
both.  `Vjp` handles unusual cases, on the same arguments.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.building.types import FLOATS
from mooncake_py.compiler.native.giving_back import given_back
from mooncake_py.compiler.native.reading.outputs import Output, leaves_of
from mooncake_py.compiler.native.regions.refused import LeftOnTheWayBack
from mooncake_py.compiler.native.regions.region import REAL
from mooncake_py.compiler.native.reread import Reread
from mooncake_py.compiler.native.site import FunctionSite
from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.modes.reverse.pullback import Vjp
from mooncake_py.modes.reverse.whole import matched
from mooncake_py.modes.reverse.whole_arguments import KINDS, arguments_of, array_of, names_in
from mooncake_py.modes.reverse.whole_sweeps import Forward, WholeSweeps
from mooncake_py.recomputation.agreement import Fingerprint, something_later
from mooncake_py.rules import local
from mooncake_py.runtime.compilation import Compile, using
from mooncake_py.runtime.enclosing import enclosed, enclosing
from mooncake_py.tangents import NoTangent

__all__ = ["vjp_of_whole"]

DISCRETE = frozenset({int, bool, str, type(None), np.int64, np.bool_})


def vjp_of_whole(
    f: Callable[..., Any], args: tuple[Any, ...], in_text: bool = False
) -> tuple[Any, Any] | None:
    """Return the output of a function and its pullback, None if they go the general way.

    Parameters
    ----------
    in_text : bool, optional
        Whether the sweeps are text of NumPy, not compiled.
    """
    chosen = [k for k, a in enumerate(args) if not is_discrete(a)]
    if not chosen or not all(type(args[k]) is ndarray or type(args[k]) in FLOATS for k in chosen):
        return None
    found = matched(f, args, {}, in_text)
    if found is None:
        return None
    site, reading, inputs = found
    sweeps = sweeps_for(site, reading, chosen)
    if sweeps is None or reading.site.trials.rest() or not reading.site.may_run(inputs):
        return None
    return started(chosen, sweeps, reading.output, f, args, inputs)


def started(
    chosen: Sequence[int],
    sweeps: WholeSweeps,
    output: Output,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    inputs: Mapping[str, Any],
) -> tuple[Any, Any] | None:
    """Return the output and the pullback, None where something is unusual."""
    pullback = WholePullback(f, args, chosen, sweeps, output, inputs)
    y = pullback.start()
    return None if y is None else (y, pullback.pullback)


def is_discrete(a: Any) -> bool:
    """Return True for what has no derivative."""
    return type(a) in DISCRETE or (type(a) is ndarray and a.dtype.kind in "ib")


def sweeps_for(site: FunctionSite, reading: Reread, chosen: Sequence[int]) -> WholeSweeps | None:
    """Return the sweeps for some arguments, as `new_sweeps` once."""
    key = "pullback", *chosen
    if key not in reading.derivatives:
        reading.derivatives[key] = new_sweeps(site, reading, chosen)
    return reading.derivatives[key]


def new_sweeps(site: FunctionSite, reading: Reread, chosen: Sequence[int]) -> WholeSweeps | None:
    """Return the sweeps for some arguments; None where outputs are not of floats alone."""
    region = reading.site.region
    arguments = arguments_of(site, reading, chosen)
    outputs = list(leaves_of(reading.output))
    if arguments is None or any(
        o.kind in ("known", "complex")
        or o.name in region.complexes
        or region.kinds[o.name] not in REAL
        for o in outputs
    ):
        return None
    form = reading.site.form_where(frozenset(names_in(arguments)))
    return None if form is None else WholeSweeps(reading.site, form, arguments)


class WholePullback:
    """A function compiled whole, its arguments as they were, and its forward sweep if it waits."""

    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        chosen: Sequence[int],
        sweeps: WholeSweeps,
        output: Output,
        inputs: Mapping[str, Any],
    ) -> None:
        self.f = f
        self.chosen = chosen
        self.sweeps = sweeps
        self.output = output
        # The caller may change arrays before the pullback is called.
        arrays = [a for a in (*args, *inputs.values()) if type(a) is ndarray]
        copies = {id(a): a.copy("K") for a in arrays}
        self.args = tuple([copies.get(id(a), a) for a in args])
        self.inputs = {name: copies.get(id(a), a) for name, a in inputs.items()}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.lock = threading.RLock()  # a forward sweep allows one reverse sweep
        self.waiting: Forward | None = None
        self.general: Callable[[Any], tuple[Any, ...]] | None = None

    def start(self) -> Any:
        """Return the output, None if something is unusual; outputs of functions are never None."""
        forward = self.run()
        if forward is None:
            return None
        self.waiting = forward
        copies = self.sweeps.copies(forward)
        for output in leaves_of(self.output):
            y = copies[output.name]
            if type(y) is ndarray:
                self.shapes[output.name] = y.shape
            elif type(y) not in FLOATS:
                return None
        return given_back(self.output, copies)

    def run(self) -> Forward | None:
        """Run the forward sweep."""
        return self.sweeps.forward(self.inputs.values(), self.sweeps.form.spares)

    def pullback(self, cotangent: Any) -> tuple[Any, ...]:
        """Return the gradients of the arguments for a cotangent of the output."""
        with boundary, self.lock:
            seeds: dict[str, float] = {}
            arrays: dict[str, ndarray] = {}
            if enclosing() is not None or not self.takes(self.output, cotangent, seeds, arrays):
                return self.by_tape(cotangent)
            forward, self.waiting = self.waiting or self.run(), None
            if forward is None:
                return self.by_tape(cotangent)
            spares = self.sweeps.form.spares
            try:
                gradients = self.sweeps.pulled(forward, seeds, arrays, spares)
            except LeftOnTheWayBack:
                return self.by_tape(cotangent, compiles=False)
            if gradients is None:
                return self.by_tape(cotangent)
            self.sweeps.give_back(forward, spares)
        found: list[Any] = [NoTangent()] * len(self.args)
        for k, g in zip(self.chosen, gradients, strict=True):
            found[k] = g
        return tuple(found)

    def takes(
        self,
        output: Output,
        cotangent: Any,
        seeds: dict[str, float],
        arrays: dict[str, ndarray],
    ) -> bool:
        """Return True for a cotangent of just the types expected; collect its parts by name."""
        if output.kind in KINDS:
            if type(cotangent) is not KINDS[output.kind] or len(cotangent) != len(output.items):
                return False
            pairs = zip(output.items, cotangent, strict=True)
            return all(self.takes(item, g, seeds, arrays) for item, g in pairs)
        name = output.name
        if output.kind == "floats":
            cotangent = array_of(cotangent)
        if output.kind == "number":
            if type(cotangent) not in FLOATS:
                return False
            seeds[name] = seeds.get(name, 0.0) + float(cotangent)
            return True
        if (
            type(cotangent) is not ndarray
            or cotangent.dtype.kind != "f"
            or cotangent.shape != self.shapes[name]
        ):
            return False
        arrays[name] = arrays[name] + cotangent if name in arrays else cotangent
        return True

    def by_tape(self, cotangent: Any, *, compiles: Compile | None = None) -> tuple[Any, ...]:
        """Return the gradients in the general way, which knows all cotangents, and what is wrong.

        The function must do again what it has done.  It is compiled if it was, by default.
        """
        if self.general is None:
            if compiles is None:
                compiles = self.sweeps.site.compiler is None
            with enclosed(None), local.using(None), using(compiles):
                y, general = Vjp(self.f, self.args, None).start()
            forward = self.run()
            if forward is not None:
                expected = given_back(self.output, self.sweeps.copies(forward))
                if not Fingerprint(y).matches(Fingerprint(expected)):
                    raise something_later(self.f)
            self.general = general
        return self.general(cotangent)
