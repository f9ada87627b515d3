"""Rules for `scipy.fft`: the transforms that NumPy has too, with the same adjoints."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft as sf
from numpy import ndarray

from mooncake_py.rules.declare import from_vjp, not_implemented
from mooncake_py.rules.fft import fft_adjoint, ifft_adjoint, irfft_adjoint, rfft_adjoint
from mooncake_py.rules.kinds import Like

__all__: list[str] = []


def transform(function: Any, adjoint: Any) -> None:
    """Declare a transform along one axis."""

    @from_vjp(function, permits=("overwrite_x",))
    def rule(x: Any, n: Any = None, axis: int = -1, norm: Any = None, **options: Any) -> Any:
        x = np.asarray(x)
        like = Like(x.shape, x.dtype)
        y = function(x, n, axis, norm, **options)
        return y, lambda dy: (adjoint(dy, like, n, axis, norm), None, None)


transform(sf.fft, fft_adjoint)
transform(sf.ifft, ifft_adjoint)
transform(sf.rfft, rfft_adjoint)
transform(sf.irfft, irfft_adjoint)


def transform_of_axes(function: Any, adjoint: Any, default: Any) -> None:
    """Declare a complex transform along several axes: that of one axis after the other."""

    @from_vjp(function, permits=("overwrite_x",))
    def rule(x: Any, s: Any = None, axes: Any = default, norm: Any = None, **options: Any) -> Any:
        x = np.asarray(x)
        y = function(x, s, axes, norm, **options)
        last = range(-(x.ndim if s is None else len(s)), 0) if axes is None else axes

        def pullback(dy: ndarray) -> tuple[Any, ...]:
            for axis in last:
                shape = list(dy.shape)
                shape[axis] = x.shape[axis]
                dy = adjoint(dy, Like(tuple(shape), dy.dtype), None, axis, norm)
            return dy, None, None

        return y, pullback


transform_of_axes(sf.fft2, fft_adjoint, (-2, -1))
transform_of_axes(sf.ifft2, ifft_adjoint, (-2, -1))
transform_of_axes(sf.fftn, fft_adjoint, None)
transform_of_axes(sf.ifftn, ifft_adjoint, None)


def orthogonal(function: Any, inverse: Any) -> None:
    """Declare a real transform, of which the adjoint is the inverse if ``norm="ortho"``.

    The others differ from that by factors, for which there is no rule.
    """

    @from_vjp(function, permits=("overwrite_x",))
    def rule(
        x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, **options: Any
    ) -> Any:
        x = np.asarray(x)
        y = function(x, type, n, axis, norm, **options)

        def pullback(dy: ndarray) -> Any:
            if norm != "ortho" or n is not None or options.get("orthogonalize") is False:
                return ORTHO
            if np.iscomplexobj(dy) != np.iscomplexobj(y):
                dy = dy.astype(y.dtype)
            return inverse(dy, type, None, axis, norm, **options), None, None, None

        return y, pullback


ORTHO = not_implemented("only for norm='ortho' and n=None, where the adjoint is the inverse")

orthogonal(sf.dct, sf.idct)
orthogonal(sf.idct, sf.dct)
orthogonal(sf.dst, sf.idst)
orthogonal(sf.idst, sf.dst)
