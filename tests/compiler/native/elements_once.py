"""Random regions as the printer of NumPy text changes them: both sweeps do the same as before."""

from __future__ import annotations

import copy

import numpy as np

from mooncake_py.compiler.derivatives.activity import active_parts
from mooncake_py.compiler.native.numpy_text.elements import with_elements_read_once
from mooncake_py.compiler.native.numpy_text.first_additions import with_first_additions
from mooncake_py.compiler.native.regions.mentions import unused
from mooncake_py.compiler.native.sweeps.adjoint import adjoint
from mooncake_py.compiler.regions.ir import Block, blocks_of, with_blocks
from tests.compiler.native.random_regions import random_region, random_values
from tests.compiler.native.sweeping import Values, ran, values_of
from tests.support.interpreter import STACK, TOP

__all__ = ["require_same_sweeps"]


def everywhere(block: Block, kinds: dict[str, str]) -> Block:
    """Return a block in which elements are read once, as the printer does it within loops."""
    fresh = unused("e", kinds)

    def within(inner: Block) -> Block:
        inner = with_elements_read_once(inner, kinds, fresh)
        return tuple([with_blocks(s, within) if blocks_of(s) else s for s in inner])

    return within(block)


def require_same_sweeps(seed: int) -> None:
    """Check both sweeps of a random region with elements that are read once."""
    text, region = random_region(seed, 6 + seed % 10)
    given = random_values(seed)
    names = {n for n in region.inputs if region.kinds[n] == "float"}
    sweeps = adjoint(region, active_parts(region.body, names, {}))
    kinds = dict(sweeps.kinds)
    once = everywhere(sweeps.forward, kinds)
    back = everywhere(with_first_additions(sweeps.reverse, kinds, sweeps.gives), kinds)
    scopes = [ran(b, kinds, values_of(region, given)) for b in (sweeps.forward, once)]
    same(scopes, [*region.results, *region.inputs], text)
    assert scopes[0][TOP] == scopes[1][TOP]
    stacks = [scope[STACK][: scope[TOP]] for scope in scopes]
    np.testing.assert_array_equal(stacks[0], stacks[1])
    rng = np.random.default_rng(seed)
    wanted = {d: rng.normal(size=np.shape(scopes[0][d[2:]])) for d in sweeps.cotangents}
    ways: list[Values] = []
    for body, scope in zip((sweeps.reverse, back), scopes, strict=True):
        values = {n: copy.copy(scope[n]) for n in sweeps.values}
        values |= {d: np.array(v) if v.ndim else float(v) for d, v in wanted.items()}
        values |= {n: scope[n] for n in region.inputs if n in region.arrays and n not in values}
        ways.append(ran(body, kinds, values, copy.deepcopy(dict(scope))))
    same(ways, [*sweeps.gives, *(d for d in wanted if np.ndim(wanted[d]))], text)


def same(ways: list[Values], names: list[str], text: str) -> None:
    a, b = ways
    for name in names:
        np.testing.assert_array_equal(a[name], b[name], err_msg=f"{name} of\n{text}")
