"""Ways of rules give what the general way gives, whatever they are called with."""

import gc
import math
import weakref

import numpy as np
import pytest

from mooncake_py import elementwise, grad, jvp, local_rules
from mooncake_py.language.core import Core
from tests.application.odd_calls import ARGS, CONTEXTS, PROGRAM, outcome, without_ways
from tests.support.pairs import rotating

NAMED = (
    np.sin, math.exp, math.hypot, np.maximum, np.power, np.clip, max, min, round, np.where,
    np.interp, np.max, np.dot, np.cumsum, np.ndarray.copy, np.ndarray.sum,
)  # fmt: skip

CALLS = {
    "maxima": [
        "np.maximum(x, 1)",
        "np.maximum(x, x)",
        "np.maximum(x, np.nan)",
        "np.maximum(x * np.nan, 1.0)",
        "np.maximum(v, 0.6)",
        "np.maximum(v, v)",
        "np.maximum(v, x)",
        "np.maximum(x, c)",
        "np.maximum(v, [0.1, 0.2, 0.9])",
        "np.maximum(x)",
        'np.maximum(x, "a")',
        "np.maximum(x, True)",
        "np.maximum(x, np.float32(0.5))",
        "np.maximum(v, i3)",
        "np.maximum(v, w[:2])",
        "np.maximum(v, 0.5, out=w)",
        "np.maximum(x, 10**400)",
        "np.maximum(v32, 0.5)",
        "np.fmax(x, np.nan)",
    ],
    "powers": [
        "np.power(x, 2.5)",
        "np.power(-x, 0.5)",
        "np.power(0 * x, -1)",
        "np.power(2, x)",
        "np.power(x, v[0])",
        "np.hypot(0 * x, 0.0)",
        "np.hypot(1e200 * x, 1e200)",
        "np.arctan2(x, v[0])",
        "np.arctan2(0 * x, 0 * x)",
        "np.arctan2(1e200 * x, 1e200)",
        "np.logaddexp(-np.inf, -np.inf * x)",
        "np.fmod(x, 0.5)",
        "np.copysign(x, -1.0)",
        "np.divide(x, 0 * x)",
        "np.ldexp(x, 3)",
        "math.hypot(x, v[0])",
        "math.hypot(x, 1.0, 2.0)",
        "math.hypot(0 * x, 0.0)",
        "math.pow(-x, 3)",
        "math.atan2(x, np.int64(2))",
        "math.log(x, 10 * x)",
        "math.fmod(x, 0)",
    ],
    "one number": [
        "np.sin(x)",
        "np.sin(v)",
        "np.sin(2)",
        "np.sin([x, 1.0])",
        'np.sin("a")',
        "np.sin(x, v)",
        "np.sin(v, out=w)",
        "np.sin(1j * x).real",
        "np.sqrt(0.0 * x)",
        "np.sqrt(-x)",
        "np.abs(x * np.nan)",
        "np.abs(-0.0 * x)",
        "np.fabs(v)",
        "np.exp(1000 * x)",
        "math.sin(1j * x)",
        "math.sqrt(-x)",
        "math.exp(1000 * x)",
        "math.log()",
        "math.exp(x, x)",
        "np.exp(np.array(0.3)) * x",
    ],
    "clip": [
        "np.clip(x, 0, 1)",
        "np.clip(x, 0.0, 1.1)",
        "np.clip(x, None, 1.0)",
        "np.clip(x, None, None)",
        "np.clip(x, 2, 1)",
        "np.clip(v, 0.3, 0.7)",
        "np.clip(x, x, 2)",
        "np.clip(x, x, x)",
        "np.clip(x, v, 2)",
        "np.clip(x * np.nan, 0, 1)",
        "np.clip(x, np.nan, 1)",
        "np.clip(-0.0 * x, 0.0, 1.0)",
        "np.clip(0.0 * x, -1, -0.0)",
        "np.clip(v, x, 2 * x)",
        "np.clip(i3, x, 2.0)",
        "np.clip(v32, 0.4, 0.7)",
        "np.clip(v, 0.3, 0.7, out=w)",
        "np.clip(x, a_min=0.5, a_max=1.0)",
    ],
    "choices": [
        "min(x, 1)",
        "max(x, x)",
        "min(x, v[0])",
        'min(x, "a")',
        "min(v, v)",
        "max([x, 1, v[1]])",
        "min((x, v[0]))",
        "max([])",
        "min(x, 2.0, key=lambda t: -t)",
        "max(x, 2, v[0], 0.5)",
        "max(x, np.nan)",
        "max(np.nan, x)",
        "max(-0.0, 0.0 * x)",
        "max(x, 1j)",
        "max({x, 1.0})",
        "max(True, x)",
        "round(x, 1) * x",
        "round(x) * x",
        "round(1e20 * x)",
        "round(x, 1.0)",
        "round(x * np.nan)",
        "round(x, -1) * x",
    ],
    "sums": [
        "sum([x, 1, v[0]])",
        "sum([])",
        "sum([x], 2.0)",
        "sum([x, x], x)",
        "sum(v)",
        "sum([v, v])",
        "sum(t for t in [x, 1.0])",
        'sum([x, "a"])',
        "sum(x)",
        "sum([x, 1j]).real",
        "sum([x], start=1.0)",
        "sum([1e16, x, -1e16])",
        "sum([x, 10**400])",
        "sum([x, np.float32(1)])",
    ],
    "arrays": [
        "np.array([x, 1.0])",
        "np.array((x, v[0], 2))",
        "np.array([])",
        "np.array([[x, 1], [2, x]])",
        "np.array([[x], [1, 2]])",
        "np.array([x, v])",
        "np.array([v, c])",
        "np.array(x)",
        "np.array([x, 1], dtype=int)",
        "np.array([x, 1j]).real",
        "np.array([x, None])",
        'np.array([x, "a"])',
        "np.array([1.5, 2]) * x",
        "np.array([True, x])",
        "np.array([np.float32(1), x])",
        "np.array([x, [1]])",
        "np.array([x, 10**400])",
        "np.array([[[x]]])",
        "np.where(x > 1, x, v[0])",
        "np.where(x > 1, 1.0, v[0])",
        "np.where(x > 1, x, 1)",
        "np.where(x > 5, x, 2.0)[()]",
        "np.where(1, x, 2.0)",
        "np.where(v > 0.5, v, x)",
    ],
    "sums and products of arrays": [
        "np.sum(v)", "np.sum(m, axis=1)", "np.sum(m, (0, 1))", "np.sum(m, 5)", "np.sum(v, w=1)",
        "np.sum(v, dtype=np.float32)", "np.sum(v, initial=x)",
        "np.sum(v, 0, None, None, False, 2.0)",
        "np.sum(v, where=v > 0.5)", "np.sum(v, out=np.zeros(()))", "np.sum(v[:0])", "np.sum(v32)",
        "np.sum(v * np.inf)", "np.sum(m.T)", "v.sum()", "m.sum(1)", "m.mean(axis=0)", "v.mean()",
        "np.mean(v[:0])", "v.sum(1, 2, 3, 4, 5)", "v.copy()", "m.T.copy()", "m.reshape(-1)",
        "m.reshape(4, 1)", "v.reshape(2)", "v.cumsum()", "np.cumsum(m, axis=1)", "v.astype(int)",
        "v.astype(np.float32)", "v.astype(object)", "np.max(v)", "np.max(np.array([x, x]))",
        "np.max(v * np.nan)", "np.max(v[:0])", "np.max(m, axis=0)", "v.min()", "np.max(i3)",
        "np.dot(v, c)", "np.dot(v, v)", "np.dot(v, c * np.inf)", "np.dot(v, w[:2])", "m @ v[:2]",
        "np.dot(v * 0.0, c * np.inf)", "v @ i3", "np.dot(x, v)", "np.vdot(v, c)", "np.inner(m, m)",
        "np.outer(v, v)", "np.matmul(m, m)", "(v * 1e200) @ (v * 1e200)", "np.dot(v, v, out=w[:0])",
    ],
    "without a derivative": [
        "np.floor(1e17 * x)", "np.floor(x)", "np.rint(np.float32(3e7) * x)", "np.floor(v, out=w)",
        "np.zeros((2, x))", "np.zeros((2, 3), int) * x", "np.zeros([2, 2]) * x", "np.zeros(-1)",
        "np.zeros_like([x, 1]) * x", "np.argmax(v, axis=5)", "np.argmax([x, 1]) * x",
        "np.isnan('a')", "math.floor(1e300 * x)", "math.floor(x * np.inf)", "math.floor(v)",
        "float(np.format_float_positional(x))", "np.sign(x * np.nan)", "np.nonzero(v)[0] * x",
        "np.searchsorted(c, x, side='right') * x", "np.array(x, dtype=int) * x", "np.array(m.T)",
        "np.asarray([[x], [1.0]])", "np.asarray(v)", "np.array([x, 1], dtype=float)",
        "np.asarray(x)",
        "np.array([x, 1], dtype='f8')", "np.array([x, 1], dtype=float, copy=True)", "v.clip(0.3)",
        "v @ v.astype(np.float16)",
    ],
    "interpolations": [
        "np.interp(x, c, v)", "np.interp(0.5, c, v)", "np.interp(x, v, c)", "np.interp(v, c, v)",
        "np.interp(x, [0, 1, 2], [x, 1, 2])", "np.interp(-5 * x, c, v)", "np.interp(50 * x, c, v)",
        "np.interp(x * np.nan, c, v)", "np.interp(c[1] + 0 * x, c, v)", "np.interp(x, c, v[:2])",
        "np.interp(x, c[:1], v[:1])", "np.interp(x, c, v, period=2.0)", "np.interp(x, c[::-1], v)",
        "np.interp(x, i3, v)", "np.interp(x, c, v * np.inf)", "np.interp(v[1], c, v)",
        "np.interp(x, [1, 1, 2], v)", "np.interp(x, v, v)", "np.interp(x, [], [])",
    ],
    "operators": [
        "x**2.5", "x**x", "2**x", "(-x) ** 0.5", "(0 * x) ** -1", "x**np.int64(3)", "x**0",
        "x % 0.4", "(-x) % v[0]", "x % 0", "-x", "-(x * 1j)", "-v[0]", "x**1e5", "0.0**x",
        "x**True",
    ],
}  # fmt: skip


