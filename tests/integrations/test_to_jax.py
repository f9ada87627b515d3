"""NumPy code as a function of JAX's arrays: against JAX's own derivatives of the same function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.errors import MissingRuleError

jax = pytest.importorskip("jax")
to_jax = pytest.importorskip("mooncake_py.integrations.jax").to_jax
jnp = jax.numpy


@pytest.fixture(autouse=True)
def double() -> Any:
    with jax.enable_x64(True):
        yield


def relax(u: Any, k: Any) -> Any:
    for _ in range(3):
        u[1:-1] += k * np.sin(u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


def relaxed(u: Any, k: Any) -> Any:
    for _ in range(3):
        u = jnp.concatenate([u[:1], u[1:-1] + k * jnp.sin(u[2:] - 2.0 * u[1:-1] + u[:-2]), u[-1:]])
    return u


U = np.linspace(-1.0, 2.0, 6) ** 2


def energy(layer: Any) -> Any:
    return lambda u, k: (layer(u, k) ** 2).sum()


def batched(f: Any) -> Any:
    return lambda u, k: jax.vmap(f, (0, None))(u, k).sum()


TAKEN = {
    "value": lambda f: f,
    "grad": lambda f: jax.grad(f, (0, 1)),
    "jacfwd": jax.jacfwd,
    "hessian": lambda f: jax.hessian(f, (0, 1)),
    "jacrev of jacrev": lambda f: jax.jacrev(jax.jacrev(f, 1), (0, 1)),
    "jacrev of jacfwd": lambda f: jax.jacrev(jax.jacfwd(f, 1), (0, 1)),
    "third": lambda f: jax.grad(lambda u, k: jax.hessian(f)(u, k).sum()),
    "jit of grad": lambda f: jax.jit(jax.grad(f)),
    "vmap of grad": lambda f: jax.vmap(jax.grad(f, (0, 1)), (0, None)),
    "jit of vmap of hessian": lambda f: jax.jit(jax.vmap(jax.hessian(f, 1), (0, None))),
    "grad of vmap": lambda f: jax.grad(batched(f), (0, 1)),
    "hessian of vmap": lambda f: jax.hessian(batched(f), 1),
}


@pytest.mark.parametrize("name", TAKEN)
def test_transforms_are_those_of_jax(name: str) -> None:
    take = TAKEN[name]
    u = jnp.array(np.stack([U, 1.0 - U]) if "vmap" in name else U)
    found, expected = take(energy(to_jax(relax)))(u, 0.25), take(energy(relaxed))(u, 0.25)

    def compare(a: Any, b: Any) -> None:
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)

    jax.tree.map(compare, found, expected)


def test_compiled_and_within_scan() -> None:
    def steps(layer: Any) -> Any:
        def f(u: Any) -> Any:
            return jax.lax.scan(lambda c, _: (layer(c, 0.1), c.sum()), u, None, length=3)[0][2]

        return f

    found = jax.jit(jax.grad(steps(to_jax(relax, compile=True))))(jnp.array(U))
    np.testing.assert_allclose(found, jax.grad(steps(relaxed))(jnp.array(U)), rtol=1e-12)


def test_complex_numbers_have_the_convention_of_jax() -> None:
    z = jnp.array([1.0 + 2.0j, 0.5 - 1.0j])

    def own(z: Any) -> Any:
        return z * z * jnp.conj(z)

    for f in (lambda g: jax.vjp(g, z)[1](z * 1j)[0], lambda g: jax.jvp(g, (z,), (z * 1j,))[1]):
        np.testing.assert_allclose(f(to_jax(lambda z: z * z * np.conj(z))), f(own), rtol=1e-12)


def test_nested_arguments_and_integers() -> None:
    @to_jax
    def layer(p: Any, x: Any, *, kind: str) -> Any:
        x *= p["scale"]
        return {"y": np.tanh(p["w"] @ x) if kind == "tanh" else None, "n": np.arange(3)}

    p = {"w": jnp.ones((2, 3)), "scale": 0.5}
    x = jnp.array([1.0, 2.0, 3.0])
    out = layer(p, x, kind="tanh")
    assert out["n"].tolist() == [0, 1, 2]
    g = jax.jit(jax.grad(lambda p: layer(p, x, kind="tanh")["y"].sum()))(p)
    slope = 1.0 - np.tanh(3.0) ** 2
    np.testing.assert_allclose(g["w"], slope * np.array([[0.5, 1.0, 1.5]] * 2), rtol=1e-12)
    np.testing.assert_allclose(g["scale"], slope * 12.0, rtol=1e-12)


def test_an_example_gives_the_shapes() -> None:
    def root(x: Any) -> Any:
        if np.any(x >= 1.0):
            raise ValueError("too large")
        return np.sqrt(1.0 - x)

    with pytest.raises(ValueError, match="too large") as caught:
        jax.jit(to_jax(root))(jnp.array([0.5]))
    assert "example=(...)" in caught.value.__notes__[0]
    shaped = to_jax(root, example=(np.array([0.1]),))
    found = jax.jit(jax.grad(lambda x: shaped(x)[0]))(jnp.array([0.5]))
    np.testing.assert_allclose(found, -0.5 / np.sqrt(0.5), rtol=1e-12)


def test_outputs_that_are_no_arrays_are_refused() -> None:
    with pytest.raises(MissingRuleError, match="to_jax returned a str"):
        to_jax(lambda x: "x")(jnp.array(U))
