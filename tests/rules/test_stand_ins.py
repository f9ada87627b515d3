"""Objects that stand for those of compiled classes: they pass for them, or refuse."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from types import GeneratorType
from typing import Any

import numpy as np
import pytest
import scipy.spatial
from scipy import interpolate, sparse
from scipy.sparse import linalg
from scipy.spatial import Delaunay, KDTree

from mooncake_py import MissingRuleError, checkpoint, grad, jvp, value_and_grad
from tests.support.gradients import check

X = np.array([1.3, 0.7, 2.1, 0.2, 0.9, 1.7])
P = np.array([[0, 0], [1, 0], [0, 1], [1, 1.0], [0.3, 0.4], [0.6, 0.8]])
cKDTree: Any = scipy.spatial.cKDTree
Linear: Any = interpolate.LinearNDInterpolator
Nearest: Any = interpolate.NearestNDInterpolator


def tree(x: Any) -> Any:
    return KDTree(x.reshape(3, 2))


def c_tree(x: Any) -> Any:
    return cKDTree(x.reshape(3, 2))


def planes(x: Any) -> Any:
    return Linear(P, x)


def nearest(x: Any) -> Any:
    return Nearest(P, x)


def factors(x: Any) -> Any:
    return linalg.splu(sparse.csc_array(np.diag(x)))


def windows(x: Any) -> Any:
    return np.nditer(x)


MAKERS = {
    tree: KDTree, c_tree: cKDTree, planes: Linear, nearest: Nearest, factors: linalg.SuperLU,
    windows: np.nditer,
}  # fmt: skip
LACKING = {
    tree: "sparse_distance_matrix", c_tree: "tree", planes: "_evaluate_double",
    nearest: "_scale_x", windows: "copy",
}  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
def test_what_stands_for_an_object_has_its_class(make: Any) -> None:
    cls = MAKERS[make]

    def program(x: Any) -> Any:
        o = make(x)
        is_one = isinstance(o, cls) and issubclass(type(o), cls) and o.__class__ is cls
        return x[0] * 2.0 if is_one and type(o) is cls and type(o).__name__ in repr(o) else x[1]

    value, gradient = value_and_grad(program)(X)
    assert value == program(X) == 2.6
    np.testing.assert_array_equal(gradient, [2.0, 0, 0, 0, 0, 0])
    assert jvp(program, (X,), (X,)) == (2.6, 2.6)


def hasattr_natively(make: Any, name: str) -> bool:
    try:
        return hasattr(make(X), name)
    except ValueError:
        return False


@pytest.mark.parametrize("make", MAKERS)
def test_attributes_of_the_class_are_there_or_refused(make: Any) -> None:
    def program(x: Any, name: str) -> Any:
        return x[0] if hasattr(make(x), name) else x[1]

    names = [name for name in dir(make(X)) if not name.startswith("__")]
    for name in names:
        try:
            gradient = grad(program)(X, name)
        except MissingRuleError:
            continue
        except ValueError:  # of iterators that track no index
            assert not hasattr_natively(make, name)
            continue
        assert gradient[0], name
    assert grad(program)(X, "nothing_of_the_kind")[1]


@pytest.mark.parametrize("make", LACKING)
def test_what_an_object_lacks_is_named(make: Any) -> None:
    name = LACKING[make]
    with pytest.raises(MissingRuleError, match=rf"{MAKERS[make].__name__}\.{name}"):
        grad(lambda x: x[0] if hasattr(make(x), name) else x[1])(X)
    with pytest.raises(AttributeError, match=f"'{MAKERS[make].__name__}' object .* 'other'"):
        grad(lambda x: make(x).other)(X)


def test_objects_are_copied_and_listed() -> None:
    def program(x: Any) -> Any:
        o = copy.copy(planes(x))
        return o(0.3, 0.2) * len([name for name in dir(o) if "simplex" not in name]) / len(dir(o))

    check(program, X)


def names_of_types(*values: Any) -> int:
    return len("".join([type(v).__name__ for v in values]))


ATTRIBUTES = {
    "mins": lambda x: tree(x).mins @ [1.0, 2.0] + tree(x).maxes @ [3.0, 5.0],
    "sizes": lambda x: (tree(x).leafsize + c_tree(x).leafsize + tree(x).size) * x[0],
    "by class": lambda x: KDTree.query(tree(x), [0.0, 0.0])[0],
    "types": lambda x: names_of_types(*tree(x).query(P[0]), *c_tree(x).query(P[0])) * x[0],
    "numbers of Python": lambda x: np.sum(c_tree(x).query(P[:2])[0]) * c_tree(x).query(P[0])[0],
    "other tree": lambda x: x[len(tree(x).query_ball_tree(tree(x * 1.1), 0.5)[0])],
    "counts": lambda x: x[0] * tree(x).count_neighbors(c_tree(x * 1.1), 1.0),
    "points": lambda x: np.sum(Linear(P * x[0], x, rescale=True).points ** 3) * x[1],
    "matrix of values": lambda x: np.sum(planes(x).values * x[:, None]) + planes(x).values.ndim,
    "scale": lambda x: x[0] if planes(x).scale is None else x[1],
    "kind": lambda x: x[0] if planes(x).is_complex else x[1],
    "triangles": lambda x: Linear(Delaunay(P), x)(0.2, 0.3),
    "columns": lambda x: np.sum(Linear(P, x.reshape(6, 1) ** [1, 2])(0.2, 0.3)),
    "in a line": lambda x: Nearest(P * [1.0, 0.0], x, rescale=True)(0.3, 0.0),
    "tree of points": lambda x: Nearest(P * x[0], x).tree.query([0.2, 0.3])[0],
    "rank": lambda x: x[len(nearest(x).values_shape)],
}


@pytest.mark.parametrize("program", ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_attributes_are_those_of_scipy(program: Any) -> None:
    assert value_and_grad(program)(X)[0] == program(X)
    check(program, X)


ITERATORS = {
    map: lambda x: map(abs, x), filter: lambda x: filter(abs, x),
    itertools.accumulate: itertools.accumulate,
    itertools.starmap: lambda x: itertools.starmap(max, zip(x, x, strict=True)),
    itertools.filterfalse: lambda x: itertools.filterfalse(None, x),
    itertools.takewhile: lambda x: itertools.takewhile(abs, x),
    itertools.dropwhile: lambda x: itertools.dropwhile(abs, x),
    itertools.groupby: itertools.groupby,
    GeneratorType: lambda x: (v for v in x),
}  # fmt: skip


@pytest.mark.parametrize("cls", ITERATORS)
def test_iterators_have_their_class(cls: Any) -> None:
    make = ITERATORS[cls]

    def program(x: Any) -> Any:
        made = make(x)
        is_one = type(made) is cls and isinstance(made, cls) and isinstance(made, Iterator)
        is_other = isinstance(made, (list, dict)) or (cls is map) != isinstance(made, map)
        return x[1] if is_other else x[0] * (2.0 if is_one else 1.0) + len(list(made))

    value, gradient = value_and_grad(program)(X)
    assert value == program(X)
    np.testing.assert_array_equal(gradient, [2.0, 0, 0, 0, 0, 0])
    assert grad(program, debug=True)(X)[0] == 2.0
    assert grad(lambda x: checkpoint(program, x))(X)[0] == 2.0
    assert jvp(program, (X,), (X,)) == (value, 2.6)


def test_iterators_without_an_index_say_so() -> None:
    for name in ("index", "multi_index"):
        with pytest.raises(ValueError) as plain:
            getattr(windows(X), name)
        with pytest.raises(ValueError, match=str(plain.value)):
            grad(lambda x, name=name: x[0] * getattr(windows(x), name))(X)
