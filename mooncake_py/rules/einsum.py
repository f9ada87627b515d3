"""`np.einsum` with any subscripts, in both of its spellings.

The output is linear in each operand, so the cotangent of an operand is again an einsum: of the
output's cotangent and the conjugates of the other operands.  Three things need care: an index
that only this operand has (its cotangent is constant along it), an axis of length 1 that was
broadcast (its cotangent is summed), and an index repeated within the operand (its cotangent is
zero off the diagonal).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import from_vjp, linear, overlay, zero_derivative
from mooncake_py.rules.exact_zeros import sum_of_products
from mooncake_py.rules.kinds import Like
from mooncake_py.rules.shortcuts import are_floats, shortcut

__all__ = ["einsum_of_several"]

CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LETTERS = CAPITALS + CAPITALS.lower()  # NumPy's order of the labels 0 to 51


@overlay(np.einsum)
def einsum(*arguments: Any, **options: Any) -> Any:
    """Normalize the spelling, and separate one operand, which may give a view, from several."""
    subscripts, operands = arguments[0], arguments[1:]
    if not isinstance(subscripts, str):
        count = len(arguments) // 2
        operands = arguments[: 2 * count : 2]
        subscripts = written_subscripts(arguments[1::2], arguments[2 * count :])
    if len(operands) == 1:
        return einsum_of_one(subscripts, operands[0], **options)
    return einsum_of_several(subscripts, *operands, **options)


def written_subscripts(inputs: Sequence[Any], output: Sequence[Any]) -> str:
    """Return the subscripts as a string for lists of integers and Ellipsis."""
    terms = [
        "".join("..." if label is Ellipsis else LETTERS[label] for label in labels)
        for labels in (*inputs, *output)
    ]
    written = ",".join(terms[: len(inputs)])
    return f"{written}->{terms[-1]}" if len(output) else written


zero_derivative(written_subscripts, because="returns a string")


def einsum_of_one(subscripts: str, operand: Any, **options: Any) -> Any:
    """Return a diagonal, trace, transpose or sum of one operand, perhaps a view of it."""
    return np.einsum(subscripts, operand, **options)


@linear(einsum_of_one, wrt=1)
def einsum_of_one_adjoint(dy: Any, subscripts: str, operand: Like, **options: Any) -> ndarray:
    terms, output = explicit_labels(subscripts, (operand.ndim,))
    return operand_cotangent(0, dy, terms, output, [operand], False)


def einsum_of_several(subscripts: str, a: Any, b: Any, /, *operands: Any, **options: Any) -> Any:
    """Contract two or more operands; the result is always a new array."""
    return np.einsum(subscripts, a, b, *operands, **options)


def einsum_of_several_jvp(
    tangents: Any, y: Any, subscripts: str, *operands: Any, **options: Any
) -> Any:
    """Return the sum of the contractions with one operand replaced by its tangent."""
    total: Any = None
    for i, t in enumerate(tangents[1:]):
        if t is not None:
            replaced = [*operands[:i], t, *operands[i + 1 :]]
            c = np.einsum(subscripts, *replaced, **options)
            total = c if total is None else total + c
    return total


@from_vjp(einsum_of_several, jvp=einsum_of_several_jvp)
def einsum_of_several_rule(subscripts: str, *operands: Any, **options: Any) -> tuple[Any, Any]:
    """Contract for each operand the cotangent with all other operands."""
    y = np.einsum(subscripts, *operands, **options)
    arrays = [np.asarray(x) for x in operands]

    def einsum_pullback(dy: Any) -> tuple[Any, ...]:
        terms, output = explicit_labels(subscripts, tuple([x.ndim for x in arrays]))
        optimize = bool(options.get("optimize", False)) or len(arrays) > 2

        def cotangent(i: int) -> Any:
            return lambda: operand_cotangent(i, dy, terms, output, arrays, optimize)

        return (None, *map(cotangent, range(len(arrays))))

    return y, einsum_pullback


@lru_cache(maxsize=512)
def explicit_labels(subscripts: str, ndims: tuple[int, ...]) -> tuple[tuple[str, ...], str]:
    """Spell out the ellipses and the output of subscripts that NumPy has accepted."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    named = {label for label in inputs if label.isalpha()}
    lengths = [
        ndim - len(term) + 3 if "..." in term else 0
        for term, ndim in zip(terms, ndims, strict=True)
    ]
    free = [label for label in LETTERS if label not in named]
    broadcast = "".join(free[: max(lengths)])
    if not arrow:
        once = sorted(label for label in named if inputs.count(label) == 1)
        output = "..." + "".join(once)
    spelt = tuple(
        [
            term.replace("...", broadcast[len(broadcast) - n :])
            for term, n in zip(terms, lengths, strict=True)
        ]
    )
    return spelt, output.replace("...", broadcast)


@lru_cache(maxsize=512)
def cotangent_subscripts(
    i: int, terms: tuple[str, ...], output: str, shape: tuple[int, ...]
) -> tuple[str, str, dict[str, int]]:
    """Return the einsum of the cotangent of operand `i`, its labels, and the sizes of its axes."""
    term = terms[i]
    others = [j for j in range(len(terms)) if j != i]
    sizes = dict(zip(term, shape, strict=True))
    reached = set(output).union(*(terms[j] for j in others))
    # A length of 1 is summed over here, as it may have been broadcast.
    labels = "".join(label for label in sizes if label in reached and sizes[label] != 1)
    inputs = ",".join([output, *(terms[j] for j in others)])
    return f"{inputs}->{labels}", labels, sizes


def operand_cotangent(
    i: int, dy: Any, terms: tuple[str, ...], output: str, operands: Sequence[Any], optimize: bool
) -> ndarray:
    """Return the cotangent of operand `i` of an einsum with explicit subscripts."""
    term, shape = terms[i], operands[i].shape
    written, labels, sizes = cotangent_subscripts(i, terms, output, shape)
    factors = [x.conjugate() for j, x in enumerate(operands) if j != i]

    def contraction(*arrays: Any) -> Any:
        return np.einsum(written, *arrays, optimize=optimize)

    g = sum_of_products(contraction, np.asarray(dy), *factors)
    if np.shape(g) == shape and len(sizes) == len(term):
        return g
    lengths = iter(np.shape(g))
    g = np.reshape(g, [next(lengths) if label in labels else 1 for label in sizes])
    g = np.broadcast_to(g, tuple(sizes.values()))
    if len(sizes) == len(term):
        return g
    full = np.zeros(shape, g.dtype)
    np.einsum(f"{term}->{''.join(sizes)}", full)[...] = g  # a view of the diagonal
    return full


def are_contracted(subscripts: Any, *operands: Any, optimize: Any = False) -> bool:
    """Return whether arrays of floats are contracted by a string, or one is looked at otherwise."""
    return type(subscripts) is str and len(operands) > 0 and are_floats(*operands)


shortcut(np.einsum, accepts=are_contracted, jvp=einsum_of_several_jvp)(einsum_of_several_rule)
