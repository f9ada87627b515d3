"""The messages of failed checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.errors import RuleTestError

__all__ = ["failure", "show"]


def failure(
    check: str,
    *,
    of: str,
    path: str = "",
    expected: Any = None,
    got: Any = None,
    details: str = "",
    hint: str,
) -> RuleTestError:
    """Build the error for a failed check.

    Parameters
    ----------
    check : str
        Name of the check, as the documentation lists it.
    of : str
        The function whose rule is checked, and the variant of its arguments.
    path : str
        The argument, or the place inside it, such as ``args[1]['w']``.
    expected, got : object
        Shown on separate lines.
    details : str
        Further lines, such as the ladder of finite differences.
    hint : str
        The likely cause and the remedy.
    """
    place = f" at {path}" if path else ""
    lines = [f"expected: {show(expected)}", f"got:      {show(got)}"]
    if details:
        lines.append(details)
    return RuleTestError(
        f"rule of {of}: check '{check}' failed{place}", why="\n".join(lines), fix=hint
    )


def show(value: Any) -> str:
    """Return a short text for a value: strings as they are, arrays with dtype and shape."""
    if isinstance(value, str):
        return value
    if issubclass(type(value), np.ndarray):
        text = np.array2string(value, threshold=8, precision=8, separator=", ")
        return f"{value.dtype}{list(value.shape)} {' '.join(text.split())}"
    if isinstance(value, np.generic):
        return repr(value)
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "..."
