"""List all operations of a program that derivatives would refuse, with line and fix.

    python -m mooncake_py.coverage script.py [ARGUMENT ...]

runs a script, and lists for each derivative in it all operations that it would refuse.  A gradient
that is refused is zero there, so that the script goes on.  `refusals` does so for one function.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Callable, Collection, Sequence
from typing import Any

from mooncake_py.boundary.apart import observers, stand_ins
from mooncake_py.boundary.arguments import Call
from mooncake_py.errors import MooncakeError
from mooncake_py.modes.survey.run import survey
from mooncake_py.tangents.build import zero_tangent
from mooncake_py.utilities.structures import copied

__all__ = ["refusals"]


def refusals(
    f: Callable[..., Any], *args: Any, argnums: int | str | tuple[int | str, ...] = 0, **kwargs: Any
) -> list[MooncakeError]:
    """Return all errors that derivatives of ``f(*args, **kwargs)`` would raise.

    The function runs once.  An operation that would be refused runs without a derivative, and its
    result counts as active, so that later refusals are found too.  The arguments are restored.

    Parameters
    ----------
    f : callable
        A function that may return any value.
    *args, **kwargs
        Its arguments.
    argnums : int, str or tuple of these
        Positions or names of the arguments of differentiation.

    Returns
    -------
    list of MooncakeError
        The errors in the order of the run, each once; empty if nothing is refused.

    Raises
    ------
    Exception
        If the function itself raises it.

    Notes
    -----
    Only operations that run are checked: another branch may contain further refused operations.
    Writes of refused operations into memory of the caller are not undone.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py.coverage import refusals
    >>> def f(x):
    ...     y = np.frompyfunc(abs, 1, 1)(x)
    ...     return np.sum(np.asarray(y, float))
    >>> [type(error).__name__ for error in refusals(f, np.ones(2))]
    ['MissingRuleError']
    """
    return survey(f, argnums, args, kwargs)


class Report:
    """The operations that derivatives of a program would refuse."""

    def __init__(self) -> None:
        self.found: dict[str, MooncakeError] = {}
        self.has_looked = False
        self.is_looking = False

    def look(self, f: Any, chosen: Collection[Any], args: Any, kwargs: Any) -> None:
        """Record the operations that a derivative would refuse, before it is taken."""
        if self.is_looking or not chosen:
            return
        self.has_looked = self.is_looking = True
        try:
            for error in survey(f, tuple(chosen), args, kwargs):
                self.found.setdefault(str(error), error)
        except Exception:  # of the function: its derivative raises it, where the program expects it
            return
        finally:
            self.is_looking = False

    def instead(self, error: MooncakeError, call: Call) -> tuple[Any, tuple[Any, ...]]:
        """Record a refusal; return the value, and zeros for the gradients, to go on with."""
        self.found.setdefault(str(error), error)
        args, kwargs = copied((call.args, call.kwargs))
        gradients = tuple([zero_tangent(call.argument(key)) for key in call.chosen])
        return call.f(*args, **kwargs), gradients

    def __str__(self) -> str:
        if not self.has_looked:
            return (
                "The script took no derivative, so there was nothing to look at;\n"
                "mooncake_py.coverage.refusals(f, *args) looks at a function."
            )
        if not self.found:
            return "Nothing would be refused."
        return "\n\n".join(f"{number}. {text}" for number, text in enumerate(self.found, 1))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a script, print the operations that its derivatives refuse, and return 1 if any."""
    parser = argparse.ArgumentParser(
        prog="python -m mooncake_py.coverage",
        description="Run a script, and list all that its derivatives would refuse.",
    )
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    chosen = parser.parse_args(arguments)
    report = Report()
    argv, path = sys.argv, sys.path
    sys.argv = [chosen.script, *chosen.arguments]
    sys.path = [os.path.dirname(os.path.realpath(chosen.script)), *path[1:]]  # as Python does
    observers.append(report.look)
    stand_ins.append(report.instead)
    try:
        runpy.run_path(chosen.script, run_name="__main__")
    except MooncakeError as error:
        report.found.setdefault(str(error), error)
        print("The script ended with the last of these derivatives, which is refused:\n")
    finally:
        observers.remove(report.look)
        stand_ins.remove(report.instead)
        sys.argv, sys.path = argv, path
    print(report)
    return 1 if report.found else 0


if __name__ == "__main__":
    sys.exit(main())
