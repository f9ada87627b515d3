"""`test_rule` passes for right functions: at kinks, outside domains, in circles, with state."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg as sl
from scipy import optimize, signal, stats

from mooncake_py import RuleTestError, elementwise, from_vjp, local_rules
from mooncake_py.testing import test_rule as check
from mooncake_py.testing.case import Case, Inputs
from mooncake_py.testing.smoothness import is_smooth

pytestmark = pytest.mark.without_modes("test_rule runs the modes itself")

X = np.array([0.13, -0.12, 0.65, 0.11])
P = np.abs(X) + 0.3
POINTS = np.array([[0.1, -0.4], [1.3, 0.2], [-0.6, 0.9]])
MATRIX = np.array([[4.1, 0.3, -0.2], [0.4, 3.7, 0.5], [0.1, -0.6, 5.2]])
SYMMETRIC = MATRIX @ MATRIX.T


def distances(x: np.ndarray) -> Any:
    d = x[:, None, :] - x[None, :, :]
    return np.sum(d * d, -1)


# Kinks, ties and borders of the domain.

AT_SPECIAL_POINTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "median": (lambda x: np.median(x), (X,)),
    "nanmedian": (lambda x: np.nanmedian(x), (X,)),
    "trimmed mean": (lambda x: np.mean(np.sort(x)[1:-1]), (X,)),
    "extrema": (lambda x: (np.min(x), np.max(x)), (X,)),
    "extrema of a list": (lambda x: min(x) + max(x), (X,)),
    "squared minimum": (lambda x: x[np.argmin(x)] ** 2, (X,)),
    "partial sort": (lambda x: np.partition(x, 1)[:2], (X,)),
    "range": (lambda x: np.ptp(x), (X,)),
    "quartiles": (lambda x: stats.iqr(x), (X,)),
    "magnitude of a transform": (lambda x: np.abs(np.fft.fft(x)) ** 2, (X,)),
    "envelope": (lambda x: np.abs(signal.hilbert(x)), (X,)),
    "norm": (lambda x: np.linalg.norm(x), (X,)),
    "distance": (lambda x, y: np.sqrt(np.sum((x - y) ** 2)), (X, X + 1)),
    "direction": (lambda x: x / np.linalg.norm(x), (X,)),
    "root": (lambda x: np.sqrt(x), (P,)),
    "logarithm": (lambda x: np.log(np.sum(x * x)), (X,)),
    "arccosh": (lambda x: np.arccosh(x), (P + 1,)),
    "ratio": (lambda x, y: x / y, (X, P)),
    "entropy": (lambda p: -np.sum(p * np.log(p)), (P,)),
    "correlation": (lambda x, y: np.corrcoef(x, y)[0, 1], (X, P)),
    "Cholesky": (lambda x: np.linalg.cholesky(x), (SYMMETRIC,)),
    "kernel": (lambda x: np.exp(-np.sqrt(distances(x) + np.eye(3))), (POINTS,)),
    "log det of a kernel": (lambda x: np.linalg.slogdet(np.exp(-distances(x)))[1], (POINTS,)),
    "inverse of a kernel": (lambda x: np.linalg.inv(np.exp(-distances(x))), (POINTS,)),
    "factor of a kernel": (
        lambda x: np.linalg.cholesky(np.exp(-distances(x)) + 1e-6 * np.eye(3)), (POINTS,),
    ),
    "eigenvalues": (lambda x: np.linalg.eigvalsh(x + x.T), (MATRIX,)),
    "singular values": (lambda x: np.linalg.svd(x, compute_uv=False), (MATRIX,)),
    "LU": (lambda x: sl.lu(x)[2], (MATRIX,)),
    "solve": (lambda a, b: np.linalg.solve(a, b), (MATRIX, X[:3])),
    "Toeplitz": (lambda c, b: sl.solve_toeplitz(c, b), (np.array([4.0, 1.0, 0.5]), X[:3])),
    "Sylvester": (lambda a, b, q: sl.solve_sylvester(a, b, q), (MATRIX, SYMMETRIC, MATRIX)),
    "root of an equation": (
        lambda a: optimize.brentq(lambda x: x**3 - a, 0, 10, xtol=1e-13), (2.0,),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=() if k % 4 == 0 and n != "quartiles" else pytest.mark.slow)
        for k, n in enumerate(AT_SPECIAL_POINTS)
    ],
)
def test_points_without_derivatives_are_left_out(name: str) -> None:
    f, args = AT_SPECIAL_POINTS[name]
    check(f, *args)


def test_points_that_are_left_out_are_counted() -> None:
    assert check(lambda x: np.sum(x * x), X, layouts=False) is None
    found = check(lambda x: np.median(x), X, layouts=False, dtypes=False)
    assert set(found.points) == {"zeros", "ones"}
    assert len(found) == 2
    assert repr(found) == (
        "<left out 2: zeros: differences find no derivative there; "
        "ones: differences find no derivative there>"
    )


def mutated(f: Callable[..., Any], *args: Any) -> bool:
    inputs = Inputs((f, *args), {})
    return is_smooth(Case(inputs, lambda *duals: (duals[0], len), "f", 0), frozenset())


@pytest.mark.parametrize(
    ("f", "x", "smooth"),
    [
        (lambda x: x**3, 0.0, True),
        (lambda x: np.sin(x) ** 2, 0.0, True),
        (lambda x: np.exp(10 * x), 1.0, True),
        (lambda x: 1.0, 2.0, True),
        (lambda x: np.sum(np.abs(x) ** 2), np.zeros(3), True),
        (lambda x: np.prod(x), np.zeros(3), True),
        (lambda x: np.linalg.det(x), np.zeros((3, 3)), True),
        (lambda x: np.sqrt(1 + x), 0.0, True),
        (lambda x: abs(x), 0.0, False),
        (lambda x: abs(x) ** 1.5, 0.0, False),
        (lambda x: max(x, 0.0) ** 2, 0.0, False),
        (lambda x: np.cbrt(x), 0.0, False),
        (lambda x: np.log(x), 0.0, False),
        (lambda x: np.sort(x), np.zeros(4), False),
        (lambda x: np.median(x), np.zeros(4), False),
        (lambda x: np.median(x), np.zeros(5), False),
        (lambda x: np.linalg.norm(x), np.zeros(3), False),
        (lambda x: x[0] * x[1] / np.sum(x * x), np.zeros(2), False),
        (lambda x: np.floor(x), 1.0, False),
    ],
)  # fmt: skip
def test_what_differences_say(f: Any, x: Any, smooth: bool) -> None:
    assert mutated(f, x) is smooth


@pytest.mark.parametrize("factor", [0.0, 1.1, -1.0])
def test_wrong_branch_at_a_smooth_point_is_found(factor: float) -> None:
    def f(x: np.ndarray) -> np.ndarray:
        return np.sin(x) + x * x

    with local_rules():
        elementwise(f, lambda x, y: np.where(x == 0, factor, np.cos(x) + 2 * x))
        with pytest.raises(RuleTestError, match=r"zeros|with a zero"):
            check(f, X, layouts=False, dtypes=False)


def test_wrong_second_derivative_at_a_smooth_point_is_found() -> None:
    def f(x: np.ndarray) -> np.ndarray:
        return x**2 + x

    with local_rules():
        elementwise(f, lambda x, y: np.where(x == 0, 1.0, 2 * x + 1))
        with pytest.raises(RuleTestError, match="second derivative"):
            check(f, X, layouts=False, dtypes=False)


# Containers in circles, and outputs that hold arguments more than once.


class Node:
    def __init__(self, value: Any) -> None:
        self.value = value
        self.next = self


def list_in_itself(x: Any) -> Any:
    items = [x * x]
    items.append(items)
    return items


def dict_in_itself(x: Any) -> Any:
    found = {"v": x * 2}
    found["self"] = found
    return found


def two_in_a_circle(x: Any) -> Any:
    one, two = [x * 2], [x * 3]
    one.append(two)
    two.append(one)
    return one, two


CIRCLE: list[Any] = [2.0, X.copy()]
CIRCLE.append(CIRCLE)
KEYED: dict[str, Any] = {"a": X.copy()}
KEYED["self"] = KEYED

SHAPES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "list in itself": (list_in_itself, (X,)),
    "of a number": (list_in_itself, (1.3,)),
    "dict in itself": (dict_in_itself, (X,)),
    "two in a circle": (two_in_a_circle, (X,)),
    "object in itself": (lambda x: Node(x * x), (X,)),
    "argument in itself": (lambda items: items[2][0] * items[1], (CIRCLE,)),
    "dict argument": (lambda found: np.sum(found["self"]["a"] ** 2), (KEYED,)),
    "object argument": (lambda n: n.next.value**2, (Node(1.5),)),
    "circle that is returned": (lambda items: items, (CIRCLE,)),
    "tuple twice": (lambda t: (t, t), ((1.0, X),)),
    "array twice": (lambda x: (x, x, [x]), (X,)),
    "views": (lambda x: (x[:2], x[1:], x), (X,)),
    "list twice": (lambda items: [items, items], ([1.0, 2.0],)),
    "list and part": (lambda items: (items, items[0]), ([X, 1.0],)),
    "dict twice": (lambda d: {"o": d, "i": d["l"][0]}, ({"l": [X, 1.0]},)),
    "object twice": (lambda n: [n, n.value], (Node(X.copy()),)),
    "new one twice": (lambda x: (lambda y: (y, y, y[1:]))(x * 2), (X,)),
    "deque": (lambda x: collections.deque([x, x * 2]), (X,)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_circles_and_what_is_held_twice(name: str) -> None:
    f, args = SHAPES[name]
    check(f, *args, layouts=False, dtypes=False)


# State besides the arguments.

WORK, ITEMS, CACHE, HELD, CALLS = np.zeros(4), [0.0], {}, Node(np.zeros(4)), [0]  # type: ignore[var-annotated]
LAST: Any = None


def in_a_work_array(x: np.ndarray) -> Any:
    np.multiply(x, 3, out=WORK)
    return np.sum(WORK**2)


def in_parts_of_it(x: np.ndarray) -> Any:
    WORK.fill(0)
    WORK[:2] += x[:2] ** 2
    WORK[1:] *= x[1:]
    return WORK * x


def in_containers(x: np.ndarray) -> Any:
    ITEMS[0] = np.sum(x * x)
    CACHE["x"] = x * 2
    return ITEMS[0] * CACHE["x"]


def in_an_object(x: np.ndarray) -> Any:
    HELD.value[...] = x * x
    HELD.last = x
    return np.sum(HELD.value * x)


def counted(x: np.ndarray) -> Any:
    CALLS[0] += 1
    return np.sum(x * x) * CALLS[0]


def in_a_global(x: np.ndarray) -> Any:
    global LAST
    LAST = x * x
    return np.sum(LAST)


def in_a_default(x: np.ndarray, work: np.ndarray = np.zeros(4)) -> Any:  # noqa: B008
    work[:] = x
    work *= work
    return work.sum()


def returned(x: np.ndarray) -> Any:
    WORK[:] = x * x
    return WORK


class Model:
    shared = np.zeros(4)

    def __init__(self) -> None:
        self.work, self.calls = np.zeros(4), 0

    def __call__(self, x: np.ndarray) -> Any:
        self.calls += 1
        self.work[:] = x
        return np.sum(self.work**3)

    def of_class(self, x: np.ndarray) -> Any:
        Model.shared[:] = x
        return np.sum(Model.shared * x)


MODEL = Model()


def by_a_captured_one() -> Callable[[Any], Any]:
    work = np.zeros(4)

    def f(x: np.ndarray) -> Any:
        work[...] = np.sin(x)
        work[...] *= work
        return work.sum()

    return f


def state() -> str:
    held = WORK, ITEMS, CACHE, vars(HELD), CALLS, LAST, vars(MODEL), Model.shared
    return repr((held, in_a_default.__defaults__)).replace(repr(HELD), "")


@pytest.mark.parametrize(
    "f",
    [
        in_a_work_array, in_parts_of_it, in_containers, in_an_object, counted, in_a_global,
        in_a_default, returned, MODEL, MODEL.of_class, by_a_captured_one(),
        lambda x: in_a_work_array(x) * counted(x),
    ],
)  # fmt: skip
def test_state_is_found_and_left_as_it_was(f: Any) -> None:
    before = state()
    check(f, X)
    assert state() == before


def test_state_is_put_back_after_a_failure() -> None:
    def f(x: np.ndarray) -> Any:
        return in_a_work_array(x)

    with local_rules():

        @from_vjp(f)
        def rule(x: np.ndarray) -> Any:
            return in_a_work_array(x), lambda dy: (dy * x,)

        before = state()
        with pytest.raises(RuleTestError, match="derivative"):
            check(f, X)
        assert state() == before
