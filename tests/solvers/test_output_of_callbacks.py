"""What callbacks of solvers print, log and warn of: as often as in a plain call."""

from __future__ import annotations

import gzip
import io
import logging
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, hvp, implicit, jvp, value_and_grad
from mooncake_py.errors import DerivativeDropError
from tests.support.pairs import rotating

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")


def found_by_newton(g: Any) -> Any:
    def solve():
        z = 0.1
        for _ in range(4):
            z -= (g(z) - 0.7) / 1.5
        return z

    return implicit(solve, lambda z: g(z) - 0.7)()


SOLVERS: dict[str, Callable[[Any], Any]] = {
    "quad": lambda g: integrate.quad(g, 0, 1)[0],
    "brentq": lambda g: optimize.brentq(lambda t: g(t) - 0.7, -3, 3),
    "minimize": lambda g: optimize.minimize(lambda t: (g(t[0]) - 0.7) ** 2, [0.1]).x[0],
    "fsolve": lambda g: optimize.fsolve(lambda t: [g(t[0]) - 0.7], [0.1])[0],
    "odeint": lambda g: integrate.odeint(lambda y, t: g(y), [1.0], [0, 0.1])[-1, 0],
    "implicit": found_by_newton,
    "none": lambda g: g(1.0),
}
LOG = logging.Logger("of callbacks")
HELD = io.StringIO()
COUNTS: list[int] = []


def counted() -> None:
    COUNTS.append(1)
    print("a")


def divided() -> None:
    COUNTS.append(1)
    np.array([1.0]) / np.zeros(1)


OUTPUTS: dict[str, Callable[[], Any]] = {
    "print": lambda: print("a"),
    "print, and a count": counted,
    "print to stderr": lambda: print("a", file=sys.stderr),
    "write": lambda: sys.stdout.write("a"),
    "write to a file that is held": lambda: HELD.write("a"),
    "print to a file that is held": lambda: print("a", file=HELD),
    "warn": lambda: warnings.warn("a", stacklevel=1),
    "warning of NumPy": lambda: np.float64(1.0) / np.float64(0.0),
    "warning of NumPy, and a count": divided,
    "log": lambda: LOG.warning("a"),
}


def output(f: Callable[[Any], Any], run: Callable[[Any], Any]) -> list[int]:
    """Return how often the letter a is written to each stream, and how many warnings are seen."""
    out, err = io.StringIO(), io.StringIO()
    HELD.seek(0)
    HELD.truncate()
    handler = logging.StreamHandler(err)
    LOG.addHandler(handler)
    with warnings.catch_warnings(record=True) as seen, redirect_stdout(out), redirect_stderr(err):
        warnings.simplefilter("always")
        run(f)
    LOG.removeHandler(handler)
    return [*(s.getvalue().count("a") for s in (out, err, HELD)), len(seen)]


@pytest.mark.sampled(7)
@pytest.mark.parametrize(("name", "solver"), rotating(OUTPUTS, SOLVERS, times=2))
def test_output_appears_as_in_a_plain_call(name: str, solver: str) -> None:
    tell = OUTPUTS[name]

    def f(x):
        def g(t):
            tell()
            return x * t

        return SOLVERS[solver](g)

    expected = output(f, lambda f: f(1.5))
    assert sum(expected) > 0
    assert output(f, lambda f: value_and_grad(f)(1.5)) == expected
    assert output(f, lambda f: jvp(f, (1.5,), (1.0,))) == expected
    assert output(f, lambda f: grad(lambda x: checkpoint(f, x))(1.5)) == expected
    assert output(f, lambda f: grad(lambda x: value_and_grad(f)(x)[0])(1.5)) == expected
    if solver not in ("quad", "odeint"):
        assert output(f, lambda f: grad(f, debug=True)(1.5)) == expected
        assert output(f, lambda f: hvp(f, (1.5,), 1.0)) == expected


def test_a_callback_that_reads_what_it_writes_is_refused() -> None:
    held = io.StringIO()

    def f(x):
        def g(t):
            held.write("a")
            return x * t - 0.7 + 0.0 * len(held.getvalue())

        return optimize.brentq(g, -3, 3)

    with pytest.raises(DerivativeDropError, match="reads a stream that it writes to"):
        grad(f)(1.5)


