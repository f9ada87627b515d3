"""Local rules, which are valid only within a block."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Any

import numpy as np

from mooncake_py.by_identity import ByIdentity
from mooncake_py.errors import MooncakeError
from mooncake_py.rules import epoch

__all__ = ["LocalRules", "OperatorRuleError", "current", "local_rules", "using"]

_NAMES = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "pos", "invert",
    "lshift", "rshift", "and_", "or_", "xor",
)  # fmt: skip
OPERATORS = frozenset(getattr(operator, name) for name in _NAMES) | {
    np.add, np.subtract, np.multiply, np.true_divide, np.floor_divide, np.remainder, np.power,
    np.matmul, np.negative, np.positive, np.invert, np.left_shift, np.right_shift,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor,
    range, len, globals,  # of which rewritten code makes operations of its own
}  # fmt: skip


class OperatorRuleError(MooncakeError, ValueError):
    """The rule behind one of Python's operators, of `range` or of `len` cannot be replaced.

    ``a * b`` finds the rule of ``numpy.multiply`` without asking the table of rules.

    Fix: write a function of your own for the product, and declare a rule for that.
    """


class LocalRules:
    """The rules declared in one block, and those of the blocks around it.

    Attributes
    ----------
    rules : ByIdentity
        From a function to its rule, or to None: in this block it has none.
    own : ByIdentity
        The functions that this block itself says something about.
    forward : ByIdentity
        From a function to its rule of forward mode, or to None.
    own_forward : ByIdentity
        Those that this block itself has declared.
    handlers : dict
        What each mode makes of all the rules that hold here, made again when they change.
    """

    def __init__(self, outer: LocalRules | None, without: Iterable[Hashable]) -> None:
        self.rules: ByIdentity[Any] = ByIdentity() if outer is None else outer.rules.copy()
        self.own: ByIdentity[None] = ByIdentity()
        self.forward: ByIdentity[Any] = ByIdentity() if outer is None else outer.forward.copy()
        self.own_forward: ByIdentity[Any] = ByIdentity()
        self.handlers: dict[str, Any] = {}
        for function in without:
            self.put(function, None)

    def put(self, function: Hashable, rule: Any) -> None:
        """Set the rule of a function, None for no rule."""
        refuse_operator(function)
        self.rules[function] = rule
        self.own[function] = None
        if function not in self.own_forward:
            self.forward[function] = None  # what is declared outside belongs to another rule
        self.handlers.clear()

    def put_forward(self, function: Hashable, rule: Any) -> None:
        """Set the forward-mode rule of a function."""
        self.forward[function] = self.own_forward[function] = rule
        self.handlers.clear()


def refuse_operator(function: Hashable) -> None:
    """Raise if one of Python's operators goes by the rule of a function."""
    if function in OPERATORS:
        name = getattr(function, "__name__", repr(function))
        raise OperatorRuleError(
            f"the rule of {name} cannot be replaced",
            why="operators, loops and lengths use it without a look-up of rules",
            fix="write a function of your own, and declare a rule for that",
        )


_current: ContextVar[LocalRules | None] = ContextVar("mooncake_py.local_rules", default=None)


# The rules of the block that is running, or None outside of all; asked at every call.
current = _current.get


@contextmanager
def using(rules: LocalRules | None) -> Iterator[None]:
    """Let the rules of a block hold again, or none but those for all."""
    token = _current.set(rules)
    epoch.advance()
    try:
        yield
    finally:
        _current.reset(token)
        epoch.advance()


class local_rules:
    """Declare rules, or do without some, within a block.

    Parameters
    ----------
    without : callable or iterable of callables, optional
        Functions that have no rule within the block: they are derived from their source.

    Raises
    ------
    OperatorRuleError
        For functions behind Python's operators, such as ``numpy.multiply``.

    Notes
    -----
    All declarations within the block hold until its end, and may replace what is declared outside
    without saying ``replace=True``.  The block belongs to the thread or task that runs it, and
    to the derivatives that are begun in it: a pullback that is called later runs by the same
    rules.  Modules that declare rules for all should be imported outside.

    Examples
    --------
    >>> from mooncake_py import elementwise, grad, local_rules
    >>> def cube(x):
    ...     return x**3
    >>> with local_rules():
    ...     _ = elementwise(cube, 100.0)
    ...     grad(cube)(2.0)
    100.0
    >>> grad(cube)(2.0)
    12.0
    """

    def __init__(self, *, without: Any = ()) -> None:
        self._without = (without,) if callable(without) else tuple(without)
        self._tokens: list[Token[LocalRules | None]] = []

    def __enter__(self) -> None:
        self._tokens.append(_current.set(LocalRules(current(), self._without)))
        epoch.advance()

    def __exit__(self, *exception: object) -> None:
        _current.reset(self._tokens.pop())
        epoch.advance()
