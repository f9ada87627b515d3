"""Python code that native code calls, and that writes: the derivative sees it, or refuses it.

The program multiplies by a number that it reads from the state afterwards.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, checkpoint, hvp, jvp, value_and_grad, vjp
from tests.programs.unseen.hooks import HOOKS, REFUSED
from tests.programs.unseen.readers import READERS, SEQUENCES
from tests.programs.unseen.states import STATES, State, Write
from tests.support.pairs import rotating

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")

X = np.array([0.7, 1.3])
Make = Callable[[Write], Callable[[], Any]]


def by_vjp(f: Any, x: Any) -> Any:
    y, pullback = vjp(f, x)
    return y, pullback(1.0)[0]


def by_jvp(f: Any, x: Any) -> Any:
    y, dy = jvp(f, (x,), (np.array([1.0, 0.0]),))
    return y, np.array([dy, 0.0])


def by_hvp(f: Any, x: Any) -> Any:
    """Return the same as the others, for a function whose Hessian is that of a square."""
    hessian = hvp(lambda x: f(x) * x[0], (x,), np.array([1.0, 0.0]))
    return hessian[0] / 2 * x[0], hessian / 2


MODES = {
    "grad": lambda f, x: value_and_grad(f)(x),
    "vjp": by_vjp,
    "jvp": by_jvp,
    "hvp": by_hvp,
    "debug": lambda f, x: value_and_grad(f, debug=True)(x),
    "compile": lambda f, x: value_and_grad(f, compile=True)(x),
    "checkpoint": lambda f, x: value_and_grad(lambda x: checkpoint(f, x) * 1.0)(x),
}


def program(make: Make, state: State) -> Callable[[Any], Any]:
    run, read = make(state.write), state.read

    def f(x: Any) -> Any:
        run()
        return x[0] * (1.0 + read())

    return f


def is_refused(make: Make, of: str = "list", mode: str = "grad") -> bool:
    """Return whether a derivative is refused; check that it is right and leaves no change."""
    y = program(make, STATES[of]())(X.copy())
    state = STATES[of]()
    f = program(make, state)
    before = state.snapshot()
    try:
        found, gradient = MODES[mode](f, X.copy())
    except MooncakeError:
        assert state.snapshot() == before
        return True
    assert state.snapshot() == before
    np.testing.assert_allclose(found, y, rtol=1e-12)
    np.testing.assert_allclose(gradient, [y / X[0], 0.0], rtol=1e-12)
    return False


def reading(read: Any, cls: type) -> Make:
    return lambda write: lambda: read(cls(write))


def may_run(make: Make) -> bool:
    """Return whether a sequence will do for a function."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PendingDeprecationWarning)  # of matrices
            program(make, STATES["list"]())(X.copy())
    except Exception:
        return False
    return True


READING = {
    f"{name}-{cls.__name__}": make
    for name, cls in rotating(READERS, SEQUENCES, times=2)
    if may_run(make := reading(READERS[name], cls))
}
SOME = list(READING)[::5]


@pytest.mark.parametrize("name", HOOKS)
def test_hooks(name: str) -> None:
    assert is_refused(HOOKS[name]) == (name in REFUSED)


@pytest.mark.parametrize("of", STATES)
def test_hooks_that_write_to_other_state(of: str) -> None:
    for name in ("array_interface", "missing", "converters", "substitution"):
        assert not is_refused(HOOKS[name], of), name


def test_most_sequences_are_read() -> None:
    refused = [name for name in SOME if is_refused(READING[name])]
    assert len(refused) < 0.2 * len(SOME), refused


@pytest.mark.slow
@pytest.mark.parametrize("name", READING)
def test_sequences(name: str) -> None:
    is_refused(READING[name])


@pytest.mark.slow
@pytest.mark.parametrize(("of", "mode"), rotating(STATES, MODES, times=2))
def test_everything(mode: str, of: str) -> None:
    for make in (*HOOKS.values(), *(READING[name] for name in SOME)):
        is_refused(make, of, mode)


@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str) -> None:
    for name in ("array_interface", "missing", "formatter", "csv_reader", "set_name", "error_call"):
        is_refused(HOOKS[name], "array", mode)
