"""What users call: gradients, pullbacks and derived rules of ordinary Python functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.active import Active
from mooncake_py.derive.boundary import derived_rule
from mooncake_py.derive.collector import collector_paused
from mooncake_py.derive.lift import Lifter, gradient_of, is_differentiable
from mooncake_py.derive.notes import noting
from mooncake_py.derive.reverse import ReverseContext
from mooncake_py.errors import (
    InvalidTangentError,
    NonDifferentiableArgumentError,
    NonScalarOutputError,
)
from mooncake_py.rules.broadcasting import fit
from mooncake_py.testing.copying import copy_jointly

__all__ = ["build_rrule", "grad", "value_and_grad", "vjp"]

ArgNums = int | str | tuple[int | str, ...]


def value_and_grad(
    f: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """Return a function that computes the value and the gradient of `f`.

    Parameters
    ----------
    f : callable
        Ordinary Python and NumPy code that returns one real number.  It may work in place.
    argnums : int, str or tuple of int and str, optional
        The arguments to differentiate with respect to: positions (negative ones count from the
        end) or names.
    has_aux : bool, optional
        If true, `f` returns ``(value, aux)``, and `aux` is passed on without a derivative.

    Returns
    -------
    callable
        With the parameters of `f`; returns ``(value, gradient)`` or
        ``((value, aux), gradient)``.  The gradient looks like the argument: array for array (same
        shape and dtype, new memory), float for float, list, dict, tuple or dataclass of
        gradients; ``NoTangent()`` for parts without a derivative.  For a tuple of `argnums` it is
        a tuple.

    Raises
    ------
    NonScalarOutputError
        If `f` does not return one real number.
    NonDifferentiableArgumentError
        If a chosen argument has no derivative (int, bool, str, ...), or does not exist.
    MissingRuleError, SourceUnavailableError, UnsupportedSyntaxError, DerivativeDropError
        If `f` does something that cannot be differentiated.  Exceptions of `f` itself pass
        unchanged, with a note that names the line.

    Notes
    -----
    All arguments are afterwards as they were before the call, bit for bit, also after an
    exception.  The value is computed before they are restored; if it shares memory with an
    argument it is a copy.  Arguments that share memory have one cotangent: the gradient is the
    total derivative with respect to that memory, for each of them; pass a copy for the partial
    one.  For complex arguments the gradient is dL/dx + i dL/dy.

    Examples
    --------
    >>> import numpy as np
    >>> def energy(u, steps):
    ...     for _ in range(steps):
    ...         u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
    ...     return np.sum(u * u)
    >>> u = np.array([0.0, 1.0, 0.0, 0.0])
    >>> value, du = value_and_grad(energy)(u, 1)
    >>> float(value)
    0.3125
    >>> du
    array([0.25 , 0.625, 0.5  , 0.125])
    >>> u
    array([0., 1., 0., 0.])
    """

    @functools.wraps(f)
    def value_and_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        chosen = choose_arguments(f, argnums, args, kwargs)
        ctx = ReverseContext()
        with collector_paused(), noting(ctx):
            try:
                args, kwargs, mirrors = lift_chosen(ctx, f, chosen, args, kwargs)
                output, aux = run(ctx, f, args, kwargs, has_aux)
                value = scalar_value(f, output)
                if type(output) is Active:
                    output.add(1.0)
                elif type(output) is ndarray and (node := ctx.find(output)) is not None:
                    node.add_shared(np.ones(output.shape, output.dtype))
                ctx.run_backwards()
            finally:
                ctx.roll_back()
        memo: dict[int, Any] = {}
        gradients = tuple(gradient_of(v, m, memo) for v, m in mirrors)
        result = (value, aux) if has_aux else value
        return result, gradients if isinstance(argnums, tuple) else gradients[0]

    return value_and_gradient


def grad(
    f: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `f`.

    Parameters are those of :func:`value_and_grad`.

    Returns
    -------
    callable
        Returns the gradient, or ``(gradient, aux)`` with `has_aux`.

    Examples
    --------
    >>> grad(lambda x: x * x)(3.0)
    6.0
    """
    both = value_and_grad(f, argnums, has_aux)

    @functools.wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, g = both(*args, **kwargs)
        return (g, value[1]) if has_aux else g

    return gradient


