"""The rules of the family `vectorizing`, checked by `test_rule` at all their cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp
from mooncake_py.rules import registry, vectorizing
from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.vectorizing import cases


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_vectorizing_follow_their_rules(case: Case) -> None:
    case.check()


LINES = {
    "number": lambda v: np.sum(v * v),
    "vector": lambda v: v * v[0],
    "matrix": lambda v: np.outer(v, v),
    "list": lambda v: [v[0], v[1] * 2.0],
    "constant": lambda v: 3,
    "numpy's matrix": np.matrix,
    "written": lambda v: v.__setitem__(0, 2.0) or v * v,
}


@pytest.mark.sampled(5)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("axis", [0, 1, -1, -2, 2])
@pytest.mark.parametrize("name", LINES)
def test_lines_of_vectors_and_matrices(
    name: str, axis: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def f(x: np.ndarray) -> Any:
        y = np.apply_along_axis(LINES[name], axis, x)
        layout = y.shape, y.strides, y.flags.owndata, str(y.dtype)
        return y + np.sum(x), layout

    def outcome(x: np.ndarray) -> Any:
        try:
            (y, layout), (t, _) = jvp(f, (x.copy(),), (np.cos(x),))
            g = grad(lambda x: np.sum(np.sin(f(x)[0])))(x.copy())
        except (ValueError, TypeError, IndexError) as error:
            return [type(error).__name__, str(error).splitlines()[0]]
        assert layout == f(x.copy())[1]
        return [layout, *(v.tolist() for v in (y, t, g))]

    rule: Any = registry.find(np.apply_along_axis)
    for x in (draw(4), draw(3, 4), draw(4, 3).T, draw(2, 3, 4), draw(3, 0)):
        quick = outcome(x)
        with monkeypatch.context() as patched:
            patched.setattr(rule, "replacement", vectorizing.along_any_axis)
            assert quick == outcome(x)
