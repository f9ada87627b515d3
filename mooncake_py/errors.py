"""The errors that `mooncake_py` raises.

Each class documents its cause and its fix, and derives from :class:`MooncakeError` and from the
built-in exception that a caller expects.  :func:`describe` formats every message: what happened,
then where, why and how to fix it.
"""

from __future__ import annotations

import linecache
from typing import Any, NamedTuple, Self

from mooncake_py.notebook import name_of_cell

__all__ = [
    "CheckpointError",
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
    "SparsityError",
    "UnsupportedSyntaxError",
    "UntrackedWriteError",
    "describe",
    "file_and_line",
]


class Location(NamedTuple):
    """A position in the user's source: file, line and, if known, the columns of an expression."""

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
        """Return the source line, if available, and a row of carets below the columns."""
        text = linecache.getline(self.file, self.line).rstrip("\n")
        if not text.strip():
            return []
        stripped = text.lstrip()
        if self.column is None:
            return [shortened(stripped, 0, 0)[0]]
        # Columns count UTF-8 bytes; carets count characters.
        raw = text.encode()
        indent = len(text) - len(stripped)
        start = len(raw[: self.column].decode(errors="replace")) - indent
        stop = len(raw[: self.end_column].decode(errors="replace")) - indent  # None: further lines
        if not stop > start >= 0:
            return [shortened(stripped, 0, 0)[0]]
        line, start, stop = shortened(stripped, start, stop)
        return [line, " " * start + "^" * (stop - start)]


WIDTH = 120  # characters of a line of source in messages
BEFORE = 40  # of these, before an expression far to the right
LEFT_OUT = "..."


