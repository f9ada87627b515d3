"""Tracebacks show the user's frames only, chains are kept, and nothing is held."""

from __future__ import annotations

import gc
import pdb
import struct
import traceback
import weakref
from types import FrameType, FunctionType
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    NoFData,
    build_rrule,
    grad,
    gradient,
    hessian,
    hessian_diagonal,
    hvp,
    jacobian,
    jvp,
    value_and_grad,
    value_and_hvp,
    value_and_jacobian,
    value_grad_and_hessian,
    vjp,
    wirtinger_derivatives,
)
from mooncake_py.diagnostics.places import OWN
from mooncake_py.diagnostics.tracebacks import boundary, without_engine
from mooncake_py.errors import MissingRuleError, MooncakeError, NonDifferentiableArgumentError

pytestmark = pytest.mark.without_modes("frames of what records would show")

X = np.array([0.3, -1.2, 0.7])


def divides(x):
    y = x * 2
    return y / (x - x)


def within(x):
    return sum([divides(v) for v in (x,)]) + 1


def calls(x):
    return within(x) * 2


def packs(x):
    return struct.pack("d", x)


def swallows(x):
    try:
        packs(x)
    except Exception:
        return x


def chains(x):
    try:
        divides(x)
    except ZeroDivisionError as error:
        raise ValueError("no slope") from error


def replaces(x):
    try:
        divides(x)
    except ZeroDivisionError:
        raise KeyError("other") from None


def reraises(x):
    try:
        return divides(x)
    except ZeroDivisionError:
        x = 2.0
        raise


def groups(x):
    errors = []
    for f in (divides, chains):
        try:
            f(x)
        except Exception as error:
            errors.append(error)
    raise ExceptionGroup("both", errors)


def sums(x):
    return sum(map(divides, [x]))


def generates(x):
    return sum(divides(v) for v in [x])


class Model:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no {name}")


def lacks(x):
    return Model(x).slope


def maximum_of_nothing(x):
    return max([x][1:])


def stacks(x):
    return np.sum(np.stack([x, x[:2]]))


def raised(f: Any, x: Any = 2.0) -> Exception:
    """Return the exception that a gradient raises."""
    with pytest.raises(Exception) as caught:
        grad(f)(x)
    return caught.value


def names(error: BaseException) -> list[str]:
    """Return the functions that an exception passed through; comprehensions are frames or not."""
    entries = traceback.extract_tb(error.__traceback__)
    return [entry.name for entry in entries if entry.name not in ("<listcomp>", "raised")]


def chain_of(error: BaseException | None) -> list[tuple[str, list[str]]]:
    """Return types and frames of an exception and of those shown above it."""
    found = []
    while error is not None:
        found.append((type(error).__name__, names(error)))
        shown = None if error.__suppress_context__ else error.__context__
        error = error.__cause__ or shown
    return found


def test_frames_are_those_of_the_undifferentiated_call():
    with pytest.raises(ZeroDivisionError) as caught:
        calls(2.0)
    plain = names(caught.value)[1:]
    error = raised(calls)
    assert names(error) == plain == ["calls", "within", "divides"]
    assert traceback.extract_tb(error.__traceback__)[-1].line == "return y / (x - x)"


@pytest.mark.parametrize(
    "run",
    [
        lambda: grad(divides)(2.0),
        lambda: value_and_grad(divides)(2.0),
        lambda: grad(divides).prepare(2.0),
        lambda: vjp(divides, 2.0),
        lambda: jvp(divides, (2.0,), (1.0,)),
        lambda: jvp(divides, (2.0,), [(1.0,), (2.0,)]),
        lambda: jacobian(divides)(2.0),
        lambda: jacobian(divides, mode="reverse")(2.0),
        lambda: value_and_jacobian(divides)(2.0),
        lambda: hessian(divides)(2.0),
        lambda: hvp(divides, (2.0,), 1.0),
        lambda: value_and_hvp(divides, (2.0,), 1.0),
        lambda: value_grad_and_hessian(divides)(2.0),
        lambda: hessian_diagonal(divides)(2.0),
        lambda: gradient(divides, 2.0),
        lambda: wirtinger_derivatives(divides)(2.0 + 0.0j),
        lambda: build_rrule(divides)(CoDual(divides, NoFData()), CoDual(2.0, NoFData())),
    ],
)
def test_every_entrance(run):
    with pytest.raises(ZeroDivisionError) as caught:
        run()
    assert names(caught.value)[1:] == ["<lambda>", "divides"]


def test_pullback_and_argument_errors_end_at_the_users_call():
    _, pullback = vjp(np.square, X)
    with pytest.raises(MooncakeError) as caught:
        pullback("seven")
    assert names(caught.value) == ["test_pullback_and_argument_errors_end_at_the_users_call"]
    assert names(raised(calls, 1)) == []
    assert type(raised(calls, 1)) is NonDifferentiableArgumentError
    with pytest.raises(MooncakeError) as caught:
        grad(3.0)  # pyright: ignore[reportArgumentType]
    assert names(caught.value) == ["test_pullback_and_argument_errors_end_at_the_users_call"]