def test_a_callback_may_make_a_stream_of_its_own() -> None:
    def f(x):
        def g(t):
            with io.StringIO() as own:
                own.write("ab")
                print("c", file=own)
                return x * t - 0.7 * len(own.getvalue()) / 4

        return optimize.brentq(g, -3, 3)

    assert grad(f)(1.5) == pytest.approx(-0.7 / 1.5**2)


def printed() -> str:
    with redirect_stdout(io.StringIO()) as text:
        print("ab")
    return text.getvalue()


def printed_in_place_of_stdout() -> str:
    before, sys.stdout = sys.stdout, io.StringIO()
    try:
        sys.stdout.write("ab\n")
        return sys.stdout.getvalue()
    finally:
        sys.stdout = before


def logged() -> str:
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    LOG.addHandler(handler)
    LOG.warning("ab")
    LOG.removeHandler(handler)
    return text.getvalue()


@pytest.mark.parametrize("caught", [printed, printed_in_place_of_stdout, logged])
def test_a_callback_may_compute_with_the_text_that_it_catches(caught: Callable[[], str]) -> None:
    def lowest(x):
        return optimize.minimize_scalar(
            lambda z: (z - 2.0) ** 2 + x * len(caught()), bracket=(0, 1)
        ).fun

    def root(x):
        return optimize.brentq(lambda z: z - x * len(caught()), -9, 9)

    def integral(x):
        return integrate.quad(lambda t: 2 * t * x * len(caught()), 0, 1)[0]

    def again(x):
        return checkpoint(lambda: x * len(caught()))

    for f in (lowest, root, integral, again):
        assert value_and_grad(f)(1.5) == (pytest.approx(4.5), pytest.approx(3.0))
        assert jvp(f, (1.5,), (1.0,)) == (pytest.approx(4.5), pytest.approx(3.0))


def test_text_caught_by_a_handler_from_before_is_not_read() -> None:
    text = io.StringIO()
    logger = logging.Logger("caught before")
    logger.addHandler(logging.StreamHandler(text))

    def f(x):
        def g(z):
            text.seek(0)
            text.truncate()
            logger.warning("ab")
            return z - x * len(text.getvalue())

        return optimize.brentq(g, -9, 9)

    with pytest.raises(DerivativeDropError, match="reads a stream that it writes to"):
        grad(f)(1.5)


def test_warnings_of_the_solver_itself_are_seen_once() -> None:
    def f(x):
        return integrate.quad(lambda t: x * np.sin(30 * t) * np.exp(t), 0, 20, limit=6)[0]

    for derive in (f, value_and_grad(f), grad(lambda x: checkpoint(f, x))):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            derive(1.0)
        assert [w.category for w in seen] == [integrate.IntegrationWarning]


REPORTS: dict[str, Callable[[Any], Any]] = {
    "minimize": lambda x: (
        optimize.minimize(lambda p: np.sum((p - x) ** 2), np.zeros(3), options={"disp": True}).x
    ),
    "least_squares": lambda x: optimize.least_squares(lambda p: p - x, np.zeros(3), verbose=2).x,
    "minimize_scalar": lambda x: (
        optimize.minimize_scalar(lambda p: (p - x[0]) ** 2, options={"disp": 3}).x
    ),
}


@pytest.mark.parametrize("name", REPORTS)
def test_reports_of_solvers_do_not_come_again_from_second_runs(name: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(REPORTS[name](x))

    def printed(run: Callable[[], Any]) -> str:
        with redirect_stdout(io.StringIO()) as text:
            run()
        return text.getvalue()

    x = np.array([1.0, 2.0, 3.0])
    expected = printed(lambda: f(x))
    assert expected
    assert printed(lambda: grad(lambda x: checkpoint(f, x))(x)) == expected
    assert printed(lambda: hvp(f, (x,), x)) == expected


def test_a_packed_file_is_written_once_and_whole() -> None:
    def f(x: Any) -> Any:
        file = io.BytesIO()
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
            root = optimize.brentq(lambda z: (packed.write(b"a"), z**3 + z - x)[1], 0, 5)
        return root, gzip.decompress(file.getvalue())

    assert value_and_grad(f, has_aux=True)(2.0) == (f(2.0), pytest.approx(0.25))
