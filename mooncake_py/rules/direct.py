"""Overlays that call one function with a rule of its own, for most arguments.

    np.clip(x, 0.0, 1.0)        clip_between(x, 0.0, 1.0)
    np.diff(x, prepend=0.0)     has no such: it is derived from the replacement

Where the arguments are those of that function, it may be called in the first place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mooncake_py.rules import registry
from mooncake_py.rules.kinds import OverlayRule

__all__ = ["calls"]


def calls(overlaid: Any, function: Callable[..., Any]) -> None:
    """Note what an overlay calls, where the arguments fit the parameters of that function."""
    rule = registry.find(overlaid)
    assert isinstance(rule, OverlayRule)
    rule.direct = function
