"""Every error that `mooncake_py` raises on purpose.

Each class documents its cause and its fix, and derives from the built-in exception that a
caller would expect as well as from :class:`MooncakeError`.  The text of every message is laid
out by :func:`describe`: what happened, then where, why and how to fix it.
"""

from __future__ import annotations

import linecache
from typing import NamedTuple

from mooncake_py.notebook import name_of_cell

__all__ = [
    "CheckpointError",
    "CompilerUnavailableError",
    "DerivativeDropError",
    "DifferentResultError",
    "InvalidModeError",
    "InvalidRuleError",
    "InvalidTangentError",
    "Location",
    "MissingRuleError",
    "MooncakeError",
    "MooncakeWarning",
    "NestedDerivativeError",
    "NonDifferentiableArgumentError",
    "NonFiniteDerivativeError",
    "NonScalarOutputError",
    "NotHolomorphicError",
    "PreparedArgumentsError",
    "PreparedInUseError",
    "PullbackReuseError",
    "RankError",
    "RuleTestError",
    "SharedArgumentsError",
    "SolverError",
    "SourceUnavailableError",
    "UnsupportedSyntaxError",
    "UntrackedWriteError",
    "describe",
    "file_and_line",
]


class Location(NamedTuple):
    """A place in the user's source: file, line and, where known, the columns of an expression."""

    file: str
    line: int
    function: str = ""
    column: int | None = None
    end_column: int | None = None

    def __str__(self) -> str:
        function = f" in {self.function}" if self.function else ""
        column = None if self.column is None else self.column + 1
        return f"{file_and_line(self.file, self.line, column)}{function}"

    def excerpt(self) -> list[str]:
        """Return the source line and a row of carets below the columns, if the source is there."""
        text = linecache.getline(self.file, self.line).rstrip("\n")
        if not text.strip():
            return []
        stripped = text.lstrip()
        lines = [stripped]
        if self.column is not None:
            # Columns count UTF-8 bytes; carets count characters.
            raw = text.encode()
            start = len(raw[: self.column].decode(errors="replace"))
            stop = len(raw[: self.end_column].decode(errors="replace"))  # None: further lines
            indent = len(text) - len(stripped)
            if stop > start >= indent:
                lines.append(" " * (start - indent) + "^" * (stop - start))
        return lines


def file_and_line(file: str, line: int, column: int | None = None) -> str:
    """Return "file:line:column", or "cell In[3], line 4" for a cell of a notebook."""
    cell = name_of_cell(file)
    if cell is not None:
        return f"{cell}, line {line}"
    return f"{file}:{line}" if column is None else f"{file}:{line}:{column}"


def describe(what: str, *, where: Location | None = None, why: str = "", fix: str = "") -> str:
    """Format a message: what happened, where, why, and the fix, each on separate lines."""
    lines = [what]
    if where is not None:
        lines.append(f"  where: {where}")
        lines.extend(f"         | {row}" for row in where.excerpt())
    for label, text in (("why", why), ("fix", fix)):
        if text:
            first, *rest = text.split("\n")
            lines.append(f"  {label + ':':<6} {first}")
            lines.extend(f"         {row}" for row in rest)
    return "\n".join(lines)


class MooncakeError(Exception):
    """Base of every error raised on purpose by `mooncake_py`.

    Parameters
    ----------
    what : str
        One line that says what happened.
    where : Location, optional
        The user's file and line.
    why, fix : str, optional
        The cause, and what to do about it.
    """

    def __init__(
        self, what: str, *, where: Location | None = None, why: str = "", fix: str = ""
    ) -> None:
        super().__init__(describe(what, where=where, why=why, fix=fix))
        self.what = what
        self.where = where
        self.why = why
        self.fix = fix


class MooncakeWarning(UserWarning):
    """Something is allowed but is probably not what was meant."""


class MissingRuleError(MooncakeError, NotImplementedError):
    """A function without source (C code) was called, and no rule is registered for it.

    Fix: register a rule with ``rrule.register``, ``from_vjp``, ``elementwise``, ``linear`` or,
    where no derivative exists, ``zero_derivative``.
    """


class SourceUnavailableError(MissingRuleError):
    """A Python function has no source to derive a rule from (text run by ``exec``, for example).

    Fix: define the function in a file or a notebook cell, or register a rule for it.
    """


class CompilerUnavailableError(MooncakeError, ImportError):
    """``compile=True`` was asked for, and Numba is not installed.

    Fix: ``pip install numba scipy``, or leave ``compile=True`` out.
    """


class UnsupportedSyntaxError(MooncakeError, SyntaxError):
    """A function uses Python syntax that cannot be differentiated; all places are listed.

    Fix: as the message says for each construct.
    """


class DerivativeDropError(MooncakeError, TypeError):
    """An active value was handed to something that keeps only its number.

    ``float()`` in C code, ``np.asarray`` in C code, ``memoryview`` and ``ctypes`` lose the
    derivative in silence; `mooncake_py` raises instead.
    Fix: compute with the value itself, or register a rule for the function that converts it.
    """


