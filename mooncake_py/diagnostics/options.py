"""The options of derivatives: what they may be."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.errors import InvalidModeError

__all__ = [
    "require_choice", "require_compile", "require_flag", "require_output", "require_reverse",
    "require_seconds",
]  # fmt: skip

OUTPUTS = "sum", "same"


def require_flag(name: str, value: Any) -> None:
    """Raise if an option is neither true nor false."""
    if (
        type(value) is bool
        or isinstance(value, np.bool_)
        or (type(value) is int and value in (0, 1))
    ):
        return
    raise InvalidModeError(
        f"{name}={value!r} is neither true nor false", fix=f"pass {name}=True or {name}=False"
    )


def require_compile(value: Any) -> None:
    """Raise if a setting of compilation is none."""
    if isinstance(value, str):
        if value == "auto":
            return
        raise InvalidModeError(
            f"there is no compile={value!r}",
            fix='pass compile=True, compile=False or compile="auto"',
        )
    require_flag("compile", value)


def require_seconds(name: str, value: Any) -> None:
    """Raise if an option is neither None nor a number of seconds."""
    if value is None or (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and value >= 0
    ):
        return
    raise InvalidModeError(
        f"{name}={value!r} is not a number of seconds", fix=f"pass {name}=5.0, or leave it out"
    )


def require_choice(what: str, name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Raise if an option is not one of the allowed strings."""
    if isinstance(value, str) and value in allowed:
        return
    *others, last = (f'{name}="{text}"' for text in allowed)
    raise InvalidModeError(
        f"there is no {name} {value!r} of {what}", fix=f"choose {', '.join(others)} or {last}"
    )


def require_output(output: Any) -> None:
    """Raise if the value of a program on several ranks cannot be computed in this way."""
    if not (isinstance(output, str) and output in OUTPUTS):
        raise InvalidModeError(
            f"there is no output {output!r} of ranks",
            fix='choose output="sum", of the numbers that ranks return, or output="same", one '
            "number that all return",
        )


def require_reverse(mode: Any) -> None:
    """Raise if a gradient cannot be taken over ranks in this mode."""
    if mode != "reverse":
        raise InvalidModeError(
            f"there is no mode {mode!r} of a gradient over ranks",
            why="ranks with different numbers of arguments would not run the same passes",
            fix='mode="reverse", or jvp within `with over(comm):`',
        )