def vjp(f: Callable[..., Any], *args: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Return the output of `f` and its pullback.

    Parameters
    ----------
    f : callable
        Returns a number, an array, or a tuple, list or dict of these.
    *args
        Arguments; int and the like are constants.

    Returns
    -------
    y : object
        The output; new memory where it shares memory with an argument.
    pullback : callable
        From a cotangent in the structure of `y` to a tuple with the gradient of each argument.
        `f` runs on copies of the arguments, so the arguments themselves never change, and the
        pullback may be called at any time and again (it then runs `f` forward once more).

    Raises
    ------
    InvalidTangentError
        From the pullback, if the cotangent does not have the structure or the shape of `y`.

    Examples
    --------
    >>> import numpy as np
    >>> y, pullback = vjp(np.square, np.array([1.0, 2.0]))
    >>> pullback(np.array([1.0, 10.0]))
    (array([ 2., 40.]),)
    """
    return _Vjp(f, args).start()


class _Vjp:
    """A forward pass on copies of the arguments, and its pullback."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.f = f
        self.args = copy_jointly(args)
        self.ctx: ReverseContext | None = None

    def start(self) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        return independent(self.forward()), self.pullback

    def forward(self) -> Any:
        ctx = self.ctx = ReverseContext()
        lifter = Lifter(ctx)
        with collector_paused(), noting(ctx):
            try:
                lifted = [lifter.lift(a) for a in self.args]
                self.mirrors = [mirror for _, mirror in lifted]
                self.output, _ = run(ctx, self.f, tuple(v for v, _ in lifted), {}, False)
            except BaseException:
                ctx.roll_back()
                raise
        return self.output

    def pullback(self, cotangent: Any) -> tuple[Any, ...]:
        """Return the gradients of the arguments for a cotangent of the output."""
        if self.ctx is None:
            self.forward()
        ctx = self.ctx
        assert ctx is not None
        self.ctx = None
        with collector_paused(), noting(ctx):
            try:
                seed(ctx, self.output, cotangent, "dy")
                ctx.run_backwards()
            finally:
                ctx.roll_back()
        memo: dict[int, Any] = {}
        return tuple(
            gradient_of(a, m, memo) for a, m in zip(self.args, self.mirrors, strict=True)
        )


def build_rrule(f: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """Return the rule of `f`, in the interface of :func:`~mooncake_py.rrule`.

    Parameters
    ----------
    f : callable
        A function; its rule is derived, or built from a declaration.
    *args
        Arguments like those it will be called with; accepted for symmetry with Mooncake.jl, a
        rule serves any types.

    Returns
    -------
    callable
        ``rule(CoDual(f, ...), *coduals, **kwargs) -> (CoDual, pullback)``.

    Examples
    --------
    >>> from mooncake_py import CoDual, NoFData
    >>> def f(x):
    ...     return x * x
    >>> out, pullback = build_rrule(f, 3.0)(CoDual(f, NoFData()), CoDual(3.0, NoFData()))
    >>> out, pullback(1.0)
    (CoDual(9.0, NoFData()), (NoRData(), 6.0))
    """
    return derived_rule


# Arguments.


def choose_arguments(
    f: Callable[..., Any], argnums: ArgNums, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[int | str]:
    """Return for each of `argnums` the position or the keyword under which it was passed."""
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    return [locate_argument(f, name, args, kwargs) for name in wanted]


def locate_argument(
    f: Callable[..., Any], wanted: int | str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> int | str:
    """Find one argument among those passed."""
    if isinstance(wanted, str):
        if wanted in kwargs:
            return wanted
        names = parameter_names(f)
        if wanted in names and names.index(wanted) < len(args):
            return names.index(wanted)
        raise NonDifferentiableArgumentError(
            f"argnums names the argument {wanted!r}, which was not passed to {name_of(f)}",
            why=f"{name_of(f)} was called with {len(args)} positional arguments and the keywords "
            f"{sorted(kwargs)}; its parameters are {names}",
            mend="pass the argument, or choose other argnums",
        )
    if not -len(args) <= wanted < len(args):
        names = parameter_names(f)
        if 0 <= wanted < len(names) and names[wanted] in kwargs:
            return names[wanted]
        raise NonDifferentiableArgumentError(
            f"argnums={wanted} is out of range: {name_of(f)} was called with {len(args)} "
            "positional arguments",
            mend="choose other argnums, or name the argument: argnums='name'",
        )
    return wanted % len(args)


def parameter_names(f: Callable[..., Any]) -> list[str]:
    """Return the names of the positional parameters of a function."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def lift_chosen(
    ctx: ReverseContext,
    f: Callable[..., Any],
    chosen: list[int | str],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any], list[tuple[Any, Any]]]:
    """Make the chosen arguments active; return all arguments, and originals with mirrors."""
    lifter = Lifter(ctx)
    positional, keywords = list(args), dict(kwargs)
    mirrors: list[tuple[Any, Any]] = []
    for key in chosen:
        original = args[key] if isinstance(key, int) else kwargs[key]
        lifted, mirror = lifter.lift(original)
        if not is_differentiable(mirror):
            raise not_differentiable(f, key, original)
        if isinstance(key, int):
            positional[key] = lifted
        else:
            keywords[key] = lifted
        mirrors.append((original, mirror))
    return tuple(positional), keywords, mirrors


def not_differentiable(
    f: Callable[..., Any], key: int | str, value: Any
) -> NonDifferentiableArgumentError:
    """Return the error for an argument without a derivative."""
    names = parameter_names(f)
    label = key if isinstance(key, str) else names[key] if key < len(names) else None
    place = f"argument {key}" + (f" ({label!r})" if isinstance(key, int) and label else "")
    kind = (
        f"an array of dtype {value.dtype}"
        if isinstance(value, ndarray)
        else f"{value!r} of type {type(value).__name__}"
        if isinstance(value, (int, bool, str, type(None)))
        else f"a {type(value).__name__} without floats"
    )
    mend = (
        f"pass floats: {label or 'x'}.astype(float)"
        if isinstance(value, ndarray)
        else f"pass a float: {float(value)}"
        if isinstance(value, int)
        else "choose other argnums"
    )
    return NonDifferentiableArgumentError(
        f"cannot take the gradient of {name_of(f)} with respect to {place}: it is {kind}",
        why="only float and complex values have derivatives",
        mend=mend,
    )


def name_of(f: Any) -> str:
    """Return a name for a callable, for messages."""
    return getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or repr(f)


# Running.


def run(
    ctx: ReverseContext, f: Callable[..., Any], args: Any, kwargs: Any, has_aux: bool
) -> tuple[Any, Any]:
    """Run `f` forward; an error that user code has swallowed is raised here."""
    output = ctx.call(f, *args, **kwargs)
    if ctx.failure is not None:
        raise ctx.failure
    if not has_aux:
        return output, None
    if type(output) is not tuple or len(output) != 2:
        raise NonScalarOutputError(
            f"with has_aux=True, {name_of(f)} must return (value, aux)",
            why=f"it returned a {type(output).__name__}",
            mend="return a tuple of the value and anything else",
        )
    return output[0], independent(output[1])


def independent(value: Any) -> Any:
    """Return an output with plain numbers, and copies of arrays, which restoring may change."""
    t = type(value)
    if t is Active:
        return value.primal
    if t is ndarray:
        return value.copy()
    if isinstance(value, tuple):
        parts = [independent(v) for v in value]
        return t(*parts) if hasattr(value, "_fields") else t(parts)
    if t is list:
        return [independent(v) for v in value]
    if t is dict:
        return {key: independent(v) for key, v in value.items()}
    return value


def scalar_value(f: Callable[..., Any], output: Any) -> Any:
    """Return the value of a function that must return one real number."""
    value = output.primal if type(output) is Active else output
    if isinstance(value, ndarray):
        if value.size == 1 and value.dtype.kind == "f":
            return value.copy()
        shape = f"an array of shape {value.shape} and dtype {value.dtype}"
    elif isinstance(value, (float, np.floating, int, np.integer)) and not isinstance(value, bool):
        return value
    else:
        shape = f"a value of type {type(value).__name__}"
    raise NonScalarOutputError(
        f"{name_of(f)} returned {shape}, but a gradient needs one real number",
        why="the gradient is defined for functions with a real scalar result",
        mend="reduce it, for example with np.sum, or use vjp with a cotangent of that shape",
    )


def seed(ctx: ReverseContext, output: Any, cotangent: Any, path: str) -> None:
    """Give a cotangent to an output of any structure."""
    if isinstance(output, (tuple, list)):
        if not isinstance(cotangent, (tuple, list)) or len(cotangent) != len(output):
            raise wrong_cotangent(path, f"a sequence of {len(output)}", cotangent)
        for i, (part, d) in enumerate(zip(output, cotangent, strict=True)):
            seed(ctx, part, d, f"{path}[{i}]")
    elif isinstance(output, dict):
        for key, part in output.items():
            seed(ctx, part, cotangent[key], f"{path}[{key!r}]")
    elif type(output) is Active:
        if np.shape(cotangent) != ():
            raise wrong_cotangent(path, "a number", cotangent)
        output.add(np.asarray(cotangent)[()])
    elif type(output) is ndarray:
        node = ctx.find(output)
        if np.shape(cotangent) != output.shape:
            raise wrong_cotangent(path, f"an array of shape {output.shape}", cotangent)
        if node is not None:
            node.add_shared(fit(np.array(cotangent), output.shape, output.dtype))


def wrong_cotangent(path: str, expected: str, got: Any) -> InvalidTangentError:
    """Return the error for a cotangent that does not fit the output."""
    kind = f"shape {got.shape}" if isinstance(got, ndarray) else f"{type(got).__name__} {got!r}"
    return InvalidTangentError(
        f"the cotangent {path} does not fit the output: expected {expected}, got {kind}",
        mend="pass a cotangent in the structure and shape of the output",
    )
