"""One statement with operands of changing kinds: as one entry against operation by operation."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import jvp, value_and_grad
from mooncake_py.errors import MooncakeError
from tests.programs.changing_operands import arguments, random_calls
from tests.programs.comparing import function_of
from tests.programs.ways import WAYS

EXACT = 1e-13  # NumPy's own last bit depends on where in memory the operands lie
DOUBLE, SINGLE = 1e-12, 2e-7  # of the terms that are summed


def require_close(found: Any, expected: Any, size: float, text: str) -> None:
    """Require derivatives to differ by no more than rounding, of single numbers if there are."""
    single = "float32" in text or "float16" in text
    atol = (SINGLE if single else DOUBLE) * size
    assert_allclose(found, expected, rtol=0, atol=atol)


def compare(seed: int) -> None:
    text = random_calls(seed)
    if text is None:
        return
    f = function_of(text, f"<changing operands {seed}>")
    x, c = arguments()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = f(x.copy(), c.copy())
        try:
            reference, expected = WAYS["unfused"](f, (0, 1), [x.copy(), c.copy()])
        except MooncakeError as error:
            with pytest.raises(type(error)):
                value_and_grad(f, (0, 1))(x.copy(), c.copy())
            return
        value, found = value_and_grad(f, (0, 1))(x.copy(), c.copy())
        again, (alone,) = value_and_grad(f, (0,))(x.copy(), c.copy())
        assert_allclose([value, reference, again], plain, rtol=EXACT)
        for a, b in zip((*found, alone), (*expected, expected[0]), strict=True):
            require_close(a, b, np.abs(b[np.isfinite(b)]).max(initial=0.0), text)
        if seed % 5 == 0 and "np.inf" not in text:  # whose tangents are infinite on the way
            try:
                value, tangent = jvp(f, (x.copy(), c.copy()), (c, x))
            except MooncakeError:
                return
            assert_allclose(value, plain, rtol=EXACT)
            terms = np.concatenate([expected[0] * c, expected[1] * x])
            require_close(tangent, terms.sum(), np.abs(terms).sum(), text)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(6))
def test_few(seed):
    compare(seed)


@pytest.mark.slow
def test_many():
    for seed in range(1000, 1150):
        try:
            compare(seed)
        except BaseException as error:
            error.add_note(f"seed {seed}:\n{random_calls(seed)}")
            raise