class NonDifferentiableArgumentError(MooncakeError, TypeError):
    """A gradient was asked for with respect to something that has none: an int, a bool, a str.

    Fix: pass floats (``x.astype(float)``), or choose other ``argnums``.
    """


class NonScalarOutputError(MooncakeError, TypeError):
    """``grad`` or ``value_and_grad`` of a function that does not return one real number.

    Fix: return a scalar, or use ``vjp`` with a cotangent of the output's shape.
    """


class PreparedArgumentsError(MooncakeError, ValueError):
    """A prepared derivative was called with other arguments than those of its example.

    A type, shape, dtype or structure differs: what it keeps from call to call would not fit.

    Fix: prepare one for such arguments too, ``grad(f).prepare(x)``, or call ``grad(f)`` itself.
    """


class PreparedInUseError(MooncakeError, RuntimeError):
    """A prepared derivative was called while a call of it ran, in this thread or in another.

    Fix: prepare one for each thread; within the function call ``grad(f)`` itself.
    """


class InvalidModeError(MooncakeError, ValueError):
    """A `mode` that is none of those that the function has: ``grad(f, mode="backward")``.

    Fix: choose one of them, "forward" or "reverse"; a Jacobian also has "auto".
    """


class NotHolomorphicError(MooncakeError, ValueError):
    """``holomorphic_derivative`` of a function that has no complex derivative at that point.

    Fix: use ``wirtinger_derivatives``, which every smooth function has.
    """


class SharedArgumentsError(MooncakeError, ValueError):
    """A function writes into memory that arguments share, one of which is differentiated.

    Arguments are separate variables for a derivative, also from captured and global arrays; a
    write that both would see contradicts it.
    Fix: for the total derivative pass what is shared once, ``grad(lambda x: f(x, x))(x)``; for
    separate arrays pass a copy.
    """


class PullbackReuseError(MooncakeError, RuntimeError):
    """A pullback was called twice although its forward pass changed memory in place.

    Fix: run the forward pass again to get a new pullback.
    """


class SolverError(MooncakeError, ArithmeticError):
    """The result of a solver has no derivative: it has not converged, or is not determined.

    The derivative is that of the equation that the solver solves.  It exists where the equation is
    fulfilled and its Jacobian is not singular.
    Fix: let the solver do more iterations, to a smaller tolerance; change the equation where it
    has no simple root, or hold the result constant by `stop_gradient`.
    """


class RankError(MooncakeError, RuntimeError):
    """Another rank has raised an exception, or the ranks do not communicate with one another.

    The derivative of a program that runs on several ranks needs all of them.
    Fix: mend what the named rank has raised; let each send have its receive within the derivative.
    """


class NestedDerivativeError(MooncakeError, NotImplementedError):
    """A derivative inside another one cannot be followed, or a later run differs from the first.

    Fix: nest `grad`, `vjp`, `jvp` and those made of them only; pass what changes between runs of
    a function (an iterator, a file, the clock) as an argument.
    """


class InvalidTangentError(MooncakeError, TypeError):
    """A tangent, fdata or rdata does not have the type, dtype or shape its primal requires.

    Fix: build it with ``zero_tangent`` or ``randn_tangent``.
    """


class RuleTestError(MooncakeError, AssertionError):
    """``test_rule`` or ``test_tangent`` found a defect; the message names check and argument."""


class InvalidRuleError(MooncakeError, TypeError):
    """A rule does not keep to the contract of rules; debug mode finds most of it out.

    Fix: as the message says; ``test_rule`` checks the rule by itself.
    """


class NonFiniteDerivativeError(MooncakeError, FloatingPointError):
    """Debug mode: an adjoint turned finite cotangents into nan or infinity.

    Fix: keep the function away from points without a derivative (the square root of 0, a norm
    of 0), or pass ``check_finite=False`` to ``debug_mode`` if infinite derivatives are meant.
    """


class CheckpointError(MooncakeError, RuntimeError):
    """A part of a program that is checkpointed did something else when it was run again.

    The cause is something that a second run finds changed: an iterator from outside, a file, the
    clock.  Random numbers are drawn again as they were, and everything the engine knows of is
    restored.
    Fix: take what changes as an argument, or leave the checkpoint out.
    """


class DifferentResultError(MooncakeError, AssertionError):
    """Debug mode: an operation gave another value or type than it does without differentiation.

    The cause is a rule that returns something else than its function, or a fault of this package.
    Fix: let the rule return what the function returns; else please report it.
    """


class UntrackedWriteError(MooncakeError, RuntimeError):
    """Memory changed where the engine does not see the write; debug mode found out.

    The cause is compiled code that writes through a pointer, a thread, a ``__del__`` method, or
    a rule that does not say what its function writes.
    Also a function within ``ignore_derivatives`` that changes what the derivative depends on.
    Fix: register a rule with ``mutates=``, or an ``overlay`` in Python.
    """