def differing(define, runs):
    """Return the calls whose outcome differs where quick ways apply, with both outcomes."""
    programs = [define(PROGRAM.format(call=call)) for call, _ in runs]
    derivatives = [CONTEXTS[context](f) for f, (_, context) in zip(programs, runs, strict=True)]
    found = [outcome(f) for f in derivatives]
    with without_ways():
        general = [outcome(f) for f in derivatives]
    return [
        (run, *pair) for run, *pair in zip(runs, found, general, strict=True) if pair[0] != pair[1]
    ]


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
def test_a_way_gives_what_the_general_way_gives(calls, define):
    names = list(CONTEXTS)
    runs = [(call, names[k % len(names)]) for k, call in enumerate(calls[::2])]
    assert differing(define, runs) == []


SERVED = [
    "np.sin(x)", "math.exp(x)", "math.hypot(x, 2.0)", "np.maximum(x, 0.5)", "np.power(x, 1.5)",
    "np.clip(x, 0.0, 3.0)", "max(x, 0.5)", "min(x, v[0], 2)", "sum([x, 1])", "round(x, 1) * x",
    "np.array([x, [1.0, 2.0][0]])", "np.interp(x, [0.0, 2.0], [1.0, 3.0])",
    "np.where(x > 1, x, 2.0)", "x**2.5", "np.maximum(v, 0.5)",
    "np.sum(v)", "np.sum(m, axis=0)", "v.sum()", "np.max(v)", "np.dot(v, v)", "np.cumsum(v)",
    "v.copy()",
]  # fmt: skip


