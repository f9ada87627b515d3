"""Objects whose ``dtype`` NumPy reads: a property that writes is refused by name, or seen."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import DerivativeDropError, jvp, value_and_grad

X = np.array([0.7, 1.3])
REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "array": lambda x, o: np.array(x, dtype=o),
    "asarray": lambda x, o: np.asarray(x, o),
    "astype": lambda x, o: x.astype(o),
    "of a list": lambda x, o: np.array([x[0], 1.0], o),
    "sum": lambda x, o: np.sum(x, dtype=o),
    "method": lambda x, o: x.cumsum(dtype=o),
    "add": lambda x, o: np.add(x, 1.0, dtype=o),
    "view": lambda x, o: x.view(o),
    "full": lambda x, o: np.full(2, x[0], dtype=o),
    "concatenate": lambda x, o: np.concatenate([x, x], dtype=o),
}
SEEN: dict[str, Callable[[Any, Any], Any]] = {
    "dtype": lambda x, o: np.dtype(o),
    "zeros": lambda x, o: np.zeros(2, dtype=o),
    "arange": lambda x, o: np.arange(3, dtype=o),
    "constant": lambda x, o: np.array([1.0], dtype=o),
}


def program(use: Callable[[Any, Any], Any], writes: bool) -> tuple[Any, list[int]]:
    log: list[int] = []

    class Writing:
        @property
        def dtype(self) -> Any:
            log.append(1)
            return np.dtype(float)

    class Computing:
        @property
        def dtype(self) -> Any:
            return np.dtype(float)

    o: Any = Writing() if writes else Computing()

    def f(x: Any) -> Any:
        use(x, o)
        return x[0] * (1.0 + len(log))

    return f, log


@pytest.mark.parametrize("name", REFUSED)
def test_properties_that_write_are_refused(name: str) -> None:
    f, log = program(REFUSED[name], True)
    for derivative in (value_and_grad(f), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(DerivativeDropError, match="dtype changes something"):
            derivative(X)
    assert not log


@pytest.mark.parametrize("name", [*REFUSED, *SEEN])
def test_properties_that_compute(name: str) -> None:
    f, _ = program({**REFUSED, **SEEN}[name], False)
    assert value_and_grad(f)(X)[0] == X[0]


@pytest.mark.parametrize("name", SEEN)
def test_properties_that_write_and_meet_constants(name: str) -> None:
    plain, _ = program(SEEN[name], True)
    f, log = program(SEEN[name], True)
    assert value_and_grad(f)(X)[0] == plain(X)
    assert not log
