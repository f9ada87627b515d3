"""Rewritten functions under a context that does what Python does must equal the originals."""

from __future__ import annotations

import copy
import fractions
import statistics
import textwrap
import traceback
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from mooncake_py.errors import UnsupportedSyntaxError
from mooncake_py.frontend.load import derive, instantiate, show_source
from tests.frontend import cases, programs
from tests.frontend.all_programs import CASES, FILES
from tests.frontend.native_context import BINARY, INPLACE, NativeContext
from tests.support.pairs import rotating


def plain(value: Any) -> Any:
    """Turn a result into something that compares by value and exact type."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [plain(item) for item in value]
    if isinstance(value, FunctionType):
        return value.__qualname__
    if type(value).__eq__ is object.__eq__:
        return type(value).__qualname__
    return type(value).__name__, value


def drive(value: Any) -> Any:
    """Run a generator, sending something in at each step; anything else passes."""
    if not hasattr(value, "send"):
        return value
    out = [next(value)]
    for k in range(100):
        try:
            out.append(value.send(k))
        except StopIteration as stop:
            return out, stop.value
    return out


def outcome(call: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return result or error with its lines, the arguments afterwards, and what was logged."""
    cases.log.clear()
    programs.counter = 0
    args = copy.deepcopy(args)
    try:
        result: tuple[Any, ...] = "returned", plain(drive(call(*args)))
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [(frame.lineno, frame.name) for frame in frames if frame.filename in FILES]
        result = "raised", type(error), str(error), lines
    return *result, plain(list(args)), plain(list(cases.log)), programs.counter


IDS = [f"{function.__name__}-{k}" for k, (function, _) in enumerate(CASES)]


@pytest.mark.parametrize(
    ("function", "args", "within"),
    [(*given, within) for given, within in rotating(CASES, [(), FILES])],
)
def test_rewritten_program_equals_original(function, args, within):
    context = NativeContext(within)
    expected = outcome(function, args)
    got = outcome(lambda *a: context.run(function, *a), args)
    assert got == expected
    assert function.__name__.startswith("fails") == (expected[0] == "raised")


def test_programs_cover_every_operation_of_the_context():
    seen: set[str] = set()
    for function, args in CASES:
        context = NativeContext(FILES)
        outcome(lambda *a, f=function, c=context: c.run(f, *a), args)
        seen.update(context.seen)
    everything = {name for name in dir(NativeContext) if not name.startswith("_")}
    # The operators of augmented elements and attributes are looked up by name, not as methods.
    # What guards of quick forms read is read by no other code.
    assert everything - {
        "run",
        "within",
        "seen",
        "numbers",
        "fuses",
        "pushes",
        "several",
        "rules",
        "unsupported",  # no program runs what it refuses
        "imported",  # of modules that a context knows to run code
    } == seen - {"numbers"}
    assert seen.issuperset([*INPLACE, *BINARY])


def text_of(function: Any) -> str:
    lines = show_source(derive(function.__code__, function.__globals__)).splitlines()
    body = [line for line in lines if not line.startswith("#")]
    return textwrap.dedent("\n".join(body[1:])).replace("_mk_ctx", "C")


def test_ints_bound_side_by_side_stay_native():
    def loop(x):
        i, (j, y) = 1, (2, x)
        return [i + j, y + j]

    assert text_of(loop).splitlines()[-1] == "return [i + j, C.add(y, j)]"


def test_static_int_arithmetic_stays_native():
    def loop(x, n):
        k = 0
        for i in range(n):
            x[i + 1] = x[2 * i - k] * 3
            k += i // 2
            print()
        return [j + 1 for j in range(n)]

    lines = list(map(str.strip, text_of(loop).splitlines()))
    first = lines.index("for i in _mk_steps0:")
    assert lines[first + 1 : first + 4] == [
        "_mk_f0.run(C, (), (x, 2 * i - k, i + 1))",
        "k += i // 2",
        "C.call(print)",
    ]
    assert lines[-1] == "return [j + 1 for j in C.range_of(n)]"