@pytest.mark.parametrize(
    "run",
    [
        lambda: jacobian(calls, mode="backward"),  # pyright: ignore[reportArgumentType]
        lambda: jacobian(3.0),  # pyright: ignore[reportArgumentType]
        lambda: jacobian(calls)(1),
        lambda: hessian_diagonal(calls)(1),
        lambda: hvp(calls, X, X),  # pyright: ignore[reportArgumentType]
        lambda: hvp(3.0, (X,), X),  # pyright: ignore[reportArgumentType]
    ],
)
def test_misuse_ends_at_the_users_call(run):
    with pytest.raises(MooncakeError) as caught:
        run()
    assert names(caught.value)[1:] == ["<lambda>"]


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (packs, [("MissingRuleError", ["packs"])]),
        (swallows, [("MissingRuleError", ["swallows", "packs"])]),
        (chains, [("ValueError", ["chains"]), ("ZeroDivisionError", ["chains", "divides"])]),
        (replaces, [("KeyError", ["replaces"])]),
        (reraises, [("ZeroDivisionError", ["reraises", "divides"])]),
        (sums, [("ZeroDivisionError", ["sums", "divides"])]),
        (generates, [("ZeroDivisionError", ["generates", "<genexpr>", "divides"])]),
        (lacks, [("AttributeError", ["lacks", "__getattr__"])]),
        (maximum_of_nothing, [("ValueError", ["maximum_of_nothing"])]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_chains_are_those_of_the_user(f, expected):
    error = raised(f)
    assert chain_of(error) == expected
    text = "".join(traceback.format_exception(error))
    assert not any(part in text.replace("mooncake_py.errors.", "") for part in OWN)


def test_no_exception_of_the_engine_becomes_a_context():
    def keeps(x):
        try:
            return divides(x)
        except ZeroDivisionError as error:
            return x if error.__context__ is None else 0.0

    assert grad(keeps)(2.0) == 1.0


def test_frames_of_libraries_stay():
    assert names(raised(stacks, X.copy())) == ["stacks", "stack"]


def test_members_of_groups():
    error = raised(groups)
    assert isinstance(error, ExceptionGroup)
    assert names(error) == ["groups"]
    one, two = error.exceptions
    assert chain_of(one) == [("ZeroDivisionError", ["groups", "divides"])]
    assert chain_of(two)[1] == ("ZeroDivisionError", ["chains", "divides"])


def test_note_says_how_to_see_the_rest(monkeypatch):
    (note,) = raised(divides).__notes__
    place, rest = note.split("\n")
    assert place.endswith(f"{__file__}:{divides.__code__.co_firstlineno + 2} in divides")
    assert rest == "(frames of mooncake_py are left out; MOONCAKE_FULL_TRACEBACK=1 shows them)"
    assert not hasattr(raised(packs), "__notes__")
    monkeypatch.setenv("MOONCAKE_FULL_TRACEBACK", "1")
    error = raised(divides)
    assert error.__notes__ == [place]
    assert len(names(error)) > 5
    assert names(error)[-1] != "test_note_says_how_to_see_the_rest"
    monkeypatch.setenv("MOONCAKE_FULL_TRACEBACK", "0")
    assert names(raised(divides)) == ["divides"]


def test_instructions_of_no_line_get_the_first_one_of_their_function():
    # An interrupt may come there.
    def fail():
        raise KeyboardInterrupt

    unplaced = FunctionType(fail.__code__.replace(co_linetable=b""), {})
    scope = {"run": unplaced}
    try:
        exec(compile("run()", OWN[0] + "anywhere.py", "exec"), scope)
    except KeyboardInterrupt as error:
        trace = without_engine(error)
    frames = [(f.f_code.co_name, line) for f, line in traceback.walk_tb(trace)]
    assert frames[-1] == ("fail", fail.__code__.co_firstlineno)
    assert len(frames) == 2


def test_interrupts_of_compiled_code_are_interrupts():
    # Code of Numba may return with an error that says that an exception is set.
    with pytest.raises(KeyboardInterrupt), boundary:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()


def test_traceback_of_an_outer_exception_is_left_alone():
    try:
        divides(2.0)
    except ZeroDivisionError as outer:
        before, error = outer.__traceback__, raised(packs)
    context = error.__context__
    assert context is not None
    assert context.__traceback__ is before


def test_post_mortem_stands_in_the_users_frame():
    error = raised(calls)
    stack, current = pdb.Pdb(readrc=False).get_stack(None, error.__traceback__)
    frame: FrameType = stack[current][0]
    assert frame.f_code.co_name == "divides"
    assert repr(frame.f_locals["y"]) == "4.0"


@pytest.mark.parametrize("full", ["0", "1"])
@pytest.mark.parametrize("f", [swallows, packs])
def test_errors_are_freed_without_the_collector(f, full, monkeypatch):
    monkeypatch.setenv("MOONCAKE_FULL_TRACEBACK", full)
    gc.disable()
    try:
        try:
            grad(f)(2.0)
        except MissingRuleError as error:
            freed = weakref.ref(error)
        assert freed() is None
    finally:
        gc.enable()
