"""Run the sweeps and the tangents of regions, and compare them with one another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from mooncake_py.compiler.derivatives.activity import active_parts
from mooncake_py.compiler.native.form import Compiler
from mooncake_py.compiler.native.regions.region import FLOAT, NativeRegion
from mooncake_py.compiler.native.sweeps.adjoint import NativeSweeps, adjoint
from mooncake_py.compiler.native.sweeps.hoisting import hoisted
from mooncake_py.compiler.native.sweeps.tangent import tangent
from mooncake_py.compiler.regions.ir import Block
from tests.support.interpreter import STACK, TOP, Interpreter, Scope

Values = dict[str, Any]

__all__ = [
    "Values",
    "agrees",
    "built",
    "check",
    "check_second",
    "finished",
    "outputs",
    "pulled",
    "pushed",
    "ran",
    "run_printed",
    "values_of",
]


def values_of(region: NativeRegion, given: Values) -> Values:
    """Return a scope of copies of inputs."""
    return {n: np.array(given[n]) if n in region.arrays else given[n] for n in region.inputs}


def ran(body: Block, kinds: Mapping[str, str], given: Values, stack: Any = None) -> Values:
    """Return the scope after statements have run.

    Parameters
    ----------
    stack : dict, optional
        The scope of what ran before, and has saved numbers.
    """
    scope = Scope(kinds) if stack is None else Scope(kinds, stack[STACK], stack[TOP])
    scope.update(given)
    with np.errstate(all="ignore"):
        Interpreter(kinds).block(body)(scope)
    return scope


def finished(region: NativeRegion, given: Values) -> Values:
    """Return the scope after a region has run."""
    return ran(region.body, region.kinds, values_of(region, given))


def outputs(region: NativeRegion, scope: Values) -> Values:
    """Return the values that a caller sees after a region: results, and arrays passed to it."""
    names = dict.fromkeys([*region.results, *(n for n in region.inputs if n in region.arrays)])
    return {n: scope[n] for n in names if region.kinds[n] == FLOAT}


def pushed(region: NativeRegion, given: Values, directions: Values) -> Values:
    """Return the tangents of the outputs of a region, along directions of active inputs."""
    active = active_parts(region.body, set(directions), {})
    found, names = tangent(region, active)
    both = given | {names[n]: directions.get(n, 0.0 * given[n]) for n in names if n in given}
    scope = finished(found, both)
    outs = outputs(region, scope)
    return {n: scope[names[n]] if n in names else np.zeros(np.shape(outs[n])) for n in outs}


def pulled(region: NativeRegion, given: Values, wanted: Values, active: set[str]) -> Values:
    """Return the cotangents of active inputs, for cotangents of the outputs of a region.

    As it runs: slow operations have names of their own there, which the tangent knows nothing of.
    """
    region = hoisted(region)
    sweeps = adjoint(region, active_parts(region.body, active, {}))
    scope = ran(sweeps.forward, sweeps.kinds, values_of(region, given))
    for name, value in outputs(region, finished(region, given)).items():
        np.testing.assert_array_equal(scope[name], value)
    if sweeps.size is not None:
        count = ran(sweeps.size, sweeps.kinds, values_of(region, given))
        assert count[TOP] == scope[TOP]
    back = {n: scope[n] if n in region.arrays else given[n] for n in sweeps.values}
    for name in region.inputs:
        if name in region.arrays and name not in back:
            back[name] = None
    ds = {f"d_{n}": np.array(v) if np.ndim(v) else v for n, v in wanted.items()}
    back |= {d: ds[d] for d in sweeps.cotangents}
    back = ran(sweeps.reverse, sweeps.kinds, back, scope)
    assert back[TOP] == 0
    return {n: back[f"d_{n}"] for n in region.inputs if n in active}


def check(region: NativeRegion, given: Values, active: str, seed: int = 0) -> None:
    """Check that both sweeps agree with the tangent, and the tangent with differences."""
    rng = np.random.default_rng(seed)
    directions = like(rng, {n: given[n] for n in active.split()})
    tangents = pushed(region, given, directions)
    differences = central(region, given, directions)
    for name, expected in differences.items():
        assert_allclose(tangents[name], expected, rtol=1e-5, atol=1e-6, err_msg=name)
    agree(region, given, directions, rng)


def like(rng: np.random.Generator, values: Values) -> Values:
    """Return random numbers and arrays of the shapes of others."""
    found = {n: rng.normal(size=np.shape(v)) for n, v in values.items()}
    return {n: v if np.ndim(v) else float(v) for n, v in found.items()}


def agree(
    region: NativeRegion, given: Values, directions: Values, rng: np.random.Generator
) -> bool:
    """Check that both sweeps agree with the tangent; return False if it is not finite."""
    tangents = pushed(region, given, directions)
    on = active_parts(region.body, set(directions), {})
    wanted = {n: v * (n in on) for n, v in like(rng, tangents).items()}
    terms = [np.sum(abs(wanted[n] * tangents[n])) for n in tangents]
    if not np.sum(terms) < 1e100:
        return False
    found = pulled(region, given, wanted, set(directions))
    left = sum(np.sum(wanted[n] * tangents[n]) for n in tangents)
    right = sum(np.sum(found[n] * directions[n]) for n in directions)
    scale = np.sum(terms) + sum(np.sum(abs(found[n] * directions[n])) for n in directions)
    assert_allclose(left, right, rtol=0.0, atol=1e-10 * scale + 1e-13)
    return True


def agrees(region: NativeRegion, given: Values, seed: int, second: bool) -> bool:
    """Check a random region, or its tangent, where random inputs are active."""
    rng = np.random.default_rng(seed)
    names = [n for n in region.inputs if region.kinds[n] == FLOAT and rng.random() < 0.7]
    directions = like(rng, {n: given[n] for n in names})
    if not second:
        return agree(region, given, directions, rng)
    found, tangents = tangent(region, active_parts(region.body, set(names), {}))
    moved = {t: directions.get(n, 0.0 * given[n]) for n, t in tangents.items() if n in given}
    both = given | moved
    names += [t for t in moved if rng.random() < 0.5]
    return agree(found, both, like(rng, {n: both[n] for n in names}), rng)


def central(region: NativeRegion, given: Values, directions: Values, h: float = 1e-6) -> Values:
    """Return differences of the outputs of a region."""
    ends = []
    for sign in (1.0, -1.0):
        moved = {n: given[n] + sign * h * directions[n] for n in directions}
        ends.append(outputs(region, finished(region, given | moved)))
    return {n: (ends[0][n] - ends[1][n]) / (2 * h) for n in ends[0]}


def check_second(region: NativeRegion, given: Values, active: str, seed: int = 0) -> None:
    """Check the tangent of the tangent, and the sweeps of the tangent."""
    rng = np.random.default_rng(seed)
    names = active.split()
    found, tangents = tangent(region, active_parts(region.body, set(names), {}))
    directions = {
        t: rng.normal(size=np.shape(given[n])) * (n in names)
        for n, t in tangents.items()
        if n in region.inputs
    }
    check(found, given | directions, " ".join([*names, *directions]), seed)


def built(compiler: Compiler, region: NativeRegion, sweeps: NativeSweeps) -> dict[str, Any]:
    """Return both sweeps as functions."""
    kinds = sweeps.kinds
    printer = compiler.printer(kinds, sweeps.arrays)
    if sweeps.size is not None:
        printer.count(sweeps.size, region.inputs)
    made = others_of(region, sweeps)
    printer.forward(sweeps.forward, region.inputs, [*region.results, *made])
    printer.reverse(sweeps.reverse, [*sweeps.values, *sweeps.cotangents], sweeps.gives)
    return compiler.built(printer)


def others_of(region: NativeRegion, sweeps: NativeSweeps) -> list[str]:
    """Return the arrays that the way back needs besides inputs and results."""
    return [n for n in sweeps.values if n not in (*region.inputs, *region.results)]


def run_printed(
    made: dict[str, Any], region: NativeRegion, sweeps: NativeSweeps, given: Values, wanted: Values
) -> Values:
    """Return the cotangents of active inputs, by printed sweeps."""
    scope = values_of(region, given)
    ok, stack, top, *results = made["forward"](np.empty(0), *scope.values())
    assert ok
    others = others_of(region, sweeps)
    scope |= dict(zip([*region.results, *others], results, strict=True))
    back = {n: scope[n] if n in region.arrays else given[n] for n in sweeps.values}
    ds = {f"d_{n}": np.array(v) if np.ndim(v) else float(v) for n, v in wanted.items()}
    found = made["reverse"](
        stack, top, *(back[n] for n in sweeps.values), *(ds[d] for d in sweeps.cotangents)
    )
    return ds | dict(zip(sweeps.gives, found, strict=True))
