"""A function's own warnings, where a rule or a replacement computes its output.

Ours compute more than the function does, or in another order.  They do so unheard; if
there was something to hear, the function runs again and says it, at the places of the plain call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mooncake_py.application.native_writes import WRITERS
from mooncake_py.application.out_argument import signature_of
from mooncake_py.application.plain_errors import copies_of, is_data
from mooncake_py.modules import draws_numbers
from mooncake_py.rules.kinds import OverlayRule, VjpRule
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.quiet import Unheard, is_strict

__all__ = ["as_given", "output_of_replacement", "output_of_rule"]


def output_of_rule(rule: VjpRule, f: Any, primals: Any, kwargs: Any, given: Any) -> Any:
    """Return the output and the pullback that a rule returns.

    Parameters
    ----------
    rule, f
        The rule, and its function or what stands for that.
    primals, kwargs, given
        The arguments of the rule, and the keywords that `f` was called with.
    """
    if rule.by_user or is_strict() or any(draws_numbers(type(a)) for a in primals):
        return rule.rule(*primals, **kwargs)
    with Unheard() as block:
        found = rule.rule(*primals, **kwargs)
    if block.noticed:
        taken, named = as_given(rule, f, primals, kwargs, given)
        f(*taken, **named)
    return found


def output_of_replacement(
    rule: OverlayRule, f: Any, args: Any, kwargs: Any, run: Callable[[], Any]
) -> Any:
    """Return the output of a replacement, of data that the function does not change."""
    if rule.by_user or f in WRITERS or is_strict() or not all(map(only_read, (args, kwargs))):
        return run()
    with Unheard() as block:
        result = run()
    found = copies_of(args, kwargs) if block.noticed else None
    if found is not None:
        f(*found[0], **found[1])
    return result


def only_read(values: Any) -> bool:
    """Return whether arguments are data that a function does not change, such as generators."""
    given = values.values() if type(values) is dict else values
    return all(is_data(unwrapped(v)) and not draws_numbers(type(v)) for v in given)


def as_given(
    rule: VjpRule, f: Any, primals: Any, kwargs: Any, given: Any
) -> tuple[Any, dict[str, Any]]:
    """Return arguments as a function takes them; its rule may take more of them by position.

    Those beyond the positions of the function are passed by keyword, if they were `given` so.
    """
    signature = signature_of(f) if given else None
    kinds = [] if signature is None else [p.kind for p in signature.parameters.values()]
    count = sum(kind in (kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD) for kind in kinds)
    if len(primals) <= count or not kinds[count:] or kinds[count] == kinds[count].VAR_POSITIONAL:
        return primals, kwargs
    names = list(inspect.signature(rule.rule).parameters)[count:]
    moved = {n: p for n, p in zip(names, primals[count:], strict=False) if n in given}
    return primals[:count], moved | kwargs
