"""NumPy code as a function of PyTensor's variables: against PyTensor's own derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.errors import InvalidModeError, MissingRuleError

pytensor = pytest.importorskip("pytensor")
to_pytensor = pytest.importorskip("mooncake_py.integrations.pytensor").to_pytensor
gradient, tensor = pytensor.gradient, pytensor.tensor

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Numba will use object mode:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*is deprecated:FutureWarning"),
]


def relax(u: Any, k: Any) -> Any:
    for _ in range(3):
        u[1:-1] += k * np.sin(u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


def relaxed(u: Any, k: Any) -> Any:
    for _ in range(3):
        u = tensor.inc_subtensor(u[1:-1], k * tensor.sin(u[2:] - 2.0 * u[1:-1] + u[:-2]))
    return u


U0 = np.linspace(-1.0, 2.0, 6) ** 2
U, K = tensor.dvector("u", shape=(6,)), tensor.dscalar("k")
POINT = {U: U0, K: 0.25}


def value_of(outputs: Any) -> list[Any]:
    f = pytensor.function([U, K], outputs, on_unused_input="ignore")
    u = U0.copy()
    found = f(u, 0.25)
    np.testing.assert_array_equal(u, U0)
    return found


def require_equal(take: Any, *, compile: bool = False) -> None:
    found, expected = (take(layer) for layer in (to_pytensor(relax, compile=compile), relaxed))
    for a, b in zip(value_of(found), value_of(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


def energy(layer: Any) -> Any:
    return (layer(U, K) ** 2).sum()


@pytest.mark.parametrize("compile", [False, True])
def test_gradients_and_second_derivatives(compile: bool) -> None:
    require_equal(
        lambda layer: [layer(U, K), *pytensor.grad(energy(layer), [U, K])], compile=compile
    )
    require_equal(lambda layer: [gradient.hessian(energy(layer), U)], compile=compile)


@pytest.mark.parametrize("own", [False, True])
def test_tangents(own: bool) -> None:
    along = [tensor.constant(np.arange(6.0)), tensor.constant(0.5)]
    options = {"use_op_rop_implementation": own}
    require_equal(lambda layer: [gradient.Rop(layer(U, K), [U, K], along, **options)])
    require_equal(lambda layer: [gradient.Rop(layer(U, K), [U], along[:1], **options)])


def test_nested_arguments_outputs_and_constants() -> None:
    def layer(p: Any, x: Any, *, kind: str) -> Any:
        x *= p["w"]
        return {"y": (x, np.sum(x)), "count": np.arange(len(x)), "first": p["n"] + (kind == "a")}

    n = tensor.iscalar("n")
    out = to_pytensor(layer)({"w": K, "n": n}, U, kind="a")
    slopes = pytensor.grad(out["y"][0][2] + out["y"][1], [U, K])
    found = pytensor.function([U, K, n], [out["first"], out["count"].sum(), *slopes])(U0, 0.25, 3)
    assert found[:2] == [4, 15]
    np.testing.assert_allclose(found[2], 0.25 * (1.0 + (np.arange(6) == 2)))
    np.testing.assert_allclose(found[3], U0.sum() + U0[2])


def test_shapes() -> None:
    out = to_pytensor(relax)(U, K)
    assert out.type.shape == (6,)
    unknown = tensor.dvector("v")
    with pytest.raises(InvalidModeError, match="shape of v"):
        to_pytensor(relax)(unknown, K)
    out = to_pytensor(relax, example=(U0.copy(), 0.1))(unknown, K)
    slope = pytensor.grad(out.sum(), unknown)
    assert pytensor.function([unknown, K], slope.shape)(np.ones(4), 0.1).tolist() == [4]


def test_other_outputs_are_refused() -> None:
    for value in (None, "a", {1.0}):
        with pytest.raises(MissingRuleError, match="to_pytensor"):
            to_pytensor(lambda u, value=value: value)(U)
