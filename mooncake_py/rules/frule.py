"""`frule`, Python's spelling of ``frule!!``: forward-mode rules as functions of Duals."""

from __future__ import annotations

from typing import Any

from mooncake_py.rules import registry
from mooncake_py.rules.generic import RuleFunction
from mooncake_py.rules.kinds import DualRule

__all__ = ["frule"]


class ForwardRule(RuleFunction[Any]):
    """The generic function ``frule(f, *args) -> output`` over Duals.

    Parameters
    ----------
    f : Dual
        The function and its tangent, ``NoTangent()`` for one that captures nothing.
    *args : Dual
        The arguments, each paired with a tangent of its tangent type; ``NoTangent()`` holds
        anything constant.
    **kwargs : object
        Keyword arguments of the primal, constant.

    Returns
    -------
    Dual
        What the primal returns, and its tangent.

    Raises
    ------
    InvalidTangentError
        If a tangent does not fit its primal, or if an argument that has none would get one.

    Notes
    -----
    What the primal changes in place is changed afterwards, the tangents with the primals: arrays,
    lists, dicts and objects keep their identity.

    Examples
    --------
    >>> import math
    >>> from mooncake_py import Dual, NoTangent
    >>> frule(Dual(math.exp, NoTangent()), Dual(0.0, 3.0))
    Dual(1.0, 3.0)
    """

    def __init__(self) -> None:
        super().__init__(registry.find_forward, registry.add_forward, DualRule)


frule = ForwardRule()
