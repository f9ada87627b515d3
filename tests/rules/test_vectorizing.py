"""What the cases of the family `vectorizing` do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.rules import registry, vectorizing
from tests.rules.cases.drawing import draw
from tests.support.pairs import rotating

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
@pytest.mark.parametrize(("name", "axis"), rotating(LINES, [0, 1, -1, -2, 2], times=2))
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


class Tagged(np.ndarray):
    tag = 0

    def __array_finalize__(self, made_from: Any) -> None:
        self.tag = getattr(made_from, "tag", 0)


def tagged(x: Any) -> Any:
    y = np.array(x).view(Tagged)
    y.tag = 3
    return y


def masked(x: Any) -> Any:
    return np.ma.array(x, mask=[False, True, False])


def product(v: Any, w: Any) -> Any:
    return v * w


OF_CLASSES = {
    "masked": lambda x: np.vectorize(lambda v: 2 * v * v)(masked(x)),
    "beside": lambda x: np.vectorize(product)(x, masked(x)),
    "broadcast": lambda x: np.vectorize(product)(x[:, None], masked(x)),
    "by-name": lambda x: np.vectorize(product)(2.0, w=masked(x)),
    "two-masks": lambda x: np.vectorize(product)(masked(x), np.ma.array(x, mask=x < 1)),
    "two-outputs": lambda x: np.vectorize(lambda v: (v, v * v))(masked(x))[1],
    "excluded": lambda x: np.vectorize(product, excluded=[0])(x[0], masked(x)),
    "cached": lambda x: np.vectorize(product, cache=True)(masked(x), x),
    "constant": lambda x: np.vectorize(lambda v: v * x[0])(masked(np.ones(3))),
    "matrix": lambda x: np.vectorize(product, otypes="d")(np.asmatrix(x), x),
    "subclass": lambda x: np.vectorize(product)(tagged(x), x[0]),
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # np.matrix
@pytest.mark.parametrize("f", OF_CLASSES.values(), ids=OF_CLASSES)
def test_results_are_of_the_classes_of_the_operands(f: Any) -> None:
    x = np.array([0.7, -1.3, 2.1])

    def total(x: Any) -> Any:
        return np.asarray(np.ma.filled(f(x) * 1.0, 0.0)).sum(), f(x)

    value, plain = total(x)
    (found, y), dx = value_and_grad(total, has_aux=True)(x)
    assert found == value
    assert type(y) is type(plain)
    assert getattr(y, "tag", None) == getattr(plain, "tag", None)
    assert_array_equal(np.ma.getmaskarray(y), np.ma.getmaskarray(plain))
    slopes = [(total(x + e)[0] - total(x - e)[0]) / 2e-6 for e in 1e-6 * np.eye(3)]
    assert_allclose(dx, slopes, atol=1e-8)
    assert_allclose(jvp(lambda x: total(x)[0], (x,), (x,))[1], dx @ x, rtol=1e-13)
