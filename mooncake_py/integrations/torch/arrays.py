"""Tensors as arrays and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.optional import import_optional

__all__ = ["as_numpy", "as_tensor", "is_differentiable"]

torch = import_optional("torch", "torch", __name__)


def as_tensor(value: Any) -> Any:
    """Return a copy of an array as a tensor; anything else as it is."""
    if isinstance(value, (np.ndarray, np.generic)):
        return torch.from_numpy(np.array(value, order="C"))
    return value


def as_numpy(value: Any) -> Any:
    """Return a copy of a tensor as an array, a number for one without axes."""
    if not torch.is_tensor(value):
        return value
    array = value.detach().resolve_conj().resolve_neg().cpu().numpy().copy()
    return array if array.ndim else array[()]


def is_differentiable(value: Any) -> bool:
    """Whether an output can have a derivative."""
    return torch.is_tensor(value) and (value.is_floating_point() or value.is_complex())
