"""In which order NumPy keeps the elements of new arrays with several axes.

Compiled code keeps them in C order.  NumPy follows the operands: what it computes from a transposed
matrix, say, is in Fortran order.  Where it does so a matrix that is given back would have other
strides than the program's own, and `ravel` of it would be a copy, not a view.

An operand with several axes in C order settles that of the result; those with one do not matter.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import combinations

from mooncake_py.compiler.native.building.values import Array, ComplexArray, Index, Unfit
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, linear
from mooncake_py.compiler.regions.ir import Const, Expr, Load, Name, Op, walk
from mooncake_py.syntax.nodes import Place

__all__ = ["Layouts"]

Pair = tuple[Name, Name]


class Layouts:
    """Of which new arrays it is known that NumPy keeps them in C order.

    Parameters
    ----------
    made : container of str
        All new arrays.

    Attributes
    ----------
    needs : dict of str to frozenset of str
        By the name of an array the inputs that must be in C order for it to be.
    varying : set of str
        Further conditions on such arrays that a loop rebinds.
    silent : set of str
        Arrays of ours, which NumPy does not make, and which tell of no order.
    is_open : bool
        Whether a loop may rebind an array to one in another order.
    """

    def __init__(self, made: Container[str]) -> None:
        self.made = made
        self.needs: dict[str, frozenset[str]] = {}
        self.varying: set[str] = set()
        self.silent: set[str] = set()
        self.is_open = False

    def certain(self, a: Array) -> None:
        """Note that NumPy keeps a new array in C order in any case."""
        self.needs[a.base] = frozenset()

    def follow(self, a: Array, sources: Iterable[Array]) -> None:
        """Note that NumPy keeps a new array in the order of others."""
        found = self.of_all(sources)
        if found is None:
            self.needs.pop(a.base, None)
        else:
            self.needs[a.base] = found

    def is_ours(self, a: Array, source: Array) -> None:
        """Note that an array holds a part of what NumPy computes; it tells what its source did."""
        if axes_of(a) < 2 or self.keeps_order(source):
            return
        self.needs.pop(a.base, None)
        if not any(self.directions(source)):
            self.silent.add(a.base)

    def rebind(self, a: Array, source: Array) -> None:
        """Note that the variable of an array is bound to another one in a loop."""
        if axes_of(a) < 2:
            return
        found = self.of(source)
        if found is None:
            self.is_open = True
        else:
            self.varying |= found

    def given(self, a: Array, place: Place | None) -> frozenset[str]:
        """Return which inputs must be in C order where an array is given back."""
        if axes_of(a) < 2 or a.base not in self.made:
            return frozenset()
        found = self.needs.get(a.base)
        if found is None or self.is_open:
            raise Unfit("a matrix as a result that NumPy may keep in another order", place)
        return found | self.varying

    def of_all(self, sources: Iterable[Array]) -> frozenset[str] | None:
        """Return the conditions under which arrays are in C order, None if one may not be."""
        needs: frozenset[str] = frozenset()
        for a in sources:
            found = self.of(a)
            if found is None:
                return None
            needs |= found
        return needs

    def of(self, a: Array) -> frozenset[str] | None:
        """Return the conditions under which an array, or one computed by NumPy, is in C order."""
        if axes_of(a) < 2:
            return frozenset()
        if isinstance(a, ComplexArray):
            return self.of_all(a.parts)
        forward: set[Pair] = set()
        backward: set[Pair] = set()
        needs: frozenset[str] = frozenset()
        for load, pair, is_forward in self.directions(a):
            own = self.of_memory(load)
            needs |= own or frozenset()
            (backward if own is None or not is_forward else forward).add(pair)
        return None if backward - forward else needs

    def keeps_order(self, a: Array) -> bool:
        """Return True if elements of an array tell in which order NumPy has all of its axes."""
        if isinstance(a, ComplexArray):
            return all(map(self.keeps_order, a.parts))
        if a.base or axes_of(a) < 2:
            return True
        found = {(pair, is_forward) for _, pair, is_forward in self.directions(a)}
        return all(
            ((pair, True) in found) != ((pair, False) in found)
            for pair in combinations(probed(a)[1], 2)
        )

    def is_sure(self, a: Array) -> bool:
        """Return True if NumPy has an array in the order of what its elements are computed from.

        That is memory in C order, of which all is read along the same axes.  What is picked
        along later axes stands in another order, unless it is a vector.
        """
        e, counters = probed(a)
        found: set[tuple[Pair, bool]] = set()
        for load in walk(e):
            if isinstance(load, Load):
                if load.array in self.silent or self.of_memory(load) is None:
                    return False
                if len(counters) > 1 and any(
                    is_load(part) for i in load.index[1:] for part in walk(i)
                ):
                    return False
                found.update(pairs_in(load, counters))
        return not any((pair, not is_forward) in found for pair, is_forward in found)

    def directions(self, a: Array) -> Iterator[tuple[Load, Pair, bool]]:
        """Yield the elements read along two axes, and whether the first one has larger steps."""
        e, counters = probed(a)
        for load in walk(e):
            if isinstance(load, Load) and load.array not in self.silent:
                for pair, is_forward in pairs_in(load, counters):
                    yield load, pair, is_forward

    def of_memory(self, load: Load) -> frozenset[str] | None:
        """Return the conditions under which memory is in C order, None if it may not be."""
        if len(load.index) == 1:  # a vector
            return frozenset()
        return self.needs.get(
            load.array, None if load.array in self.made else frozenset([load.array])
        )


def axes_of(a: Array) -> int:
    """Return how many axes have lengths that are not one."""
    return sum(n != ONE for n in a.shape)


def probed(a: Array) -> tuple[Expr, Sequence[Name]]:
    """Return an element of an array, and what counts along its axes."""
    names = [Name(f"probe{axis}") for axis in range(len(a.shape))]
    index: Index = tuple([ZERO if n == ONE else k for k, n in zip(names, a.shape, strict=True)])
    return a.at(index), [k for k, n in zip(names, a.shape, strict=True) if n != ONE]


def pairs_in(load: Load, counters: Sequence[Name]) -> Iterator[tuple[Pair, bool]]:
    """Yield pairs of counters of a load, and whether the first goes along larger steps.

    Elements that an array of ints picks are copied, with its axes first; of what several arrays
    pick it is not known whether they did so at once.
    """
    order: dict[Name, tuple[int, int]] = {}
    picking = [axis for axis, i in enumerate(load.index) if any(is_load(part) for part in walk(i))]
    for axis, i in enumerate(load.index):
        is_picked = axis in picking
        for part in walk(i):
            if isinstance(part, Name) and part in counters:
                order.setdefault(part, (not is_picked, axis))
    for p, q in combinations(counters, 2):
        if p in order and q in order:
            if {order[p][1], order[q][1]} <= {*picking} and len(picking) > 1:
                yield (p, q), False
            elif order[p] != order[q]:
                yield (p, q), order[p] < order[q]
            else:
                yield (p, q), has_larger_step(load.index[order[p][1]], p, q)


def is_load(e: Expr) -> bool:
    """Return True for an element of an array."""
    return isinstance(e, Load)


def has_larger_step(i: Expr, p: Name, q: Name) -> bool:
    """Return True if an index surely goes by larger steps for one counter than for another."""
    first, second = step_of(i, p), step_of(i, q)
    if first is None or second is None:
        return False
    (count, lengths), (other, others) = first, second
    for n in others:
        if n not in lengths:
            return False
        lengths.remove(n)
    return count >= other


def step_of(i: Expr, counter: Name) -> tuple[int, list[Expr]] | None:
    """Return by how much an index grows with a counter: an int times some lengths."""
    found = [(n, part) for part, n in linear(i).parts.items() if counter in walk(part)]
    if len(found) != 1:
        return None
    ((count, part),) = found
    lengths = list(factors(part))
    if counter not in lengths:
        return None
    lengths.remove(counter)
    constants = [n.value for n in lengths if isinstance(n, Const)]
    for n in constants:
        count *= int(n or 0)
    return abs(count), [n for n in lengths if not isinstance(n, Const)]


def factors(e: Expr) -> Iterator[Expr]:
    """Yield the factors of a product."""
    if isinstance(e, Op) and e.op == "mul":
        for part in e.args:
            yield from factors(part)
    else:
        yield e
