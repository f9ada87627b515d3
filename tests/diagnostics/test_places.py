"""Errors name the line and the expression of the user's, wherever it stands."""
# ruff: noqa: E731

from __future__ import annotations

import inspect
import linecache
import struct
from os import urandom
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, hessian, jacobian, value_grad_and_hessian
from mooncake_py.errors import MissingRuleError, NestedDerivativeError

in_lambda = lambda v: struct.pack("d", v)


def forwarding(f: Any) -> Any:
    return lambda *args: f(*args)


@forwarding
def decorated(x):
    return struct.pack("d", x)


def nested(x):
    def inner(v):
        return struct.pack("d", v)

    return inner(x)


def comprehension(x):
    return len([struct.pack("d", v) for v in [x]]) * x


def generator(x):
    return sum(len(struct.pack("d", v)) for v in [x]) * x


def class_body(x):
    class A:
        y = struct.pack("d", x)

    return A.y


def default(x):
    def g(y=struct.pack("d", x)):  # noqa: B008
        return y

    return g()


def format_string(x):
    return f"{struct.pack('d', x)}"


def callback_of_numpy(x):
    return np.apply_along_axis(lambda r: len(struct.pack("d", r[0])) * r, 0, np.array([x])).sum()


def cell() -> Any:
    file, text = "<ipython-input-7-0123456789ab>", "def f(x):\n    return struct.pack('d', x)\n"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    namespace: dict[str, Any] = {"struct": struct}
    exec(compile(text, file, "exec"), namespace)
    return namespace["f"]


FUNCTIONS = [
    in_lambda, decorated, nested, comprehension, generator, class_body, default, format_string,
    callback_of_numpy, cell(),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__code__.co_name)
def test_caret_marks_the_call(f):
    with pytest.raises(MissingRuleError) as caught:
        grad(f)(2.0)
    where = caught.value.where
    assert where is not None
    assert where.file == f.__code__.co_filename
    line, carets = where.excerpt()
    marked = line[carets.index("^"):len(carets)]
    assert marked.replace("'", '"').startswith('struct.pack("d", ')
    assert marked.endswith(")")


def test_call_of_several_lines_is_marked_to_the_end_of_the_first():
    def f(x):
        return struct.pack(
            "d", x
        )

    with pytest.raises(MissingRuleError) as caught:
        grad(f)(2.0)
    assert caught.value.where is not None
    assert caught.value.where.excerpt() == ["return struct.pack(", "       ^^^^^^^^^^^^"]



def changing(x: Any) -> Any:
    return np.sum(x * x) * int.from_bytes(urandom(4), "big")


@pytest.mark.parametrize(
    "derivative",
    [
        lambda x: jacobian(changing, mode="forward")(x),
        lambda x: jacobian(lambda v: changing(v) * v, mode="reverse")(x),
        lambda x: hessian(changing)(x),
        lambda x: jacobian(jacobian(changing))(x),
        lambda x: value_grad_and_hessian(changing)(x),
    ],
)
def test_functions_of_this_package_stand_for_the_user_s(derivative: Any) -> None:
    with pytest.raises(NestedDerivativeError, match=r"^(changing|the lambda at test_)") as raised:
        derivative(np.ones(20))
    assert raised.value.where is not None
    assert raised.value.where.file == __file__


def test_derivatives_have_the_signature_of_their_function() -> None:
    assert [*inspect.signature(jacobian(lambda x, y: x * y)).parameters] == ["x", "y"]
