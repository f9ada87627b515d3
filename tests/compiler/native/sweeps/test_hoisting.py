"""Slow operations get names of their own, so that the way back need not compute them again."""

from __future__ import annotations

from typing import Any

from mooncake_py.compiler.derivatives.activity import active_parts
from mooncake_py.compiler.native.regions.mentions import expressions_in
from mooncake_py.compiler.native.sweeps.adjoint import adjoint
from mooncake_py.compiler.native.sweeps.hoisting import hoisted, is_costly
from mooncake_py.compiler.regions.ir import Assign, Name, Op, statements, walk
from tests.compiler.native.writing import region

TEXT = """
for i in range(len(x)):
    if x[i] > 0.0:
        s = s + a * np.exp(b * x[i] ** a)
    x[i] = a * (x[i] ** 2 if s > 1.0 else np.exp(x[i]))
    s = np.sqrt(s)
with all(k=len(x)): x[k] = a * np.exp(x[k])
"""


def test_what_is_costly_is_all_that_a_statement_computes() -> None:
    found = hoisted(region(TEXT, "x:1 a b s", "s"))
    loop: Any
    loop, after = found.body
    branch, choice, root = loop.body
    power, exponential, total = branch.body
    assert (power.target, exponential.target) == (Name("w0"), Name("w1"))
    assert isinstance(power.value, Op)
    assert power.value.op == "pow"
    assert Name("w0") in set(walk(exponential.value))
    assert total.value == Op("add", (Name("s"), Op("mul", (Name("a"), Name("w1")))))
    before: Any = region(TEXT, "x:1 a b s", "s").body
    assert (choice, root) == before[0].body[1:]
    assert after == before[1]
    assert found.kinds["w0"] == found.kinds["w1"] == "float"


def test_the_way_back_reads_what_was_computed() -> None:
    found = region("for i in range(3): s = s * a ** b + b * np.exp(s)", "s a b", "s")
    counts = []
    for each in (found, hoisted(found)):
        back = adjoint(each, active_parts(each.body, {"s", "a", "b"}, {})).reverse
        parts = [p for s in statements(back) for e in expressions_in(s) for p in walk(e)]
        counts.append(sum(map(is_costly, parts)))
    # Left are the derivative of a power, and its logarithm.
    assert counts[1] == 2 < counts[0]
    assert not any(isinstance(s, Assign) and is_costly(s.value) for s in statements(back))