@pytest.mark.plain
@pytest.mark.parametrize("context", ["reverse", "forward", "checkpointed"])
def test_common_calls_are_served(context, define, monkeypatch):
    general: list[object] = []

    def note(ctx, f, *args, run=Core.call_in_general, **kwargs):
        general.append(f)
        return run(ctx, f, *args, **kwargs)

    body = "\n    ".join(f"x = x * 0.9 + 0.01 * np.sum({call})" for call in SERVED)
    text = "import math\nimport numpy as np\ndef f(x, v, m):\n    " + body + "\n    return x\n"
    derivative = CONTEXTS[context](define(text))
    derivative(*ARGS)  # its modules may be imported at first
    monkeypatch.setattr(Core, "call_in_general", note)
    derivative(*ARGS)
    assert not [f for f in NAMED if any(f is g for g in general)]


@pytest.mark.slow
@pytest.mark.parametrize(("calls", "context"), rotating(CALLS.values(), CONTEXTS, times=2))
def test_each_way_in_each_context(calls, context, define):
    assert differing(define, [(call, context) for call in calls]) == []


def test_a_site_goes_by_the_rules_of_now(define):
    f = define("import numpy as np\ndef f(x):\n    return np.sin(x) + np.maximum(x, 0.5)\n")
    expected = np.cos(1.0) + 1.0
    assert grad(f)(1.0) == pytest.approx(expected)
    with local_rules():
        elementwise(np.sin, 100.0)
        assert grad(f)(1.0) == pytest.approx(101.0)
        assert jvp(f, (1.0,), (1.0,))[1] == pytest.approx(101.0)
    assert grad(f)(1.0) == pytest.approx(expected)
    assert jvp(f, (1.0,), (1.0,))[1] == pytest.approx(expected)


def test_a_site_calls_what_is_there_now(define):
    f = define("def f(x, g):\n    y = 0.0\n    for h in g:\n        y = y + h(x)\n    return y\n")
    g = [np.sin, math.exp, lambda x: x * x, np.sin, abs]
    expected = 2.0 * np.cos(0.5) + np.exp(0.5) + 1.0 + 1.0
    assert grad(f)(0.5, g) == pytest.approx(expected)
    assert jvp(f, (0.5, g), (1.0, None))[1] == pytest.approx(expected)


@pytest.mark.without_modes("what is recorded keeps the function")
def test_no_site_keeps_a_function_of_a_block(define):
    f = define("def f(x, cube):\n    for _ in range(3):\n        x = cube(x) * 0.5\n    return x\n")

    def cube(x):
        return x**3

    with local_rules():
        elementwise(cube, lambda x, y: 3.0 * x * x)
        grad(f)(1.1, cube)
        jvp(f, (1.1, cube), (1.0, None))
    reference = weakref.ref(cube)
    del cube
    gc.collect()
    assert reference() is None