def shortened(line: str, start: int, stop: int) -> tuple[str, int, int]:
    """Return a line of source, what is far from an expression in it left out, and its columns."""
    if len(line) <= WIDTH:
        return line, start, stop
    begin = 0 if stop <= WIDTH else max(0, min(start - BEFORE, len(line) - WIDTH))
    end = begin + WIDTH
    before, after = LEFT_OUT * (begin > 0), LEFT_OUT * (end < len(line))
    moved = len(before) - begin
    return f"{before}{line[begin:end]}{after}", start + moved, min(stop, end) + moved


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
    """Base class of the errors of `mooncake_py`.

    Parameters
    ----------
    what : str
        One line that says what happened.
    where : Location, optional
        The user's file and line.
    why, fix : str, optional
        The cause, and the remedy.
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
    """Category of warnings about code that is allowed, but probably a mistake."""


class MissingRuleError(MooncakeError, NotImplementedError):
    """A compiled function without a rule was called on active data.

    Fix: register a rule with ``rrule.register``, ``from_vjp``, ``elementwise``, ``linear`` or, if
    no derivative exists, ``zero_derivative``.
    """


class SourceUnavailableError(MissingRuleError):
    """A Python function has no source to derive a rule from (text run by ``exec``, for example).

    Fix: define the function in a file or a notebook cell, or register a rule for it.
    """


class UnsupportedSyntaxError(MooncakeError, SyntaxError):
    """A function uses syntax that cannot be differentiated; the message lists all places.

    Fix: see the message for each construct.
    """

    def __str__(self) -> str:
        return str(self.args[0])  # copies made without the constructor have no other text


class DerivativeDropError(MooncakeError, TypeError):
    """An operation would keep the number of an active value, and lose its derivative.

    ``float()`` and ``np.asarray`` in C code, ``memoryview`` and ``ctypes`` would lose the
    derivative without an error; `mooncake_py` raises instead. Fix: compute with the value itself,
    or register a rule for the function that converts it.
    """


class NonDifferentiableArgumentError(MooncakeError, TypeError):
    """An argument of differentiation has no derivative: an int, a bool, a str.

    Fix: pass floats (``x.astype(float)``), or choose other ``argnums``.
    """


class NonScalarOutputError(MooncakeError, TypeError):
    """The function of ``grad`` or ``value_and_grad`` does not return one real number.

    Fix: return a scalar, or use ``vjp`` with a cotangent of the output's shape.
    """


class PreparedArgumentsError(MooncakeError, ValueError):
    """A prepared derivative was called with arguments that do not match its example.

    A type, shape, dtype or structure differs, so the reused memory does not fit.

    Fix: prepare another one for these arguments, ``grad(f).prepare(x)``, or call ``grad(f)``.
    """


class PreparedInUseError(MooncakeError, RuntimeError):
    """A prepared derivative was called during another call of it, in this thread or in another.

    Fix: prepare one for each thread; inside the function call ``grad(f)``.
    """


class InvalidModeError(MooncakeError, ValueError):
    """A function does not support this `mode`, or another option: ``grad(f, mode="backward")``.

    Fix: pass "forward" or "reverse"; Jacobians also support "auto".  For other options see the
    message.
    """


class NotHolomorphicError(MooncakeError, ValueError):
    """The function of ``holomorphic_derivative`` has no complex derivative at this point.

    Fix: use ``wirtinger_derivatives``, which exist for every smooth function.
    """


class SharedArgumentsError(MooncakeError, ValueError):
    """A function writes into memory that two arguments share, one of them differentiated.

    A derivative treats arguments, captured arrays and global arrays as separate variables; a write
    into memory that two of them share contradicts this. Fix: for the total derivative pass the
    array once, ``grad(lambda x: f(x, x))(x)``; for separate variables pass a copy.
    """


class PullbackReuseError(MooncakeError, RuntimeError):
    """A pullback was called twice, but its forward pass had changed memory in place.

    Fix: run the forward pass again to get a new pullback.
    """


class SolverError(MooncakeError, ArithmeticError):
    """The result of a solver has no derivative: it has not converged, or is not unique.

    The derivative is that of the equation that the solver solves.  It exists if the equation holds
    and its Jacobian is not singular. Fix: run more iterations of the solver, with a smaller
    tolerance; change the equation if it has no simple root, or hold the result constant with
    `stop_gradient`.
    """


class SparsityError(MooncakeError, ValueError):
    """A sparsity pattern lacks an entry that is not zero, or has another shape than the matrix.

    Give all places that may differ from zero, or leave the pattern out: then it is detected.
    """


class RankError(MooncakeError, RuntimeError):
    """Another rank has raised an exception, or the ranks do not communicate with one another.

    The derivative of a program that runs on several ranks needs all of them.
    Fix: correct the error raised on the named rank; let each send have its receive within the
    derivative.
    """


class NestedDerivativeError(MooncakeError, NotImplementedError):
    """The engine cannot follow an inner derivative, or its second run differs from the first.

    Fix: nest only `grad`, `vjp`, `jvp` and functions made of them; pass data that change between
    runs of a function (from an iterator, a file, the clock) as an argument.
    """


class InvalidTangentError(MooncakeError, TypeError):
    """A tangent, fdata or rdata does not have the type, dtype or shape its primal requires.

    Fix: build it with ``zero_tangent`` or ``randn_tangent``.
    """


class RuleTestError(MooncakeError, AssertionError):
    """``test_rule`` or ``test_tangent`` found a defect; the message names check and argument."""


class InvalidRuleError(MooncakeError, TypeError):
    """A rule violates the contract of rules, or what is declared is none.

    Debug mode detects most violations.

    Fix: see the message; ``test_rule`` checks a single rule.
    """


class NonFiniteDerivativeError(MooncakeError, FloatingPointError):
    """Debug mode: an adjoint turned finite cotangents into nan or infinity.

    Fix: avoid points without a derivative (the square root of 0, a norm of 0), or pass
    ``check_finite=False`` to ``debug_mode`` if you expect infinite derivatives.
    """


class CheckpointError(MooncakeError, RuntimeError):
    """The second run of a checkpointed part of a program differs from the first.

    The cause is external state that has changed: a file, the clock.
    Random numbers are the same in both runs, and the engine restores all other state. Fix: pass the
    external data as an argument, or remove the checkpoint.
    """


class MemoryBudgetError(MooncakeError, MemoryError):
    """A gradient would keep more memory than ``memory=`` allows, also with checkpoints.

    Fix: allow as much as the message says, or keep less in the loop that it names.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        # That of MemoryError, which is found first, refuses classes whose first base is another.
        return Exception.__new__(cls, *args, **kwargs)


class DifferentResultError(MooncakeError, AssertionError):
    """Debug mode: an operation returned another value or type than in the plain call.

    The cause is a rule whose output differs from that of its function, or a bug of this package.
    Fix: return the function's output from the rule; otherwise please report the bug.
    """


class UntrackedWriteError(MooncakeError, RuntimeError):
    """Memory has changed through a write that the engine did not see; debug mode detects it.

    The cause is compiled code that writes through a pointer, a thread, a ``__del__`` method, a rule
    that does not declare the writes of its function, or a function within ``ignore_derivatives``
    that changes data that the derivative depends on. Fix: register a rule with ``mutates=``, or an
    ``overlay`` in Python.
    """
