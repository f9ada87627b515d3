"""``np.einsum`` with subscripts that are written down, as one loop over all letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mooncake_py.compiler.native.building.arguments import Given, array_of, written
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.narrow import alike, kind_of_all
from mooncake_py.compiler.native.building.values import NUMPY_TYPES, Array, Number, Unfit, Value
from mooncake_py.compiler.native.functions.reductions import computed, new_sums, total
from mooncake_py.compiler.native.regions.linear import ONE, ZERO
from mooncake_py.compiler.native.regions.region import BOOL, REAL
from mooncake_py.compiler.regions.ir import Expr, Op

__all__ = ["Subscripts", "contracted", "einsum"]


class Subscripts(NamedTuple):
    """The letters of the axes of each operand, and of the result."""

    operands: list[str]
    result: str


def einsum(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.einsum(subscripts, *operands)``."""
    if not set(given) <= {"optimize"} or len(args) < 2:
        raise Unfit("np.einsum with options other than optimize", b.place)
    arrays = [array_of(b, a) for a in args[1:]]
    kind = kind_of_all(b, arrays)
    if kind not in REAL or BOOL in {a.kind for a in arrays}:
        raise Unfit(f"np.einsum of {said(*arrays)}: use arrays of floats", b.place)
    letters = parsed(b, written(b, args[0]), [len(a.shape) for a in arrays])
    if len(arrays) == 1 and set(letters.operands[0]) == set(letters.result):
        raise Unfit("np.einsum that returns a view: use a transpose or a diagonal", b.place)
    if given and not letters.result:
        raise Unfit("einsum by a path, which returns an array without axes", b.place)
    found = contracted(b, letters, arrays)
    if isinstance(found, Array) and not given and not may_turn(letters):
        b.layouts.follow(found, arrays)  # by a path it is turned otherwise
    return found


def contracted(b: Builder, letters: Subscripts, arrays: Sequence[Array]) -> Value:
    """Return the sum of products of elements over all letters that the result has not."""
    b.is_exact = False  # NumPy adds products in an order of its own
    kind = kind_of_all(b, arrays)
    if kind not in REAL or BOOL in {a.kind for a in arrays}:
        raise Unfit(f"a product of {said(*arrays)}: use arrays of floats", b.place)
    arrays = [computed(b, a) for a in alike(b, arrays) if isinstance(a, Array)]
    sizes = sizes_of(b, letters.operands, arrays)
    order = in_order(letters)

    def term(at: Sequence[Expr]) -> Expr:
        places = dict(zip(order, at, strict=True))
        pairs = zip(arrays, letters.operands, strict=True)
        product, *others = [element(a, names, places) for a, names in pairs]
        for part in others:
            product = Op("mul", (product, part), place=b.place)
        return product

    extents = [sizes[letter] for letter in order]
    if not letters.result:
        return Number(total(b, "einsum", extents, term, kind), NUMPY_TYPES[kind])
    sums = new_sums(b, [sizes[letter] for letter in letters.result], kind, "einsum")
    own = [order.index(letter) for letter in letters.result]
    along = [k for k in range(len(order)) if k not in own]
    b.reduce("einsum", extents, along, term, lambda at: sums.at(tuple([at[k] for k in own])))
    return sums


def may_turn(letters: Subscripts) -> bool:
    """Return True if NumPy may keep the result in another order, as the operands go along it."""
    behind: dict[str, set[str]] = {}
    for names in letters.operands:
        for k, letter in enumerate(names):
            behind.setdefault(letter, set()).update(names[k + 1 :])
    for letter in behind:  # what is behind those that are behind
        for others in behind.values():
            if letter in others:
                others |= behind[letter]
    result = letters.result
    return any(c in behind[later] for k, later in enumerate(result) for c in result[:k])


def parsed(b: Builder, text: object, ndims: Sequence[int]) -> Subscripts:
    """Return subscripts by operands; without ``->`` the result has the letters that stand once."""
    if not isinstance(text, str):
        raise Unfit("np.einsum without subscripts in a constant string", b.place)
    left, arrow, result = text.replace(" ", "").partition("->")
    operands = left.split(",")
    letters = "".join(operands)
    if not arrow:
        result = "".join(sorted(c for c in letters if letters.count(c) == 1))
    if (
        not (letters + result).isalpha()
        or [*map(len, operands)] != [*ndims]
        or len(set(result)) < len(result)
        or not set(result) <= set(letters)
    ):
        raise Unfit("np.einsum with an ellipsis, or with subscripts that do not fit", b.place)
    return Subscripts(operands, result)


def sizes_of(b: Builder, operands: Sequence[str], arrays: Sequence[Array]) -> dict[str, Expr]:
    """Return the lengths of the axes by their letters; those of one are broadcast."""
    found: dict[str, Expr] = {}
    for names, a in zip(operands, arrays, strict=True):
        for letter, n in zip(names, a.shape, strict=True):
            known = found.setdefault(letter, n)
            if known == ONE:
                found[letter] = n
            elif n != ONE:
                b.check("eq", n, known)
    return found


def in_order(letters: Subscripts) -> list[str]:
    """Return the letters as loops run over them: innermost that along which most memory goes."""
    summed = dict.fromkeys("".join(letters.operands))
    every = [*letters.result, *(c for c in summed if c not in letters.result)]
    last = [names[-1] for names in (*letters.operands, letters.result) if names]
    innermost = max(every, key=last.count)
    return [*(c for c in every if c != innermost), innermost]


def element(a: Array, names: str, places: dict[str, Expr]) -> Expr:
    """Return the element of an operand at what its letters stand for."""
    index = [ZERO if n == ONE else places[letter] for letter, n in zip(names, a.shape, strict=True)]
    return a.at(tuple(index))
