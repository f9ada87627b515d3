"""The callables that `grad` and `value_and_grad` return.

Type checkers see their parameters, which are those of the function, and their results.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypedDict, TypeVar, overload

from mooncake_py.boundary.arguments import ArgNums, name_of
from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.modes.reverse.differentiate import value_and_gradient
from mooncake_py.modes.reverse.settings import compiling
from mooncake_py.overriding import override
from mooncake_py.runtime.allowance import Allowance, Disk, MemorySize, allowing
from mooncake_py.runtime.compilation import Compile

if TYPE_CHECKING:
    from mooncake_py.modes.reverse.storage import Workspace
    from mooncake_py.modes.reverse.whole_again import GradientAgain
    from mooncake_py.prepared import Prepared

__all__ = [
    "Derivative", "ForwardGrad", "ForwardValueAndGrad", "Grad", "Mode", "ValueAndGrad", "of_mapped",
]  # fmt: skip

P = ParamSpec("P")
Given = TypeVar("Given")
"""The type of the result of a call."""

Mode = Literal["reverse", "forward"]
OverRanks = Literal["sum", "same"]


class Options(TypedDict, total=False):
    """The parameters of `grad` and `value_and_grad` on which types do not depend."""

    debug: bool
    mode: Mode
    compile: Compile | None
    compile_timeout: float | None
    comm: Any
    output: OverRanks
    memory: MemorySize | None
    memory_on_disk: Disk


class Derivative(Generic[P, Given]):
    """A derivative of a function; it can be pickled if the function can."""

    name = ""

    def __init__(
        self,
        f: Callable[..., Any],
        argnums: ArgNums,
        has_aux: bool,
        debug: bool,
        compile: Compile | None = None,
        compile_timeout: float | None = None,
        memory: Allowance | None = None,
    ) -> None:
        wrapper: Any = self
        functools.update_wrapper(wrapper, f)
        self._parts: tuple[Callable[..., Any], ArgNums, bool, bool] = f, argnums, has_aux, debug
        self._compile: tuple[Compile | None, float | None] = compile, compile_timeout
        self._memory: Allowance | None = memory
        self._again: GradientAgain | None = None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        # Only for those who send it.
        from mooncake_py.pickling import luggage, remade

        f, *_ = self._parts
        return remade, (type(self), (*self._parts, *self._compile, *limits(self)), luggage(f))

    def __repr__(self) -> str:
        f, argnums, *_ = self._parts
        return f"<{type(self).name} of {name_of(f)} with respect to {argnums!r}>"

    @property
    def allowance(self) -> Allowance | None:
        """How much memory may be kept, and what the last run decided; None without a limit."""
        return self._memory

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Given: ...
    @overload
    def __call__(self, **kwargs: Any) -> Given: ...  # `P` does not know all parameters by name
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the derivative."""
        with boundary:
            again = self._again
            if again is not None and not kwargs:
                found = again(args)
                if found is not None:
                    return self.given_back(*found)
            with self.compiling():
                found = self.value_and_gradient(args, kwargs)
                if self.is_compiled and not kwargs:
                    self.ran(args)
            return self.given_back(*found)

    def prepare(self, *args: P.args, **kwargs: P.kwargs) -> Prepared[P, Given]:
        """Return the derivative for arguments of these shapes, which reuses its memory.

        Parameters
        ----------
        *args, **kwargs
            Example arguments.  The derivative runs once on them.

        Returns
        -------
        Prepared
            Callable with the results of the derivative, for arguments of the same types, shapes,
            dtypes and structure.  Each call overwrites the gradient arrays that the previous call
            returned.

        Examples
        --------
        >>> import numpy as np
        >>> from mooncake_py import value_and_grad
        >>> step = value_and_grad(lambda x: np.sum(x * x)).prepare(np.zeros(2))
        >>> value, g = step(np.array([1.0, 2.0]))
        >>> g
        array([2., 4.])
        >>> value, h = step(np.array([3.0, 4.0]))
        >>> g is h
        True
        """
        # Only for those who use it.
        from mooncake_py.prepared import Prepared

        with boundary:
            return Prepared(repr(self).strip("<>"), self, self.run, args, kwargs)

    def run(self, workspace: Workspace, args: Any, kwargs: Any) -> Any:
        """Run the derivative in memory that is reused."""
        with self.compiling():
            value, g = self.value_and_gradient(args, kwargs, workspace)
        return self.given_back(value, workspace.kept(g))

    def value_and_gradient(
        self, args: Any, kwargs: Any, workspace: Workspace | None = None
    ) -> tuple[Any, Any]:
        """Return the value, or value and auxiliary output, and the gradient."""
        raise NotImplementedError

    def given_back(self, value: Any, g: Any) -> Any:
        """Return the part of both that the derivative returns."""
        return value, g

    @property
    def is_compiled(self) -> bool:
        """Whether it is a gradient for which the user waits for compiled code."""
        return False

    def ran(self, args: tuple[Any, ...]) -> None:
        """Note a call in the general way: later ones may have a shorter one."""
        if self._again is None:
            # Only for those who compile.
            from mooncake_py.modes.reverse.whole_again import GradientAgain

            f, argnums, has_aux, _ = self._parts
            self._again = GradientAgain(f, argnums, has_aux)
        self._again.ran(args)

    def compiling(self) -> AbstractContextManager[None]:
        """Return the context manager that sets compilation for a run."""
        _, _, _, debug = self._parts
        compile, compile_timeout = self._compile
        compiled = compiling(compile, debug, compile_timeout)
        return compiled if self._memory is None else within(compiled, self._memory)


