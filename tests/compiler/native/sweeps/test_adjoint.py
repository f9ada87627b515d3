"""Both sweeps of regions against the tangent, and the tangent against differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py.compiler.derivatives.activity import active_parts
from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.native.form import LLVM
from mooncake_py.compiler.native.regions.region import NativeRegion
from mooncake_py.compiler.native.sweeps.adjoint import NativeSweeps, adjoint, is_clear
from mooncake_py.compiler.regions.ir import Assign, Name, Push, statements
from tests.compiler.native.random_regions import random_values
from tests.compiler.native.sweeping import (
    Values,
    built,
    check,
    check_second,
    finished,
    outputs,
    pulled,
    run_printed,
)
from tests.compiler.native.texts_of_regions import REGIONS, given
from tests.compiler.native.writing import region
from tests.support.interpreted import INTERPRETED


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", REGIONS)
def test_sweeps_agree_with_the_tangent(name: str) -> None:
    text, inputs, results, active = REGIONS[name]
    found = region(text, inputs, results)
    for seed in range(3):
        check(found, given(name), active, seed)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", REGIONS)
def test_second_order(name: str) -> None:
    text, inputs, results, active = REGIONS[name]
    check_second(region(text, inputs, results), given(name), active)


def cotangents_of(found: NativeRegion, values: Values) -> Values:
    """Return cotangents for all floats that a region is given or gives back."""
    outs = values | outputs(found, finished(found, values))
    waves = {n: np.cos(np.arange(1.0, 1 + np.size(v))) for n, v in outs.items()}
    return {n: np.reshape(wave, np.shape(outs[n])) for n, wave in waves.items()}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", REGIONS)
def test_printed_sweeps_do_the_same(name: str) -> None:
    text, inputs, results, active = REGIONS[name]
    found, values, names = region(text, inputs, results), given(name), set(active.split())
    wanted, sweeps = cotangents_of(found, values), sweeps_of(name)
    with np.errstate(all="ignore"):
        got = run_printed(built(INTERPRETED, found, sweeps), found, sweeps, values, wanted)
    expected = pulled(found, values, wanted, names)
    for n in names:  # numbers are added in another order
        assert_allclose(got[f"d_{n}"], expected[n], rtol=1e-12, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(REGIONS)[::3])
def test_compiled_sweeps_do_the_same(name: str) -> None:
    pytest.importorskip("llvmlite")
    text, inputs, results, active = REGIONS[name]
    found, values, names = region(text, inputs, results), given(name), set(active.split())
    wanted, sweeps = cotangents_of(found, values), sweeps_of(name)
    got = run_printed(built(LLVM, found, sweeps), found, sweeps, values, wanted)
    expected = pulled(found, values, wanted, names)
    for n in names:
        assert_allclose(got[f"d_{n}"], expected[n], rtol=1e-12, atol=1e-13)


def sweeps_of(name: str) -> NativeSweeps:
    text, inputs, results, active = REGIONS[name]
    found = region(text, inputs, results)
    return adjoint(found, active_parts(found.body, set(active.split()), {}))


def test_what_no_statement_before_reads_is_not_saved() -> None:
    for name in ("recurrence", "sums"):
        pushes = [s for s in statements(sweeps_of(name).forward) if isinstance(s, Push)]
        assert len(pushes) == {"recurrence": 0, "sums": 3}[name]


def test_cotangents_that_end_with_their_array_are_not_cleared() -> None:
    found = sweeps_of("stencil").reverse
    cleared = [s.target for s in statements(found) if isinstance(s, Assign) and is_clear(s)]
    assert cleared == [Name("d_a")]


@pytest.mark.parametrize("name", REGIONS)
def test_pushes_are_counted_beforehand(name: str) -> None:
    # Where no float decides how often something runs; `pulled` compares the counts.
    depends = {
        "while_with_break", "break_of_temporaries", "counter_read_after", "names_in_branches",
        "ints_of_floats",
    }  # fmt: skip
    assert (sweeps_of(name).size is None) == (name in depends)


WAYS = """for i in range(0, 5):
    if y[i] > x[0]:
        a = a * 1.1
    else:
        if mask[i]:
            a = a * 0.7
        {}if b > z[i]:
            break
    w = empty(6)
    with all(q=6): w[q] = a * x[q] + y[i]
    {}y[i] *= np.sin(w[i] ** 2)
"""


@pytest.mark.parametrize(
    "inserted", [("", ""), ("w = zeros(3)\n        ", ""), ("", "w[1] = w[2] * w[3]\n    ")]
)
def test_arrays_made_after_a_way_out_of_a_loop(inserted: tuple[str, str]) -> None:
    """What follows is repeated for each way to it, and so is the array, which is read there."""
    text = WAYS.format(*inserted)
    found = region(text, "x:1 y:1 z:1 a b mask:bool:1", "a")
    if "zeros" in text:
        with pytest.raises(NoPartial):
            adjoint(found, {"x", "y", "z", "a", "b", "w"})
        return
    for seed in range(3):
        values = random_values(seed) | {"b": -1.0 - 0.1 * seed}
        check(found, {name: values[name] for name in found.inputs}, "x y a", seed)


def test_an_array_that_is_made_anew_while_it_is_read_is_not_differentiated() -> None:
    text = "for i in range(0, 3):\n    w = empty(6)\n    with all(q=6): w[q] = a * x[q]\n"
    found = region(text + "    a = a * w[1]\ns = w[2] * w[2]", "x:1 a s", "a s")
    with pytest.raises(NoPartial):
        adjoint(found, {"x", "a", "s", "w"})
