"""Random regions: both sweeps against the tangent; and that they find what is broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mooncake_py.compiler.derivatives import sweeps
from mooncake_py.compiler.native.sweeps import adjoint, normal, pull, scopes
from mooncake_py.compiler.native.sweeps import needs as needs_module
from mooncake_py.compiler.native.sweeps.adjoint import _Adjoint
from mooncake_py.compiler.native.sweeps.needs import Needs
from mooncake_py.compiler.native.sweeps.pull import Puller
from mooncake_py.compiler.regions.ir import Const, For, Op
from tests.compiler.native.random_regions import random_region, random_values
from tests.compiler.native.sweeping import agrees

Breaking = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("start", [0, pytest.param(5000, marks=pytest.mark.slow)])
def test_random_regions(start: int, second: bool) -> None:
    for seed in range(start, start + (10 if start == 0 else 80)):
        text, region = random_region(seed, 6 + seed % 10)
        try:
            agrees(region, random_values(seed), seed, second)
        except Exception as error:
            error.add_note(f"seed {seed}, results {region.results}:\n{text}")
            raise


def instead(owner: Any, name: str, made: Callable[[Any], Any]) -> Breaking:
    """Return a context that replaces an attribute by one made from it."""

    def breaks(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(owner, name, made(getattr(owner, name)))

    return breaks


def once(repeated: Any) -> Any:
    """Look at a loop once, as if nothing came round."""

    def broken(self: Needs, loop: For, needed: frozenset[str]) -> frozenset[str]:
        return self.block(loop.body, needed)

    return broken


BREAKS: dict[str, Breaking] = {
    "numbers are not saved": instead(
        Needs, "is_saved", lambda f: lambda self, s: f(self, s) and not hasattr(s, "name")
    ),
    "nothing is saved": instead(Needs, "is_saved", lambda f: lambda self, s: False),
    "nothing is saved at the end of a block": instead(
        Needs, "ending", lambda f: lambda self, block: set()
    ),
    "what is needed at the end of a region is forgotten": instead(
        _Adjoint, "bound_numbers", lambda f: lambda self: []
    ),
    "loops are looked at once": instead(Needs, "repeated", once),
    "results are read again after what they overwrote is put back": instead(
        Puller, "of", lambda f: lambda self, s, t: f(self, s, t)._replace(reuses=False)
    ),
    "what a partial reads is not needed": instead(
        Puller, "of", lambda f: lambda self, s, t: f(self, s, t)._replace(reads=frozenset())
    ),
    "indices of what is put back are forgotten": instead(
        needs_module, "values_in", lambda f: lambda found: set()
    ),
    "tests are asked again": instead(_Adjoint, "is_replayed", lambda f: lambda self, s: True),
    "ints that change are computed again": instead(
        scopes, "values_in", lambda f: lambda found: set()
    ),
    "the last pass is left out": instead(
        adjoint, "less", lambda f: lambda a, b: a if b == Const(1) else f(a, b)
    ),
    "lengths of ranges are rounded down": instead(
        adjoint, "length_of", lambda f: lambda a, b, c: Op("floordiv", (Op("sub", (b, a)), c))
    ),
    "counters are never ints of their own": instead(
        normal, "shared_counters", lambda f: lambda body: set()
    ),
    "what follows a break runs on": instead(
        normal, "followed", lambda f: lambda block, rest: (*block, *rest)
    ),
    "a break saves nothing": instead(
        sweeps.Sweeper, "statement",
        lambda f: lambda self, s: ([s], []) if type(s).__name__ == "Break" else f(self, s),
    ),
    "sides are mixed up": instead(
        sweeps.Sweeper, "note", lambda f: lambda self, side, place: f(self, not side, place)
    ),
    "the target keeps its cotangent": instead(
        pull, "delivered",
        lambda f: lambda target, found, g, s: [
            b for b in f(target, found, g, s) if type(b).__name__ != "Assign"
        ],
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", BREAKS)
def test_breaks_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BREAKS[name](monkeypatch)
    assert any(is_wrong(seed) for seed in range(100)), name


def is_wrong(seed: int) -> bool:
    """Return True if a random region finds that something is broken."""
    _, region = random_region(seed, 6 + seed % 10)
    try:
        agrees(region, random_values(seed), seed, second=False)
    except Exception:
        return True
    return False
