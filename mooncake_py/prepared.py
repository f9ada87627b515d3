"""Derivatives for arguments like an example, which keep memory from call to call."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Generic, overload

from mooncake_py.boundary.arguments import name_of, require_callable
from mooncake_py.boundary.example import Example
from mooncake_py.derivatives import Given, P
from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.errors import PreparedArgumentsError, PreparedInUseError
from mooncake_py.higher_order import hvp, value_and_hvp
from mooncake_py.interface import grad, jvp, value_and_grad
from mooncake_py.modes.reverse.storage import Workspace
from mooncake_py.runtime.enclosing import enclosing

__all__ = ["Prepared", "prepare"]

Run = Callable[[Workspace, tuple[Any, ...], dict[str, Any]], Any]


class Prepared(Generic[P, Given]):
    """A derivative for arguments like those of an example; call it as the derivative itself.

    Made by the method `prepare` of what :func:`grad` and :func:`value_and_grad` return, and by
    :func:`prepare`.  It checks that arguments have the types, shapes, dtypes and structure of the
    example, keeps the memory that the computation needs, and gives results in the same arrays:
    what one call returned is overwritten by the next.

    Parameters
    ----------
    name : str
        Of the derivative, for messages.
    derivative : callable
        What is called instead inside another derivative, where results are new memory.
    run : callable
        Runs the derivative in memory that is kept.
    args, kwargs
        The example, on which it runs once.

    Raises
    ------
    PreparedArgumentsError
        From a call: an argument is not like that of the example.
    PreparedInUseError
        From a call: another one has not ended, in this thread or in another.

    Notes
    -----
    Arrays among the results are kept, also those in a tuple of gradients; gradients of lists,
    dicts and objects are new in each call, and so are auxiliary outputs.
    """

    def __init__(
        self, name: str, derivative: Callable[..., Any], run: Run, args: Any, kwargs: Any
    ) -> None:
        wrapper: Any = self
        functools.update_wrapper(wrapper, derivative)
        self.name = name
        self.derivative = derivative
        self.run = run
        self.workspace = Workspace()
        self.lock = threading.Lock()
        self.holder = 0
        self.example = Example(name, derivative, args, kwargs)
        self(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<prepared {self.name}>"

    def __reduce__(self) -> Any:
        raise TypeError(
            f"{self!r} cannot be copied or pickled, as it keeps memory of its own; send the "
            "derivative, and prepare it where it runs"
        )

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Given: ...
    @overload
    def __call__(self, **kwargs: Any) -> Given: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the derivative.

        Returns
        -------
        object
            What the derivative returns, in arrays that the next call overwrites.
        """
        with boundary:
            if not self.lock.acquire(blocking=False):
                raise self.in_use()
            self.holder = threading.get_ident()
            try:
                if enclosing() is not None:  # what runs outside keeps the results
                    return self.derivative(*args, **kwargs)
                self.example.require(args, kwargs)
                return self.run(self.workspace, args, kwargs)
            finally:
                self.lock.release()

    def in_use(self) -> PreparedInUseError:
        """Return the error for a call while another one runs."""
        inside = self.holder == threading.get_ident()
        where = "within a call of itself" if inside else "while another thread runs it"
        return PreparedInUseError(
            f"{self.name} was called {where}, and it is prepared for one call at a time",
            why="both would write in the memory that it keeps",
            fix="call the derivative without preparing it there"
            if inside
            else "prepare one for each thread",
        )


def prepare(
    derivative: Callable[..., Any], f: Callable[..., Any], *example: Any, **options: Any
) -> Prepared[..., Any]:
    """Return a derivative of `f` for arguments like an example, which keeps memory between calls.

    Parameters
    ----------
    derivative : {jvp, hvp, value_and_hvp, grad, value_and_grad}
    f : callable
    *example
        What the derivative takes after `f`: primals and tangents of `jvp`, arguments and `v` of
        `hvp`, the arguments of `f` for gradients.  The derivative runs once on them.
    **options
        Other parameters of the derivative, such as `argnums` and `compile`.

    Returns
    -------
    Prepared
        A callable that takes what the example is, and gives what the derivative gives.  Arrays
        are the same in each call: what one call returned is overwritten by the next.

    Raises
    ------
    PreparedArgumentsError
        If the derivative is another one: the pullback of :func:`vjp` may be called at any time,
        so that nothing of it can be overwritten.

    Notes
    -----
    For gradients there is also the method: ``value_and_grad(f).prepare(x)``.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import hvp, prepare
    >>> x, v = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    >>> step = prepare(hvp, lambda x: np.sum(x ** 3), (x,), v)
    >>> step((x,), v)
    array([6., 0.])
    """
    with boundary:
        require_callable(f)
        if derivative in (grad, value_and_grad):
            return derivative(f, **options).prepare(*example)
        if derivative not in (jvp, hvp, value_and_hvp):
            raise PreparedArgumentsError(
                f"prepare does not know {name_of(derivative)}",
                why="what a prepared call returned is overwritten by the next: jvp, hvp, "
                "value_and_hvp and gradients\ngive results that can be",
                fix="call it without preparing it",
            )
        of_f = functools.partial(derivative, f, **options)

        def run(workspace: Workspace, args: Any, kwargs: Any) -> Any:
            return workspace.kept(of_f(*args, **kwargs))

        return Prepared(f"{name_of(derivative)} of {name_of(f)}", of_f, run, example, {})
