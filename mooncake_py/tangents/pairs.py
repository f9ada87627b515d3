"""Primal values paired with fdata or tangents: the arguments and results of rules."""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from mooncake_py.tangents.arithmetic import accumulate
from mooncake_py.tangents.build import zero_tangent
from mooncake_py.tangents.kinds import NoFData
from mooncake_py.tangents.split import fdata

__all__ = ["CoDual", "Dual", "increment", "zero_codual", "zero_coduals"]


class CoDual:
    """A primal value and its fdata.

    Parameters
    ----------
    primal : object
    fdata : fdata
        Of `primal`; ``NoFData()`` in place of the fdata of an array says that it is constant.

    Examples
    --------
    >>> CoDual(8.0, NoFData())
    CoDual(8.0, NoFData())
    """

    __slots__ = ("_fdata", "_primal")
    __match_args__ = ("primal", "fdata")

    def __init__(self, primal: Any, fdata: Any) -> None:
        self._primal = primal
        self._fdata = fdata

    @property
    def primal(self) -> Any:
        """The value."""
        return self._primal

    @property
    def fdata(self) -> Any:
        """The part of the cotangent that is accumulated in place."""
        return self._fdata

    def increment(self, g: Any) -> None:
        """Add `g` to the fdata in place; nothing happens if they are ``NoFData()``."""
        f = self.fdata
        if type(f) is ndarray:
            f += g
        elif f is not NoFData():
            accumulate(f, g)

    def __repr__(self) -> str:
        return f"CoDual({self.primal!r}, {self.fdata!r})"


class _ZeroCoDual(CoDual):
    """A CoDual whose zero fdata are made when somebody first asks for them."""

    __slots__ = ()

    def __init__(self, primal: Any) -> None:
        self._primal = primal

    @property
    def fdata(self) -> Any:
        try:
            return self._fdata
        except AttributeError:
            self._fdata = fdata(zero_tangent(self._primal))
            return self._fdata


class Dual:
    """A primal value and its tangent, for forward mode.

    Examples
    --------
    >>> Dual(2.0, 1.0)
    Dual(2.0, 1.0)
    """

    __slots__ = ("primal", "tangent")
    __match_args__ = ("primal", "tangent")

    def __init__(self, primal: Any, tangent: Any) -> None:
        self.primal = primal
        self.tangent = tangent

    def __repr__(self) -> str:
        return f"Dual({self.primal!r}, {self.tangent!r})"


def zero_codual(x: Any) -> CoDual:
    """Return `x` with zero fdata, which are made when first read.

    Values that share memory with one another need :func:`zero_coduals`.
    """
    return _ZeroCoDual(x)


def zero_coduals(*values: Any) -> tuple[CoDual, ...]:
    """Return values with zero fdata that share memory as the values do.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.ones(3)
    >>> whole, part = zero_coduals(x, x[1:])
    >>> part.fdata[...] = 1.0
    >>> whole.fdata
    array([0., 1., 1.])
    """
    zeros = zero_tangent(list(values))  # a list never collapses into one NoTangent
    return tuple(CoDual(x, fdata(t)) for x, t in zip(values, zeros, strict=True))


def increment(x: Any, y: Any) -> Any:
    """Add to a cotangent: ``increment(codual, g)``, or the sum of two tangents.

    Parameters
    ----------
    x : CoDual, tangent, fdata or rdata
        A CoDual: `y` is added to its fdata in place, or ignored if they are ``NoFData()``.
        Otherwise the sum ``x + y`` is returned, and what is mutable in `x` is changed in place.
    y : array, number, tangent, fdata or rdata
        Of the structure of `x`; no axes are summed here.

    Returns
    -------
    tangent or None
        None for a CoDual; the same object as `x` if `x` is mutable.

    Examples
    --------
    >>> increment((1.0, [2.0]), (0.5, [0.5]))
    (1.5, [2.5])
    """
    if isinstance(x, CoDual):
        x.increment(y)
        return None
    return accumulate(x, y)
