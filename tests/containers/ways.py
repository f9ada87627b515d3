"""Ways to take a derivative of a function whose gradient is linear in its argument."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py import checkpoint, grad, hessian, jvp, vjp

__all__ = ["WAYS", "X"]

X = np.array([2.0, 3.0])
WAYS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: grad(f)(X),
    "debug": lambda f: grad(f, debug=True)(X),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x))(X),
    "vjp": lambda f: vjp(f, X)[1](1.0)[0],
    "jvp": lambda f: np.array([jvp(f, (X,), (v,))[1] for v in np.eye(2)]),
    "hessian": lambda f: hessian(f)(X) @ X,
}
