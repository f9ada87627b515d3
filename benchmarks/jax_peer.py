"""JAX on the kernels rewritten for it: jitted gradients, and how much was rewritten."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

import ast
import difflib
import importlib.util
import inspect
import re
import textwrap
import types
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.kernel import Kernel

Run = Callable[..., Any]


def is_installed() -> bool:
    """Whether JAX can be imported."""
    return importlib.util.find_spec("jax") is not None


def jax_gradient(kernel: Kernel, arguments: tuple[Any, ...]) -> Run:
    """Return a function that runs JAX's jitted gradient of a kernel at its arguments.

    The arguments are on JAX's device beforehand, so the time of a call is that of the gradient.
    Ints are static: a loop needs a number of passes that is known.  The function ignores what it
    is called with, and returns when the result is there.
    """
    import jax

    from benchmarks.jax_kernels import JAX_KERNELS

    static = tuple(n for n, argument in enumerate(arguments) if isinstance(argument, int))
    differentiated = jax.value_and_grad(JAX_KERNELS[kernel.name], kernel.argnums)
    jitted = jax.jit(differentiated, static_argnums=static)
    given = tuple(as_arrays(argument) for argument in arguments)

    def run(*_: Any) -> Any:
        return jax.block_until_ready(jitted(*given))

    return run


def as_arrays(argument: Any) -> Any:
    """Return an argument as JAX takes it: arrays on its device, also for lists of floats."""
    import jax.numpy as jnp

    if isinstance(argument, int):
        return argument
    if isinstance(argument, list) and not isinstance(argument[0], float):
        return [jnp.asarray(part) for part in argument]
    return jnp.asarray(argument)


def as_given(result: Any, kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
    """Return a value and gradients with lists where the arguments are lists of floats."""
    value, gradients = result
    pairs = zip(kernel.argnums, gradients, strict=True)
    return value, tuple(g.tolist() if of_floats(arguments[n]) else g for n, g in pairs)


def of_floats(argument: Any) -> bool:
    """Whether an argument is a list of floats."""
    return isinstance(argument, list) and isinstance(argument[0], float)


def rewritten_lines(kernel: Kernel) -> tuple[int, int]:
    """Return how many lines of a kernel its JAX version does not have, and how many it has.

    Annotations, docstrings, comments and indentation do not count, nor does the name of the
    module a function is taken from.
    """
    from benchmarks.jax_kernels import JAX_KERNELS

    ours, theirs = lines_of(kernel.function), lines_of(JAX_KERNELS[kernel.name])
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    return len(ours) - same, len(ours)


def lines_of(function: Run) -> list[str]:
    """Return the lines of a function and of those of its module that it calls."""
    text = "\n".join(ast.unparse(bare(f)) for f in with_callees(function))
    return [re.sub(r"\b(jnp|math)\.", "np.", line.strip()) for line in text.splitlines()]


def with_callees(function: Run) -> Iterator[types.FunctionType]:
    """Yield a function, and each function of its module that it calls, once."""
    found: list[Any] = [function]
    for f in found:
        yield f
        for name in names_in(f.__code__):
            callee = f.__globals__.get(name)
            of_same_module = getattr(callee, "__module__", None) == function.__module__
            if isinstance(callee, types.FunctionType) and of_same_module and callee not in found:
                found.append(callee)


def names_in(code: types.CodeType) -> Iterator[str]:
    """Yield the global names and attributes that a function reads, and those within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)


def bare(function: Run) -> ast.stmt:
    """Return the definition of a function without annotations and docstrings."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            if ast.get_docstring(node) is not None:
                del node.body[0]
        elif isinstance(node, ast.arg):
            node.annotation = None
    return tree


def use_float64() -> None:
    """Have JAX compute in float64 from here on, as NumPy does."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.jit(lambda x: x + 1.0)(1.0)
