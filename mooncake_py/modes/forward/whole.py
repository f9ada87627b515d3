"""Derivatives along a direction, and their gradients, of functions that are compiled whole.

The tangent of a region is a region: it runs forward for `jvp`, and both ways for a product with a
Hessian.  As in `modes.reverse.whole` nothing is recorded, and what is unusual goes the general
way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.building.types import FLOATS
from mooncake_py.compiler.native.form import Form
from mooncake_py.compiler.native.reading.reader import Output, leaves_of
from mooncake_py.compiler.native.region_site import TangentSite
from mooncake_py.compiler.native.site import Reread, given_back
from mooncake_py.compiler.native.spares import STACK
from mooncake_py.modes.reverse.whole import WholeGradient, matched, names_of
from mooncake_py.modes.reverse.whole_sweeps import WholeSweeps

__all__ = ["product_of_whole", "push_whole"]

Result = tuple[Any, tuple[Any, ...]]


def push_whole(
    f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any] | None:
    """Return the output and its tangent, None if the call goes the general way."""
    chosen = [k for k, t in enumerate(tangents) if t is not None]
    found = matched(f, primals, {}) if chosen else None
    if found is None:
        return None
    site, reading, inputs = found
    names = names_of(site, reading, chosen)
    tangent = None if names is None else tangent_of(reading, names)
    if names is None or tangent is None or not has_tangents(reading.output, tangent):
        return None
    values = with_tangents(
        tangent, inputs, dict(zip(names, [tangents[k] for k in chosen], strict=True))
    )
    if values is None or not reading.site.is_tried(inputs) or not tangent.is_tried(values):
        return None
    key = "push", *names
    if key not in reading.derivatives:
        form = tangent.form_where(frozenset())
        reading.derivatives[key] = None if form is None else TangentSweep(tangent, form)
    sweep = reading.derivatives[key]
    return None if sweep is None else run_forward(sweep, reading.output, values)


class TangentSweep(WholeSweeps):
    """The forward sweep of a tangent.

    Attributes
    ----------
    names : dict of str to str
        What tangents are called.
    """

    def __init__(self, site: TangentSite, form: Form) -> None:
        super().__init__(site, form, ())
        self.names = site.names


def run_forward(
    sweeps: TangentSweep, output: Output, inputs: Mapping[str, Any]
) -> tuple[Any, Any] | None:
    """Return the output and its tangent, None where something is unusual."""
    site, spares = sweeps.site, sweeps.form.spares
    forward = sweeps.forward(inputs, spares)
    if forward is None:
        return None
    spares.give(STACK, forward.stack)
    found, given = forward.found, dict(zip(inputs, forward.values, strict=False))
    values: dict[str, Any] = {}
    directions: dict[str, Any] = {}
    for name in [leaf.name for leaf in leaves_of(output)]:
        own = sweeps.names[name]
        y, dy = found[name], found[own]
        if type(y) is ndarray:  # what a function does not write is the caller's
            is_given = y is given.get(name) and name not in site.written
            values[name] = site.typed(name, y.copy() if is_given else y, found)
            is_given = dy is given.get(own) and own not in site.written
            directions[name] = site.typed(own, dy.copy() if is_given else dy, found)
        else:
            values[name] = y = site.typed(name, y, found)
            if type(y) not in FLOATS:
                return None
            directions[name] = type(y)(dy)
    return given_back(output, values), given_back(output, directions)


def product_of_whole(
    f: Callable[..., Any],
    chosen: Sequence[int | str],
    args: tuple[Any, ...],
    directions: tuple[Any, ...],
    *,
    with_gradient: bool,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]] | None:
    """Return the value, gradients if they are wanted, and products with the Hessian.

    None if the call goes the general way.
    """
    found = matched(f, args, {}) if len(set(chosen)) == len(chosen) else None
    if found is None:
        return None
    site, reading, inputs = found
    names = names_of(site, reading, chosen)
    if names is None:
        return None
    key = "product", *names, with_gradient
    if key not in reading.derivatives:
        reading.derivatives[key] = whole_product(reading, names, with_gradient)
    whole = reading.derivatives[key]
    if whole is None or not reading.site.is_tried(inputs):
        return None
    values = with_tangents(whole.site, inputs, dict(zip(names, directions, strict=True)))
    if values is None or not whole.site.is_tried(values):
        return None
    result = whole.run(values, whole.form.spares)
    if result is None:
        return None
    (_, value), gradients = result
    return value, gradients[len(names) :], gradients[: len(names)]


def whole_product(
    reading: Reread, names: Sequence[str], with_gradient: bool
) -> WholeGradient | None:
    """Return how the gradient of a derivative along a direction is computed, None if it is not.

    That derivative is linear in the direction, with the gradient for its coefficients.
    """
    tangent, value = tangent_of(reading, names), reading.output
    if tangent is None or value.kind != "number" or not has_tangents(value, tangent):
        return None
    wanted = [*names, *(tangent.names[name] for name in names)] if with_gradient else names
    form = tangent.form_where(frozenset(wanted))
    if form is None:
        return None
    slope = Output("number", name=tangent.names[value.name])
    return WholeGradient(tangent, form, wanted, slope, value)


def tangent_of(reading: Reread, names: Sequence[str]) -> TangentSite | None:
    """Return the tangent of a function of some inputs, None if it has none."""
    return reading.site.tangent_of(frozenset(names))


def has_tangents(output: Output, site: TangentSite) -> bool:
    """Return True for a number or an array with a tangent, and tuples of these."""
    if output.kind == "tuple":
        return all(has_tangents(item, site) for item in output.items)
    return site.names.get(output.name) in site.region.results


def with_tangents(
    site: TangentSite, inputs: Mapping[str, Any], directions: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the inputs of a tangent, None if a direction is not exactly like its primal."""
    values = dict(inputs)
    for name in site.given:
        x = inputs[name]
        t = directions.get(name)
        if t is None:
            t = np.zeros(x.shape, x.dtype) if type(x) is ndarray else 0.0
        elif type(x) is not ndarray:
            if type(t) not in FLOATS:
                return None
        elif type(t) is not ndarray or t.shape != x.shape or t.dtype != x.dtype:
            return None
        values[site.names[name]] = t
    return values