@pytest.mark.parametrize(
    "binding",
    [
        "i = x",
        "i /= 2",
        "for i in x: pass",
        "import i",
        "from os import path as i",
        "i, j = [1, 2]",
        "i, *j = 1, 2",
        "with x as i: pass",
        "def i(): pass",
        "class i: pass",
        "del i",
        "[(i := y) for y in x]",
        "def g():\n    def h():\n        nonlocal i",
        "class A:\n    nonlocal i",
        "match x:\n    case [i]: pass",
        "match x:\n    case {**i}: pass",
        "try: pass\n  except ValueError as i: pass",
        "for j in range(len(x)): i += j * 0.5",
    ],
)
def test_any_other_binding_spoils_a_static_int(binding, define):
    body = textwrap.indent(binding.replace("\n  except", "\nexcept"), "    ")
    function = define(f"def f(x, n):\n    for i in range(n): pass\n{body}\n    return i + 1\n")
    assert text_of(function).endswith("return C.add(i, 1)")


def test_parameter_global_and_nonlocal_are_no_static_ints(define):
    parameter = define("def f(i):\n    for i in range(3): pass\n    return i + 1\n")
    shared = define("def f():\n    global i\n    for i in range(3): pass\n    return i + 1\n")
    assert text_of(parameter).endswith("C.add(i, 1)")
    assert text_of(shared).endswith("C.add(i, 1)")
    captured = define(
        "def outer(i):\n"
        "    def f():\n"
        "        nonlocal i\n        for i in range(3): pass\n        return i + 1\n"
        "    return f\n"
        "f = outer(0)\n"
    )
    assert text_of(captured).endswith("C.add(i, 1)")


def test_module_names_stay_native_as_deep_as_modules_go():
    def f(x):
        names = np.random.seed, np.ndarray.sum
        names = names, x.np.pi
        return np.linalg.norm(x) + np.pi, names

    assert text_of(f).splitlines() == [
        "names = (np.random.seed, C.getattr(np.ndarray, 'sum'))",
        "names = (names, C.getattr(C.getattr(x, 'np'), 'pi'))",
        "return (C.add(C.call_one(np.linalg.norm, x), np.pi), names)",
    ]


def test_local_module_name_is_an_ordinary_value():
    def f(np, x):
        return np.sin(x), np.pi

    assert text_of(f) == "return (C.method(np, 'sin', x), C.getattr(np, 'pi'))"


def test_free_variable_that_shadows_is_an_ordinary_value(define):
    function = define(
        "import math\n"
        "def outer(math, len):\n"
        "    def f(x):\n        return math.pi, len(x) + 1\n"
        "    return f\n"
        "f = outer(None, None)\n"
    )
    expected = "return (C.getattr(math, 'pi'), C.add(C.call_one(len, x), 1))"
    assert text_of(function) == expected


def test_comprehension_target_hides_a_static_int():
    def f(x, n):
        for i in range(n):
            x[i] = [i + 1 for i in x], [j + i for j in range(i)]

    found = text_of(f)
    assert "[C.add(i, 1) for i in C.iter(x)]" in found
    assert "[j + i for j in range(i)]" in found


def test_constant_slices_are_built_once():
    def f(u, i):
        u[1:-1] = u[1:-1, ..., None] + u[2:, i]

    derived = derive(f.__code__, f.__globals__)
    assert {name: value for name, value in derived.injected.items() if "_k" in name} == {
        "_mk_k0": (slice(1, -1), Ellipsis, None),
        "_mk_k1": slice(2, None),
        "_mk_k2": slice(1, -1),
    }
    assert "(_mk_k1, i), _mk_k2))" in show_source(derived)


def test_all_unsupported_places_are_reported_at_once(define):
    function = define(
        "def f(x):\n"
        "    a = eval('x')\n"
        "    _mk_b = [a for x[0] in x]\n"
        "    return eval('y'), exec('z'), vars(x), _mk_b\n"
    )
    with pytest.raises(UnsupportedSyntaxError) as caught:
        derive(function.__code__, function.__globals__)
    message = str(caught.value)
    file = function.__code__.co_filename
    assert "(6 places)" in message
    for place in ["2:9", "3:5", "3:20", "4:12", "4:23", "4:43"]:
        assert f"{file}:{place} in f" in message
    assert "a = eval('x')\n" in message
    assert "    ^^^^^^^^^\n" in message
    assert "write a for statement" in message
    assert "4:34" not in message


@pytest.mark.parametrize(
    "body",
    [
        "async for i in x: pass",
        "async with x: pass",
        "await x",
        "return [i async for i in x]",
    ],
)
def test_asynchronous_code_is_refused(body, define):
    function = define(f"async def f(x):\n    {body}\n")
    with pytest.raises(UnsupportedSyntaxError, match="event loop"):
        derive(function.__code__, function.__globals__)


