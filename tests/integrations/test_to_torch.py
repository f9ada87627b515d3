"""NumPy code as a function of tensors: against PyTorch's own derivatives of the same function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.errors import MissingRuleError

torch = pytest.importorskip("torch")
to_torch = pytest.importorskip("mooncake_py.integrations.torch").to_torch

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")


def relax(u: Any, k: Any) -> Any:
    for _ in range(3):
        u[1:-1] += k * np.sin(u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


def relaxed(u: Any, k: Any) -> Any:
    for _ in range(3):
        u = torch.cat([u[:1], u[1:-1] + k * torch.sin(u[2:] - 2.0 * u[1:-1] + u[:-2]), u[-1:]])
    return u


U = torch.linspace(-1.0, 2.0, 6, dtype=torch.float64) ** 2
K = torch.tensor(0.25, dtype=torch.float64)


def energy(layer: Any) -> Any:
    return lambda u, k: (layer(u, k) ** 2).sum()


@pytest.mark.parametrize("compile", [False, True])
def test_backward_and_double_backward(compile: bool) -> None:
    layer = to_torch(relax, compile=compile)
    u, k = U.clone().requires_grad_(), K.clone().requires_grad_()
    assert torch.autograd.gradcheck(layer, (u, k), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(layer, (u, k))
    assert torch.equal(u, U)


@pytest.mark.parametrize("take", [
    torch.func.grad, torch.func.jacfwd, torch.func.hessian,
    lambda f: torch.func.jacrev(torch.func.jacrev(f)),
    lambda f: torch.func.vmap(torch.func.grad(f, argnums=(0, 1)), (0, None)),
    lambda f: torch.func.grad(lambda u, k: torch.func.vmap(f, (0, None))(u, k).sum()),
], ids=["grad", "jacfwd", "hessian", "twice", "vmap of grad", "grad of vmap"])  # fmt: skip
def test_transforms_are_those_of_torch(take: Any, request: pytest.FixtureRequest) -> None:
    u = torch.stack([U, 1.0 - U]) if "vmap" in request.node.name else U
    found, expected = take(energy(to_torch(relax)))(u, K), take(energy(relaxed))(u, K)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_nested_arguments_outputs_and_constants() -> None:
    def layer(p: Any, x: Any, *, kind: str) -> Any:
        assert kind == "tanh"
        assert type(x["count"]) is np.ndarray
        x["x"] *= p["scale"]
        return {"y": np.tanh(p["w"] @ x["x"]), "count": x["count"] + 1, "kind": kind, "n": 2}

    p = {"w": torch.ones(2, 3, requires_grad=True), "scale": torch.tensor(0.5, requires_grad=True)}
    x = {"x": torch.tensor([1.0, 2.0, 3.0]), "count": torch.tensor([3, 4])}
    out = to_torch(layer)(p, x, kind="tanh")
    assert (out["kind"], out["n"]) == ("tanh", 2)
    assert out["count"].tolist() == [4, 5]
    assert not out["count"].requires_grad
    out["y"].sum().backward()
    slope = 1.0 - np.tanh(3.0) ** 2
    assert p["w"].grad.dtype == torch.float32
    np.testing.assert_allclose(p["w"].grad, slope * np.array([[0.5, 1.0, 1.5]] * 2), rtol=1e-4)
    np.testing.assert_allclose(p["scale"].grad, slope * 12.0, rtol=1e-4)
    assert x["x"].tolist() == [1.0, 2.0, 3.0]


def test_complex_numbers() -> None:
    z = torch.tensor([1.0 + 2.0j, 0.5 - 1.0j], dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradcheck(to_torch(lambda z: z * z * np.conj(z)), (z,))


def test_errors_are_those_of_the_function() -> None:
    with pytest.raises(ZeroDivisionError):
        to_torch(lambda x: 1 / 0)(U)


@pytest.mark.parametrize("wrap", [lambda x: {x[0]}, lambda x: {"a": lambda: x}])
def test_outputs_in_which_derivatives_would_be_lost_are_refused(wrap: Any) -> None:
    with pytest.raises(MissingRuleError, match=r"a function of to_torch returned a (set|function)"):
        to_torch(wrap)(U)
