"""Classes and functions that name no module are like others."""

from __future__ import annotations

import abc
import types
from collections import UserList, namedtuple
from dataclasses import make_dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import grad, jvp, value_and_grad, vjp
from mooncake_py.modules import module_of, package_of

X = np.array([1.3, 0.7, 2.1])
BASES = (object, float, int, list, dict, tuple, str, Exception, np.ndarray)


def test_what_is_no_text_is_no_module() -> None:
    assert package_of(np.linalg.solve) == "numpy"
    for module in (None, 5, []):
        cls = type("T", (), {"__module__": module})
        assert module_of(cls) == package_of(cls) == ""


def instances(module: Any) -> list[Any]:
    kinds = [type("T", (base,), {"__module__": module, "a": 1.5}) for base in BASES]
    pair: Any = namedtuple("pair", "a b")
    pair.__module__ = module
    return [pair(1.5, 2.0), *(t(3) if issubclass(t, np.ndarray) else t() for t in kinds)]


def test_a_class_that_code_of_python_makes_is_not_of_its_module() -> None:
    for cls in (type("Box", (UserList,), {}), types.new_class("Made"), make_dataclass("D", "a")):
        assert module_of(cls) in ("", __name__)
    assert module_of(abc.ABC) == module_of(abc.ABCMeta) == module_of(abc.abstractmethod) == "abc"
    assert module_of(types.SimpleNamespace) == "types"


@pytest.mark.parametrize("module", [None, 5])
def test_instances_of_classes_without_module(module: Any) -> None:
    for o in instances(module):

        def f(x: Any, o: Any = o) -> Any:
            return np.sum(o.a * x) + 0 * len(repr(o)) + 0 * len([type(o)])

        expected = np.full(3, 1.5)
        assert_array_equal(grad(f)(X), expected)
        assert_array_equal(grad(f, debug=True)(X), expected)
        assert_array_equal(vjp(f, X)[1](1.0)[0], expected)
        assert jvp(f, (X,), (X,))[1] == pytest.approx(np.sum(1.5 * X))
        (value, same), g = value_and_grad(lambda x, q: (f(x, q), q), has_aux=True)(X, o)
        assert value == f(X)
        assert type(same) is type(o)
        assert_array_equal(g[0] if isinstance(g, tuple) else g, expected)