def test_shadowed_scope_function_is_an_ordinary_function(define):
    function = define("def f(x):\n    eval = x\n    return eval(1)\n")
    assert NativeContext().run(function, lambda k: k + 1) == 2


def test_breakpoint_and_globals_are_called_by_the_user_frame():
    def f():
        breakpoint()
        return globals()

    assert text_of(f) == "breakpoint()\nreturn globals()"


def test_temporaries_do_not_outlive_their_statement():
    def f(x):
        class A:
            p = x[0], q = [1, 2]

        return vars(A)

    names = NativeContext().run(f, [0])
    assert not any(name.startswith("_mk_") for name in names)


CAUGHT_BY_NUMPY = np.array([[1.0, 2.0, 4.0], [3.0, 1.0, 0.5]])

LIBRARY: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (np.cov.__wrapped__, (CAUGHT_BY_NUMPY,), {"rowvar": False, "bias": True}),
    (np.gradient.__wrapped__, (CAUGHT_BY_NUMPY, 0.5), {"axis": 1, "edge_order": 2}),
    (np.gradient.__wrapped__, (np.arange(9.0).reshape(3, 3) ** 2,), {}),
    (np.interp.__wrapped__, (1.5, [1, 2, 3], [3, 2, 0]), {"period": 4}),
    (np.trapezoid.__wrapped__, (CAUGHT_BY_NUMPY,), {"dx": 0.1}),
    (np.kron.__wrapped__, (CAUGHT_BY_NUMPY, np.eye(2)), {}),
    (np.cross.__wrapped__, (CAUGHT_BY_NUMPY, CAUGHT_BY_NUMPY[::-1]), {}),
    (np.pad.__wrapped__, (CAUGHT_BY_NUMPY, 2), {"mode": "reflect"}),
    (np.polyfit.__wrapped__, ([0.0, 1, 2, 3], [1.0, 2, 5, 10], 2), {}),
    (np.roll.__wrapped__, (CAUGHT_BY_NUMPY, (1, 2), (0, 1)), {}),
    (np.tensordot.__wrapped__, (CAUGHT_BY_NUMPY, CAUGHT_BY_NUMPY.T), {"axes": 1}),
    (np.median.__wrapped__, (CAUGHT_BY_NUMPY,), {"axis": 0}),
    (np.percentile.__wrapped__, (CAUGHT_BY_NUMPY, 30), {"axis": 1}),
    (np.histogram.__wrapped__, (CAUGHT_BY_NUMPY,), {"bins": 4}),
    (statistics.fmean, ([1.0, 2.0, 4.0], [3, 1, 2]), {}),
    (statistics.variance, ([1, 2, 4, 8],), {}),
    (statistics.quantiles, ([1, 5, 2, 4, 8],), {"n": 3, "method": "inclusive"}),
    (statistics.linear_regression, ([1, 2, 3], [2, 4, 7]), {}),
    (statistics.multimode, ("aabbc",), {}),
    (textwrap.wrap, ("the quick brown fox jumps over it",), {"width": 11}),
    (textwrap.dedent, ("  a\n    b\n",), {}),
    (fractions.Fraction.limit_denominator, (fractions.Fraction("3.14159"), 100), {}),
    (fractions.Fraction.__pow__, (fractions.Fraction(2, 3), -3), {}),
    (fractions.Fraction.__hash__, (fractions.Fraction(2, 3),), {}),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    LIBRARY,
    ids=[f"{function.__qualname__}-{k}" for k, (function, _, _) in enumerate(LIBRARY)],
)
def test_library_function_equals_original(function, args, kwargs):
    context = NativeContext(function.__code__.co_filename)
    expected = function(*copy.deepcopy(args), **kwargs)
    got = context.run(function, *copy.deepcopy(args), **kwargs)
    assert plain(got) == plain(expected)
    assert context.seen


def test_statement_positions_show_the_source_of_the_user():
    def f(x, y):
        return x + (y % x)

    new = instantiate(derive(f.__code__, f.__globals__), f)
    with pytest.raises(ZeroDivisionError) as caught:
        new(0, 2, _mk_ctx=NativeContext())
    frame = traceback.TracebackException.from_exception(caught.value).stack[1]
    assert frame.line == "return x + (y % x)"
    assert (frame.colno, frame.end_colno) == (20, 25)
