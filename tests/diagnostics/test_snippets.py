"""The rule that an error shows is right: with the dots filled in, the gradient works."""

from __future__ import annotations

import ctypes
import gc
import linecache
import operator
import re
import struct
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.errors import MissingRuleError
from mooncake_py.rules import registry

pytestmark = pytest.mark.without_modes(
    "rules filled in with some formula or other", "forward", "inside", "other"
)

X = np.array([0.3, -1.2, 0.7])


@pytest.fixture(autouse=True)
def _rules_are_forgotten(monkeypatch):
    monkeypatch.setattr(registry, "_rules", registry._rules.copy())
    yield
    registry._version += 1


def message(f: Any, x: Any) -> MissingRuleError:
    with pytest.raises(MissingRuleError) as caught:
        grad(f)(x)
    return caught.value


def declare(error: MissingRuleError, *fillings: str) -> str:
    """Run the lines of a message with its dots replaced; return them."""
    block = [line[4:] for line in error.fix.split("\n") if line.startswith("    ")]
    text = "\n".join(block)
    for filling in fillings:
        text = text.replace("...", filling, 1)
    assert "..." not in text
    file = f"<the rule for {error.what}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(text, file, "exec"), {"gc": gc, "operator": operator})
    return text


def declare_zero(error: MissingRuleError) -> None:
    """Run the alternative of a message, with its imports."""
    lines = [line[4:] for line in error.fix.split("\n") if "import" in line]
    found = re.search(r"zero_derivative\(.*\)$", error.fix)
    assert found is not None
    exec("\n".join([*lines, found[0]]), {})


@pytest.mark.parametrize(("name", "count"), [("keip", 1), ("elliprc", 2)])
def test_elementwise(name, count):
    f = getattr(pytest.importorskip("scipy.special"), name)
    x = np.array([0.3, 0.5])
    error = message(lambda x: f(*[x] * count).sum(), x)
    text = declare(error, *["2.0 * out"] * count)
    assert text.startswith("import scipy.special\nfrom mooncake_py import elementwise\n")
    g = grad(lambda x: f(*[x] * count).sum())(x)
    np.testing.assert_allclose(g, 2.0 * count * f(*[x] * count))


def test_ufunc_that_has_no_public_name_keeps_its_own():
    hidden = pytest.importorskip("scipy.special._ufuncs")._lgam1p
    error = message(lambda x: hidden(x).sum(), X.copy())
    assert error.what == "no rule for _lgam1p"
    assert "elementwise(_lgam1p, lambda x, out: ...)" in error.fix


def test_function_of_several_arguments():
    def f(x):
        return struct.unpack("d", struct.pack("d", x))[0] * x

    text = declare(message(f, 2.0), "0.0")
    assert "def rule(x, y):" in text
    assert "lambda dy: (None, dy * 0.0,)" in text


def test_function_of_one_argument():
    def f(x):
        return gc.is_tracked([x, x]) * x

    declare(message(f, 3.0), "0.0")
    assert grad(f)(3.0) == 1.0


@pytest.mark.without_modes("the text of the rule is in no file", "compiled")
def test_function_that_cannot_have_a_rule():
    double = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda v: 2 * v)
    error = message(lambda x: double(x) * x, 3.0)
    assert error.fix.startswith("it cannot have a rule itself: call it in a Python function")
    text = declare(error, "2 * x", "2.0")
    assert "def call(x):\n" in text
    assert "@from_vjp(call)\n" in text
    assert error.fix.endswith("overlay or rrule.register(call, mutates=...)")
    space: dict[str, Any] = {}
    exec(text, space)
    assert grad(lambda x: space["call"](x) * x)(3.0) == 12.0


def test_keywords():
    del registry._rules[np.bincount]
    registry._version += 1
    places = np.arange(3)

    def f(x):
        return np.sum(np.bincount(places, x, minlength=3) * 3.0)

    text = declare(message(f, X.copy()), "1.0")
    assert "import numpy\n" in text
    assert "def rule(x, y, **options):" in text
    assert "numpy.bincount(x, y, **options)" in text
    np.testing.assert_array_equal(grad(f)(X.copy()), 3.0)


def test_zero_derivative():
    def f(x):
        return gc.is_tracked([x, x]) * x

    declare_zero(message(f, 3.0))
    assert grad(f)(3.0) == 1.0


def test_constant_function_that_may_call_back():
    def f(x):
        p = np.ones(3)
        struct.pack_into("d", p, 0, lambda: 2.0)
        return np.sum(x * p)

    text = declare(message(f, X.copy()), "operator.setitem(y, z, u())")
    assert "def replacement(x, y, z, u):" in text
    np.testing.assert_array_equal(grad(f)(X.copy()), [2.0, 1.0, 1.0])


def test_method():
    def f(x):
        return len(struct.Struct("d").pack(x)) * x

    text = declare(message(f, 2.0), "0.0")
    assert "@from_vjp(struct.Struct.pack)\ndef rule(x, y):" in text
    assert grad(f)(2.0) == 8.0
