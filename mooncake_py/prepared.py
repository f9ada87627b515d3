"""Derivatives for arguments of fixed shapes, which reuse their memory from call to call."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Generic, overload

from mooncake_py.boundary.arguments import name_of, require_callable
from mooncake_py.boundary.example import Example
from mooncake_py.compiler.native.machine.background import READER, WORKER
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
    """A derivative for arguments that match an example; call it like the derivative itself.

    Create one with the method `prepare` of the results of :func:`grad` and :func:`value_and_grad`,
    or with :func:`prepare`.  It checks that arguments have the types, shapes, dtypes and structure
    of the example, and reuses the memory of the computation and of the results: each call
    overwrites the arrays that the previous call returned.

    Parameters
    ----------
    name : str
        Name of the derivative, for messages.
    derivative : callable
        Called instead inside another derivative, where results are new memory.
    run : callable
        Runs the derivative in memory that is reused.
    args, kwargs
        The example arguments, on which the derivative runs once.

    Raises
    ------
    PreparedArgumentsError
        If an argument of a call does not match the example.
    PreparedInUseError
        If another call is running, in this thread or in another.

    Notes
    -----
    Result arrays are reused, also those in a tuple of gradients; gradients of lists, dicts and
    objects, and auxiliary outputs, are new in each call.
    """

    def __init__(
        self, name: str, derivative: Callable[..., Any], run: Run, args: Any, kwargs: Any
    ) -> None:
        wrapper: Any = self
        functools.update_wrapper(wrapper, derivative)
        self.name: str = name
        self.derivative: Callable[..., Any] = derivative
        self.run: Run = run
        self.workspace: Workspace = Workspace()
        self.lock: threading.Lock = threading.Lock()
        self.example: Example = Example(name, derivative, args, kwargs)
        self(*args, **kwargs)
        READER.wait()  # until code is compiled, if a thread does that
        WORKER.wait()  # until it is at its best

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
            The result of the derivative, in arrays that the next call overwrites.
        """
        with boundary:
            if not self.lock.acquire(blocking=False):
                raise self.in_use()
            self.workspace.thread = threading.get_ident()
            try:
                outer = enclosing()
                if outer is not None:  # what runs outside keeps the results
                    return outer.call(self.derivative, *args, **kwargs)
                self.example.require(args, kwargs)
                return self.run(self.workspace, args, kwargs)
            finally:
                self.lock.release()

    def in_use(self) -> PreparedInUseError:
        """Return the error for a call while another one runs."""
        inside = self.workspace.thread == threading.get_ident()
        where = "within a call of itself" if inside else "while another thread runs it"
        return PreparedInUseError(
            f"{self.name} was called {where}, and it is prepared for one call at a time",
            why="both calls would write into the same memory",
            fix="call the derivative without preparing it there"
            if inside
            else "prepare one for each thread",
        )


def prepare(
    derivative: Callable[..., Any], f: Callable[..., Any], *example: Any, **options: Any
) -> Prepared[..., Any]:
    """Return a derivative of `f` for arguments that match an example, which reuses its memory.

    Parameters
    ----------
    derivative : {jvp, hvp, value_and_hvp, grad, value_and_grad}
    f : callable
    *example
        The arguments of the derivative after `f`: primals and tangents of `jvp`, arguments and `v`
        of `hvp`, the arguments of `f` for gradients.  The derivative runs once on them.
    **options
        Other parameters of the derivative, such as `argnums` and `compile`.

    Returns
    -------
    Prepared
        Callable with the parameters of the example and the results of the derivative.  Each call
        overwrites the arrays that the previous call returned.

    Raises
    ------
    PreparedArgumentsError
        If `derivative` is another function, such as :func:`vjp`, whose pullback may be called at
        any time, so that its memory cannot be reused.

    Notes
    -----
    Gradients also have the method `prepare`: ``value_and_grad(f).prepare(x)``.

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
                why="each prepared call overwrites the results of the previous one, which only "
                "jvp, hvp,\n"
                "value_and_hvp and gradients allow",
                fix="call it without preparing it",
            )
        of_f = functools.partial(derivative, f, **options)

        def run(workspace: Workspace, args: Any, kwargs: Any) -> Any:
            return workspace.kept(of_f(*args, **kwargs))

        return Prepared(f"{name_of(derivative)} of {name_of(f)}", of_f, run, example, {})