def of_mapped(
    derivative: Derivative[..., Any], change: Callable[[Any], Any]
) -> Derivative[..., Any]:
    """Return the same derivative of what `change` makes of its function."""
    f, argnums, has_aux, debug = derivative._parts  # pyright: ignore[reportPrivateUsage]
    compile = derivative._compile  # pyright: ignore[reportPrivateUsage]
    return type(derivative)(change(f), argnums, has_aux, debug, *compile, *limits(derivative))


def limits(derivative: Derivative[..., Any]) -> tuple[Allowance, ...]:
    """Return the arguments of a copy that say how much memory may be kept, if that is limited."""
    limit = derivative.allowance
    return () if limit is None else (Allowance(limit.nbytes, limit.folder),)


@contextmanager
def within(compiled: AbstractContextManager[None], memory: Allowance) -> Iterator[None]:
    """Set compilation and a limit of memory for a run."""
    memory.plans.clear()
    with compiled, allowing(memory):
        yield


class ValueAndGrad(Derivative[P, Given]):
    """The result of :func:`value_and_grad`."""

    name = "value and gradient"

    @property
    @override
    def is_compiled(self) -> bool:
        return self._compile == (True, None) and self._memory is None and not self._parts[3]

    def value_and_gradient(  # noqa: D102
        self, args: Any, kwargs: Any, workspace: Workspace | None = None
    ) -> tuple[Any, Any]:
        return value_and_gradient(*self._parts, args, kwargs, workspace=workspace)


class Grad(ValueAndGrad[P, Given]):
    """The result of :func:`grad`."""

    name = "gradient"

    def given_back(self, value: Any, g: Any) -> Any:  # noqa: D102
        _, _, has_aux, _ = self._parts
        return (g, value[1]) if has_aux else g


class ForwardValueAndGrad(Derivative[P, Given]):
    """The result of :func:`value_and_grad` in forward mode."""

    name = "value and gradient in forward mode"

    def value_and_gradient(  # noqa: D102
        self, args: Any, kwargs: Any, workspace: Workspace | None = None
    ) -> tuple[Any, Any]:
        # Only for those who use it.
        from mooncake_py.modes.forward import gradient

        return value_and_gradient(*self._parts, args, kwargs, gradient.run)


class ForwardGrad(ForwardValueAndGrad[P, Given]):
    """The result of :func:`grad` in forward mode."""

    name = "gradient in forward mode"
    given_back = Grad.given_back
