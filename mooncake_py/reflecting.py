"""Functions by which users see what the engine does with a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.derivatives import Derivative
from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.modes.reverse.settings import compiling
from mooncake_py.runtime.compilation import Compile, compiles

if TYPE_CHECKING:
    from mooncake_py.reflection.profile import GradientProfile
    from mooncake_py.reflection.rules import RuleUse
    from mooncake_py.reflection.tape import TapeRecord

__all__ = ["profile_gradient", "rewritten", "rule_of", "show", "tape_of"]

# Modules that these need are imported when they are called.


def show(
    f: Callable[..., Any],
    /,
    *args: Any,
    rewritten: bool = False,
    compile: Compile | None = None,
    **kwargs: Any,
) -> None:
    """Print how a function is differentiated.

    Without arguments: its source, with marks in the margin that say how each line runs, or which
    rule answers for it.  With arguments: the tape of the call, see :func:`tape_of`.  Where
    functions are compiled: what share of the call is, what that gains, and the three lines that
    cost most because they are not, for which the function runs several times; and which functions
    are compiled, and which line stopped that for the others.  A gradient with ``memory=`` runs, and
    what it has decided for the loops is printed.

    Parameters
    ----------
    f : callable
        A function, lambda, method or class, or a function of NumPy.
    *args, **kwargs
        Arguments of a call.
    rewritten : bool, optional
        Print the code as the engine runs it instead, see :func:`~mooncake_py.rewritten`.
    compile : bool or "auto", optional
        As for :func:`~mooncake_py.grad`.

    Raises
    ------
    SourceUnavailableError, UnsupportedSyntaxError
        As a derivative of `f` would.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import show
    >>> def f(x):
    ...     x[0] = x[1] * 2
    ...     return x.sum()
    >>> show(f)  # doctest: +ELLIPSIS
    mooncake_py.reflecting.f: derived from its source, defined at ...
    <BLANKLINE>
       1  def f(x):
    =  2      x[0] = x[1] * 2
    -  3      return x.sum()
    <BLANKLINE>
    =    one entry, if an operand is active
    -    operations not fused: an entry for each, if an operand is active
    """
    from mooncake_py.reflection.compiled import compiled_outcomes, grouped_lines

    if isinstance(f, Derivative) and f.allowance is not None and (args or kwargs):
        from mooncake_py.recomputation.plan import described

        f(*args, **kwargs)
        print(*described(f.allowance), sep="\n")
        return
    with boundary, compiling(compile):
        if args or kwargs:
            from mooncake_py.reflection.tape import tape_and_functions

            tape, called = tape_and_functions(f, args, kwargs)
            if compiles():
                from mooncake_py.reflection.gain import gain_lines

                print(*gain_lines(f, args, kwargs, called), sep="\n")
            print(tape)
        else:
            text = rewritten_text(f) if rewritten else marked_text(f)
            print(*grouped_lines(compiled_outcomes([f])), text, sep="\n")


def marked_text(f: Callable[..., Any]) -> str:
    """Return the source of a function with marks, or which rule answers for it."""
    from mooncake_py.reflection.marked import marked_lines
    from mooncake_py.reflection.rules import rule_in_use

    use = rule_in_use(f)
    lines = [] if use.derived is None else ["", *marked_lines(f, use.derived)]
    return "\n".join([str(use), *lines])


def rewritten(f: Callable[..., Any], /) -> str:
    """Return the code of a function as the engine runs it, to be read.

    Operations are calls of a context ``C``, which gives them their meaning; ``C.fused(e)`` is an
    expression that is recorded as a whole.  The user's line stands as a comment above what was
    made of it.  Below stand the forms of fused expressions that were generated so far, by calls:
    what runs forward, and ``pull``, what runs on the way back.  For a function with a rule it is
    said which, and where it was declared.

    Parameters
    ----------
    f : callable
        A function, lambda, method or class, or a function of NumPy's.

    Returns
    -------
    str

    Raises
    ------
    SourceUnavailableError, UnsupportedSyntaxError
        As a derivative of `f` would.
    """
    with boundary:
        return rewritten_text(f)


def rewritten_text(f: Callable[..., Any]) -> str:
    """Return the code of a function as the engine runs it."""
    from mooncake_py.frontend.load import derive
    from mooncake_py.reflection.code import code_lines, quick_forms
    from mooncake_py.reflection.rules import rule_in_use

    use = rule_in_use(f)
    lines = [f"# {use}"]
    if use.derived is not None:
        derived = derive(use.derived.__code__, use.derived.__globals__)
        lines += [*code_lines(derived), *quick_forms(derived)]
    return "\n".join(lines)


def tape_of(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> TapeRecord:
    """Run a function forward and return what is recorded; everything is restored afterwards.

    Parameters
    ----------
    f : callable
    *args, **kwargs
        Arguments; all that have derivatives are active.

    Returns
    -------
    TapeRecord
        With ``entries`` in the order of execution: place, source, operation, shape, what is saved
        and how many bytes; and, where functions are compiled, ``compiled``, lines that say which.
        Its text is a table.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import tape_of
    >>> tape = tape_of(lambda x: np.cumsum(np.sin(x) * x), np.ones(100))
    >>> [(entry.operation, entry.nbytes) for entry in tape.entries]
    [('fused expression', 800), ('linear: numpy.cumsum', 0)]
    """
    from mooncake_py.reflection.tape import record_tape

    with boundary:
        return record_tape(f, args, kwargs)


def rule_of(f: Callable[..., Any], /) -> RuleUse:
    """Return which rule answers for a function, and where it was declared.

    Parameters
    ----------
    f : callable

    Returns
    -------
    RuleUse
        With ``kind``, ``where`` (file and line) and ``rule``; its text is a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import rule_of
    >>> print(rule_of(np.sin))  # doctest: +ELLIPSIS
    numpy.sin: a rule by partial derivatives, declared at ...:...
    """
    from mooncake_py.reflection.rules import rule_in_use

    with boundary:
        return rule_in_use(f)


def profile_gradient(
    f: Callable[..., Any], /, *args: Any, compile: Compile | None = None, **kwargs: Any
) -> GradientProfile:
    """Measure where the time of a gradient goes and what it keeps, by lines of the source.

    Parameters
    ----------
    f : callable
        Returns one real number.
    *args, **kwargs
        Arguments; all that have derivatives are active.  They are restored.
    compile : bool or "auto", optional
        As for :func:`~mooncake_py.grad`.

    Returns
    -------
    GradientProfile
        With ``lines``, the costliest first, each with seconds forward and reverse, entries on the
        tape and bytes saved; the totals; and, where functions are compiled, ``compiled``, lines
        that say which.  Its text is a table.

    Notes
    -----
    `f` runs twice, first to derive what it calls.  Being told of lines and calls costs some
    microseconds for each line, only a part of which is subtracted: figures of loops over numbers
    are two to four times too large, those of operations on arrays are not.  Calls of library
    functions count for the line that calls them; other threads do not count.
    """
    from mooncake_py.reflection.profile import profile

    with boundary, compiling(compile):
        return profile(f, args, kwargs)
