"""Debug mode runs loops on slices both ways, and finds where one way is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import debug_mode, grad, hvp, jvp
from mooncake_py.compiler.slices import site
from mooncake_py.errors import DifferentResultError
from mooncake_py.modes.debug import beside, regions
from mooncake_py.modes.debug.regions import LoopBeside
from tests.programs.slice_sabotage import BREAKS

pytestmark = pytest.mark.plain
RANDOM = np.random.default_rng(5)
X, Y = RANDOM.uniform(0.4, 0.9, (2, 30))
M = RANDOM.uniform(-0.1, 0.1, (30, 30)) + 2.0 * np.eye(30)

SOLVED = """
def f(x, m):
    for i in range(30):
        x[i] = (x[i] - m[i, :i] @ x[:i]) / m[i, i]
    return x @ x
"""
SCALED = """
def f(x, m):
    s = x[0]
    for i in range(1, 30):
        s = s * 0.5 - x[i]
        x[i:] *= s
        m[i, :] = x[:] - s * m[i, :]
    return x @ x + m[3] @ m[20]
"""
REPLACED = """
def f(x, m):
    for i in range(1, 29):
        x[1:] = x[:-1] - 0.5 * m[i, 1:]
        m[i, 1:] = x[1:] * m[i + 1, :-1]
    return x @ x + m[3] @ m[20]
"""
SUMMED = """
def f(x, m):
    s = 0.0
    for i in range(1, 30):
        s += x[: i + 1] @ m[i, : i + 1]
        x[i] = 1.0 - x[i] * x[i]
        x[: i - 1] -= x[1:i] * x[i]
        m[:, 1:] = 0.5 * m[:, :-1]
    return s
"""
FOUND = {
    "what_is_overwritten_is_not_saved": SCALED,
    "elements_that_are_overwritten_are_not_saved": SUMMED,
    "slices_are_saved_without_a_copy": SUMMED,
    "slices_are_logged_without_a_copy": SCALED,
    "slots_are_not_cleared": REPLACED,
    "elements_keep_what_they_had": SOLVED,
    "slots_change_before_they_are_delivered": REPLACED,
    "signs_are_lost": SOLVED,
    "ends_of_slices_are_left_out": SCALED,
    "numbers_are_floats_of_python": SUMMED,
}
FOUND_IN_TANGENTS = {
    "tangents_come_after_values": SCALED,
    "tangents_are_never_subtracted": SUMMED,
    "products_of_sums_lose_a_term": SCALED,
}


@pytest.fixture
def made(define: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return what defines a function."""
    return lambda text: define(f"import numpy as np\n{text}")


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[LoopBeside]:
    """What was compared, in order."""
    found: list[LoopBeside] = []
    compare = LoopBeside.compare

    def noted(self: LoopBeside, *args: Any) -> None:
        found.append(self)
        compare(self, *args)

    monkeypatch.setattr(LoopBeside, "compare", noted)
    return found


def in_debug_mode(f: Any) -> Any:
    return grad(f, (0, 1), debug=True)(X.copy(), M.copy())


def pushed_in_debug_mode(f: Any) -> Any:
    with debug_mode():
        return jvp(f, (X.copy(), M.copy()), (Y.copy(), M.T.copy()))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", [SOLVED, SCALED, REPLACED, SUMMED])
def test_both_ways_agree(text: str, made: Any, compared: list[Any]) -> None:
    f = made(text)
    expected = grad(f, (0, 1))(X.copy(), M.copy())
    for g, e in zip(in_debug_mode(f), expected, strict=True):
        assert_allclose(g, e, rtol=1e-10, atol=1e-12)
    along = X.copy(), M.copy()
    second = hvp(f, along, Y.copy(), 0)
    with debug_mode():
        assert_allclose(hvp(f, along, Y.copy(), 0), second, rtol=1e-10, atol=1e-12)
    assert [run.is_on_slices for run in compared] == [True, True]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", FOUND)
def test_breaks_are_found(name: str, made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    BREAKS[name](monkeypatch)
    f = made(FOUND[name])
    with pytest.raises(DifferentResultError, match="a loop that runs as one entry") as caught:
        in_debug_mode(f)
    line = next(k for k, text in enumerate(FOUND[name].split("\n"), 2) if "for " in text)
    assert f"{f.__code__.co_filename}:{line}:" in str(caught.value)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FOUND_IN_TANGENTS)
def test_breaks_of_tangents_are_found(
    name: str, made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    BREAKS[name](monkeypatch)
    with pytest.raises(DifferentResultError, match="another tangent"):
        pushed_in_debug_mode(made(FOUND_IN_TANGENTS[name]))


def sabotage(monkeypatch: pytest.MonkeyPatch, **wrong: Callable[..., Any]) -> None:
    """Replace the sweeps of the forms that are made from now on."""
    written = site.written

    def written_wrongly(*args: Any) -> Any:
        form = written(*args)
        return form._replace(
            **{name: change(getattr(form, name)) for name, change in wrong.items()}
        )

    monkeypatch.setattr(site, "written", written_wrongly)


def changing(k: int, factor: float) -> Callable[..., Any]:
    """Return what lets a sweep change the first element of an array that it is given."""

    def change(sweep: Any) -> Any:
        def run(*args: Any) -> Any:
            found = sweep(*args)
            args[k].flat[0] *= factor
            return found

        return run

    return change


def test_a_last_bit_is_found(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch, forward=changing(-1, 1.0 + 2.0**-52))
    with pytest.raises(DifferentResultError, match=r"gives x\[0\] another value"):
        in_debug_mode(made(SCALED))


CANCELLING = """
def f(x, c):
    y = np.zeros(30)
    for i in range(30):
        y[i] = x[i] + c[i, :] @ x[:]
    return np.sum(y)
"""
C = 1e6 * np.outer((-1.0) ** np.arange(30), Y)


@pytest.mark.parametrize(("factor", "is_found"), [(1.0 + 1e-8, False), (1.0 + 1e-2, True)])
def test_terms_that_cancel_may_be_rounded(
    factor: float, is_found: bool, made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[Any] = []
    shaken = LoopBeside.shaken
    monkeypatch.setattr(LoopBeside, "shaken", lambda *args: runs.append(1) or shaken(*args))
    sabotage(monkeypatch, reverse=changing(-2, factor))
    f = made(CANCELLING)
    if is_found:
        with pytest.raises(DifferentResultError, match="another cotangent"):
            grad(f, debug=True)(X.copy(), C)
    else:
        grad(f, debug=True)(X.copy(), C)
    assert runs


# What is copied.


def test_arrays_that_are_only_read_are_not_copied(made: Any, compared: list[Any]) -> None:
    m = M.copy()
    grad(made(SOLVED), debug=True)(X.copy(), m)
    (run,) = compared
    assert run.copies["u_m"] is m
    assert run.copies["u_x"] is not run.inputs["u_x"]


def test_large_arrays_are_not_compared(
    made: Any, compared: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (beside, regions):
        monkeypatch.setattr(module, "WHOLE", M.nbytes - 1)
    in_debug_mode(made(SOLVED))
    assert compared == []


def test_lists_that_are_written_are_not_compared(made: Any, compared: list[Any]) -> None:
    f = made("""
def f(x, m):
    q = [1.0] * 30
    for i in range(30):
        q[i] = x[:i] @ m[i, :i]
    return q[29]
""")
    expected = grad(f, (0, 1))(X.copy(), M.copy())
    for g, e in zip(in_debug_mode(f), expected, strict=True):
        assert_allclose(g, e, rtol=1e-12)
    assert compared == []
