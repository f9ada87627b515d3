"""The most common errors in full: what, where, why and the fix."""
# ruff: noqa: E501

from __future__ import annotations

import ctypes
import re
import struct
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, vjp, zero_tangent
from mooncake_py.errors import MooncakeError

X = np.array([0.3, -1.2, 0.7])


def packs(x):
    return struct.pack("d", x)


def packs_constants(x):
    p = np.ones(3)
    struct.pack_into("d", p, 0, lambda: 2.0)
    return x * p[0]


def over_lines(x):
    return sum(
        len(v) for v in [struct.pack(
            "d", x
        )]
    )


_namespace: dict[str, Any] = {}
exec("def squared(x):\n    return x * x", _namespace)
squared = _namespace["squared"]


def calls_text(x):
    return squared(x)


def two_places(x):
    exec("y = 1")
    return x * eval("2.0")


def takes_number(x):
    return ctypes.c_double(x).value


def energy(x, n):
    return np.sum(x * n)


def doubled(x):
    return 2 * x


def nested(x):
    return zero_tangent([x])[0] * x


class Noisy:
    count = 0

    def __repr__(self) -> str:
        self.count += 1
        return "noisy"


def shows(x):
    return x * len(repr([Noisy()]))


CASES = {
    "packs": lambda: grad(packs)(2.0),
    "packs_constants": lambda: grad(packs_constants)(2.0),
    "over_lines": lambda: grad(over_lines)(2.0),
    "calls_text": lambda: grad(calls_text)(2.0),
    "two_places": lambda: grad(two_places)(2.0),
    "takes_number": lambda: grad(takes_number)(2.0),
    "int_argument": lambda: grad(energy, argnums=1)(X, 2),
    "array_output": lambda: grad(doubled)(X),
    "cotangent": lambda: vjp(doubled, X)[1](np.ones(2)),
    "nested": lambda: grad(nested)(2.0),
    "special_method": lambda: grad(shows)(2.0),
}

TEXTS = {
    "packs": """
MissingRuleError: no rule for struct.pack
  where: FILE:21:12 in packs
         | return struct.pack("d", x)
         |        ^^^^^^^^^^^^^^^^^^^
  why:   it is compiled, so there is no Python source to derive a rule from;
         called with (str, active float)
  fix:   register a rule, for example
             import struct
             from mooncake_py import from_vjp, zero_derivative
             @from_vjp(struct.pack)
             def rule(x, y):
                 return struct.pack(x, y), lambda dy: (None, dy * ...,)
         or, if it writes into its arguments, an overlay or rrule.register(struct.pack, mutates=...)
         or, if it has no derivative, zero_derivative(struct.pack)
""",
    "packs_constants": """
MissingRuleError: no rule for struct.pack_into
  where: FILE:26:5 in packs_constants
         | struct.pack_into("d", p, 0, lambda: 2.0)
         | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  why:   it may call back Python code, which the engine could not see;
         called with (str, float64[3], int, function)
  fix:   do it outside of the function, or give it a replacement in Python:
             import struct
             from mooncake_py import overlay, zero_derivative
             @overlay(struct.pack_into)
             def replacement(x, y, z, u):
                 return ...
         or, if it has no derivative and changes nothing, zero_derivative(struct.pack_into)
""",
    "over_lines": """
MissingRuleError: no rule for struct.pack
  where: FILE:32:26 in over_lines
         | len(v) for v in [struct.pack(
         |                  ^^^^^^^^^^^^
  why:   it is compiled, so there is no Python source to derive a rule from;
         called with (str, active float)
  fix:   register a rule, for example
             import struct
             from mooncake_py import from_vjp, zero_derivative
             @from_vjp(struct.pack)
             def rule(x, y):
                 return struct.pack(x, y), lambda dy: (None, dy * ...,)
         or, if it writes into its arguments, an overlay or rrule.register(struct.pack, mutates=...)
         or, if it has no derivative, zero_derivative(struct.pack)
""",
    "calls_text": """
SourceUnavailableError: no Python source for squared
  where: FILE:44:12 in calls_text
         | return squared(x)
         |        ^^^^^^^^^^
  why:   its code was compiled from '<string>', whose source cannot be read
  fix:   define the function in a file or a notebook cell, or register a rule for it
""",
    "two_places": """
UnsupportedSyntaxError: two_places uses syntax that cannot be differentiated (2 places)
  where: FILE:48:5 in two_places
         | exec("y = 1")
         | ^^^^^^^^^^^^^
  why:   it runs code from a text, which is not rewritten and so cannot be differentiated:
           FILE:48:5 in two_places
             exec("y = 1")
             ^^^^^^^^^^^^^
           FILE:49:16 in two_places
             return x * eval("2.0")
                        ^^^^^^^^^^^
  fix:   write the expression as code, or pass a function instead of the text
""",
    "takes_number": """
MissingRuleError: no rule for ctypes.c_double
  where: FILE:53:12 in takes_number
         | return ctypes.c_double(x).value
         |        ^^^^^^^^^^^^^^^^^^
  why:   it is compiled, so there is no Python source to derive a rule from;
         called with (active float)
  fix:   keep the numbers in arrays, lists or objects instead of ctypes.c_double
""",
    "int_argument": """
NonDifferentiableArgumentError: cannot take the gradient of energy with respect to argument 1 ('n'): it is 2 of type int
  why:   only float and complex values have derivatives
  fix:   pass a float: 2.0
""",
    "array_output": """
NonScalarOutputError: doubled returned an array of shape (3,) and dtype float64, but a gradient needs one real number
  where: FILE:60 in doubled
         | def doubled(x):
  why:   the gradient is defined for functions with a real scalar result
  fix:   reduce it, for example with np.sum, or use jacobian, or vjp with a cotangent of that shape
""",
    "cotangent": """
InvalidTangentError: the cotangent dy does not fit the output: expected an array of shape (3,), got shape (2,)
  why:   each number of the output has one cotangent
  fix:   pass a cotangent in the structure and shape of the output
""",
    "nested": """
NestedDerivativeError: a rule or a tool of mooncake_py was run on active data inside a differentiated function
  where: FILE:65:12 in nested
         | return zero_tangent([x])[0] * x
         |        ^^^^^^^^^^^^^^^^^
  why:   only grad, vjp, jvp and functions made of them nest
  fix:   use these, or call it outside
""",
    "special_method": """
DerivativeDropError: Noisy.__repr__ changes something, and compiled code is about to call it
  where: FILE:77:20 in shows
         | return x * len(repr([Noisy()]))
         |                ^^^^^^^^^^^^^^^
  why:   the engine cannot see a special method that compiled code calls, and could neither
         differentiate nor undo its writes; it writes at
         FILE:72:9 in Noisy.__repr__
         | self.count += 1
         | ^^^^^^^^^^^^^^^
  fix:   only compute in this method, and write in a method that you call by name
""",
}


@pytest.mark.parametrize("name", CASES)
def test_text(name):
    assert text_of(CASES[name]) == TEXTS[name].strip("\n")


def text_of(run: Any) -> str:
    """Return type and text of an error."""
    with pytest.raises(MooncakeError) as caught:
        run()
    error = caught.value
    text = re.sub(re.escape(__file__) + r":(\d+)", r"FILE:\1", str(error))
    return f"{type(error).__name__}: {text}"
