"""Calls at which rules are checked, for parametrized tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mooncake_py.rules.kinds import function_name
from mooncake_py.testing.rule import test_rule

__all__ = ["RuleCase", "rule_cases"]


@dataclass
class RuleCase:
    """A function with arguments at which `test_rule` checks its rule.

    Attributes
    ----------
    function : callable
        The function whose rule is checked.
    args, kwargs : tuple, dict
        The arguments; a check copies them.
    label : str
        Label that distinguishes the cases of one function; by default the types and shapes of the
        arguments.
    options : dict
        Further keyword arguments of `test_rule`.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    label: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Name of the case in test reports: function and label."""
        labels = [self.label] if self.label else map(describe, self.args)
        return "-".join([function_name(self.function), *labels])

    def __str__(self) -> str:
        return self.id

    def check(self) -> None:
        """Check the rule of the function by `test_rule`."""
        test_rule(self.function, *self.args, kwargs=self.kwargs, **self.options)


def rule_cases(*calls: RuleCase | tuple[Any, ...], **options: Any) -> list[RuleCase]:
    """Return cases for a parametrized test, named by function and arguments.

    Parameters
    ----------
    *calls : tuple or RuleCase
        A function and its arguments, ``(f, *args)``.
    **options
        Options of `test_rule` for all cases; those of a `RuleCase` have precedence.

    Examples
    --------
    In a test module:

    >>> import numpy as np
    >>> from mooncake_py.testing import rule_cases
    >>> x = np.array([0.5, 1.0])
    >>> CASES = rule_cases((np.sin, x), (np.dot, x, x), dtypes=False)
    >>> [str(case) for case in CASES]
    ['numpy.sin-f64(2)', 'numpy.dot-f64(2)-f64(2)']

    and then::

        @pytest.mark.parametrize("case", CASES, ids=str)
        def test_rules(case):
            case.check()
    """
    cases = [call if isinstance(call, RuleCase) else RuleCase(call[0], call[1:]) for call in calls]
    for case in cases:
        case.options = {**options, **case.options}
    return cases


def describe(value: Any) -> str:
    """Return dtype and shape of an array, the type of anything else, for the name of a test."""
    if issubclass(type(value), np.ndarray):
        code = f"{value.dtype.kind}{value.dtype.itemsize * 8}"
        return f"{code}({','.join(map(str, value.shape))})"
    return type(value).__name__
