"""The reverse of entries of rules with whole cotangents: linear, bilinear, pullbacks."""

from __future__ import annotations

import functools
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import InvalidTangentError, MissingRuleError
from mooncake_py.rules.broadcasting import fit_to_parts
from mooncake_py.rules.exact_zeros import is_sound, sum_of_products
from mooncake_py.rules.kinds import NotImplementedDerivative
from mooncake_py.rules.returned import cotangents_in, positional_count
from mooncake_py.runtime import pulls
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.pulls import Entry, deliver, reads
from mooncake_py.runtime.tangent_tree import TangentTree
from mooncake_py.runtime.views import IndexView, View
from mooncake_py.tangents.containers import is_number, parts_of
from mooncake_py.tangents.kinds import Fields, NoTangent, Tangent
from mooncake_py.tangents.lookup import spec_of as tangent_spec
from mooncake_py.words import with_article

__all__ = [
    "ADJOINTS", "NOWHERE", "THUNKS", "careful_cotangent", "pull_bilinear", "pull_dot",
    "pull_extremum", "pull_interpolated", "pull_linear", "pull_numbers", "pull_sum", "pull_total",
    "pull_vjp",
]  # fmt: skip


INFINITY = float("inf")
OF_ARRAYS = frozenset({Memory, View, IndexView})
NOWHERE = 2  # nan is on no side of any node


@reads
def pull_linear(entry: Entry) -> None:
    """Map the cotangent by the adjoint of a linear function."""
    _, y, rule, adjoint, nodes, fits, args, kwargs = entry
    g = y.take()
    if g is None:
        return
    cotangents = adjoint(g, *args, **kwargs)
    if rule.by_user:  # those of the package are tested
        most, may_be_list = len(rule.wrt), takes_list(nodes[0])
        cotangents = cotangents_in(cotangents, rule, len(nodes), most, may_be_list)
    elif type(cotangents) is ndarray and type(nodes[0]) in OF_ARRAYS and len(nodes) == 1:
        deliver(nodes[0], cotangents, fits[0], cotangents is g)
        return
    hand_over_all(nodes, cotangents, fits, g, rule)


@reads
def pull_bilinear(entry: Entry) -> None:
    """Map the cotangent by the adjoint with respect to each factor."""
    _, y, rule, adjoints, nodes, fits, args, kwargs = entry
    g = y.take()
    if g is None:
        return
    if type(g) is float:
        g = np.float64(g)  # a product with a factor of lower precision has that of the number
    for position in (0, 1):
        if nodes[position] is not None:
            c = adjoints[position]
            if not isinstance(c, NotImplementedDerivative):
                c = c(g, *args[position], **kwargs)
                if not is_sound(c, args[position][1 - position]):
                    c = careful_cotangent(adjoints[position], position, g, args[position], kwargs)
                elif type(c) is ndarray and type(nodes[position]) in OF_ARRAYS:
                    deliver(nodes[position], c, fits[position], c is g or not rule.built_in)
                    continue
            hand_over(nodes[position], c, fits[position], g, rule, position)


def careful_cotangent(adjoint: Any, position: int, g: Any, args: Any, kwargs: Any) -> Any:
    """Return the cotangent of one factor where the other one may be infinite or nan."""
    if position == 0:
        like, factor, *rest = args
        return sum_of_products(lambda dy, b: adjoint(dy, like, b, *rest, **kwargs), g, factor)
    factor, like, *rest = args
    return sum_of_products(lambda dy, a: adjoint(dy, a, like, *rest, **kwargs), g, factor)


@reads
def pull_vjp(entry: Entry) -> None:
    """Call the pullback of a rule."""
    _, outputs, rule, pullback, nodes, fits, _ = entry
    g = take_all(outputs) if type(outputs) is tuple else outputs.take()
    if g is None:
        return
    cotangents = pullback(g)
    if cotangents is None and type(g) is tuple:
        return  # the cotangent of one of several outputs, which has none
    if rule.by_user:
        most, may_be_list = positional_count(rule.rule), takes_list(nodes[0])
        cotangents = cotangents_in(cotangents, rule, len(nodes), most, may_be_list)
    hand_over_all(nodes, cotangents, fits, g, rule)


def pull_sum(entry: Entry) -> None:
    """Reverse the sum of numbers."""
    _, y, nodes = entry
    g = y.grad
    if g:
        for node in nodes:
            node.grad += g


@reads
def pull_numbers(entry: Entry) -> None:
    """Reverse an array made of numbers, of which those without a node are constant."""
    _, y, nodes = entry
    g = y.take()
    if g is not None:
        for node, part in zip(nodes, g.ravel().tolist(), strict=True):
            if node is not None:
                node.grad += part


def pull_total(entry: Entry) -> None:
    """Reverse the sum of all elements, divided by a number."""
    _, y, _, node, shape, number = entry
    g = y.grad
    if g:
        node.add(np.full(shape, g / number, np.float64))  # of any number


def pull_extremum(entry: Entry) -> None:
    """Reverse the extremum of all elements, among which those that tie share the cotangent."""
    _, y, _, node, a, extremum = entry
    g = y.grad
    if g:
        tied = a == extremum
        node.add(np.where(tied, np.float64(g) / max(int(np.count_nonzero(tied)), 1), 0))


def pull_dot(entry: Entry) -> None:
    """Reverse the product of two vectors; the layout is that of `pull_bilinear`."""
    _, y, _, _, (na, nb), _, (of_a, of_b), _ = entry
    g = y.grad
    if not g:
        return
    a = g * of_a[1] if na else None
    b = g * of_b[0] if nb else None
    if all(c is None or abs(c.dot(c)) < INFINITY for c in (a, b)):
        if na:
            na.add(a)
        if nb:
            nb.add(b)
    else:
        pull_bilinear(entry)


def pull_interpolated(entry: Entry) -> None:
    """Reverse an interpolation at one place, between two nodes or beyond all of them.

    The last part of an entry is of `application.interpolation_ways.Place`.
    """
    _, y, x, of_xp, of_fp, (side, k, after, t, slope) = entry
    g = y.grad
    if not g:
        return
    moved = 0.0 if side else g * slope
    if x is not None:
        x.grad += moved
    if of_xp is not None:
        shadow = of_xp.shadow()
        shadow[k] += (t - 1.0) * moved
        shadow[after] -= t * moved
    if of_fp is not None:
        shadow = of_fp.shadow()
        if side == 0:
            shadow[k] += (1.0 - t) * g
            shadow[after] += t * g
        elif side != NOWHERE:
            shadow[0 if side < 0 else -1] += g


def hand_over_all(nodes: Any, cotangents: Any, fits: Any, g: Any, rule: Any) -> None:
    """Give a rule's cotangents to its arguments."""
    if type(cotangents) is not tuple:
        cotangents = (cotangents,)
    if len(cotangents) < len(nodes):  # of a rule of the package
        raise InvalidTangentError(
            f"the pullback of {rule.name} returned {len(cotangents)} cotangents for "
            f"{len(nodes)} arguments",
            fix="return one cotangent for each positional argument, None for zero",
        )
    for position, node in enumerate(nodes):
        c = cotangents[position]
        t = type(node)
        if (t is Memory or t is View) and type(c) is ndarray:
            deliver(node, c, fits[position], c is g or not rule.built_in)
        else:
            hand_over(node, c, fits[position], g, rule, position)


def takes_list(node: Any) -> bool:
    """Return whether the cotangent of an argument may be a list; open for a constant."""
    return node is None or type(node) is list or type(node) is TangentTree


def take_all(outputs: Any) -> Any:
    """Take the cotangent of an output, or of each element of a tuple of outputs."""
    if type(outputs) is not tuple:
        return outputs.take()
    taken = tuple(None if node is None else take_all(node) for node in outputs)
    if all(g is None for g in taken):
        return None
    idle = [g is None or is_idle(node, g) for node, g in zip(outputs, taken, strict=True)]
    if all(idle):
        return taken
    return tuple(None if nothing else g for nothing, g in zip(idle, taken, strict=True))


def is_idle(node: Any, g: Any) -> bool:
    """Return whether a cotangent is zero, which shows in its values only if a rule holds it."""
    return type(g) is ndarray and node.memory.pinned and not g.any()


REALS = frozenset({float, np.float64})


def hand_over(node: Any, c: Any, spec: Any, g: Any, rule: Any, position: int) -> None:
    """Give a rule's cotangent to its argument, which may be a sequence of arguments."""
    if type(node) is TangentTree:
        hand_over_parts(node, c() if type(c) in THUNKS else c, rule, position)
        return
    if node is None or c is None:
        return
    if type(c) is ndarray and type(node) is not list:
        deliver(node, c, spec, c is g or not rule.built_in)
        return
    if isinstance(c, NotImplementedDerivative):
        raise c.fail(rule.name, position)
    if type(node) is list:
        parts: Any = c() if callable(c) else c
        if type(parts) is ndarray:
            parts = fit_to_parts(parts, shape_of_parts(node, spec))
        for inner, part, inner_spec in zip(node, parts, spec, strict=True):
            t = type(inner)
            if t is Active and type(part) in REALS:  # as in lists of numbers mostly
                inner.grad += part
            elif (t is Memory or t is View) and type(part) is ndarray:
                deliver(inner, part, inner_spec, part is g or not rule.built_in)
            elif inner is not None:
                hand_over(inner, part, inner_spec, g, rule, position)
        return
    if callable(c):
        c = c()
        if c is None or isinstance(c, NotImplementedDerivative):
            hand_over(node, c, spec, g, rule, position)
            return
    deliver(node, c, spec, c is g or not rule.built_in)


def shape_of_parts(nodes: Any, specs: Any) -> tuple[int, ...]:
    """Return the shape of the array that a nested sequence makes, known by any active element."""
    for node, spec in zip(nodes, specs, strict=True):
        if type(node) is list:
            return (len(nodes), *shape_of_parts(node, spec))
        if node is not None:
            return (len(nodes), *spec[0]) if type(spec) is tuple else (len(nodes),)
    raise AssertionError("no element is active")


# An object's cotangent may itself be callable.
THUNKS = (FunctionType, MethodType, functools.partial)


def hand_over_parts(tree: TangentTree, c: Any, rule: Any, position: int) -> None:
    """Give a rule's cotangents to the parts of a container or an object; missing ones are zero."""
    if isinstance(c, NotImplementedDerivative):
        raise c.fail(rule.name, position)
    given = parts_given(tree, c, rule, position)
    if unknown := [name for name in given if name not in tree.parts]:
        raise InvalidTangentError(
            f"the pullback of {rule.name} returned a cotangent for {unknown[0]!r}, which "
            f"argument {position} does not have",
            why=f"it has {', '.join(map(repr, tree.parts)) or 'nothing'}",
            fix="return a dict, or an object like the argument, with the names that it has",
        )
    for name, part in given.items():
        node = tree.parts[name]
        if node is None or part is None or isinstance(part, NoTangent):
            continue
        if type(node) is TangentTree:
            hand_over_parts(node, part, rule, position)
        else:
            hand_over(node, part, spec_of_node(node), None, rule, position)


def parts_given(tree: TangentTree, c: Any, rule: Any, position: int) -> Any:
    """Return the cotangents in an object, a dict or a sequence by index, key or name."""
    if tuple(tree.parts) == ("cell_contents",):  # a captured variable, without its cell
        return c if issubclass(type(c), Fields) and "cell_contents" in c else {"cell_contents": c}
    if c is None:
        raise MissingRuleError(
            f"the rule of {rule.name} has no derivative with respect to argument {position}",
            why="that container, object or function holds an active value, but the pullback "
            f"returned None for it\nthe rule is declared at {rule.origin}",
            fix="return a dict of cotangents by name, {} if they are zero, or hold the argument "
            "constant",
        )
    if type(c) in (tuple, list) and tree.kind is Tangent and len(c) == len(tree.parts):
        return dict(zip(tree.parts, c, strict=True))  # a tuple for a namedtuple
    if issubclass(type(c), (dict, list, Fields)) or type(c) is tuple:
        return parts_of(c)
    if isinstance(c, NoTangent):
        return {}
    fields = None if is_number(c) or type(c) is ndarray else tangent_spec(c).fields(c)
    if fields is None:
        raise InvalidTangentError(
            f"the pullback of {rule.name} returned {with_article(type(c).__name__)} as "
            f"cotangent of argument {position}, which is a container, an object or a function",
            fix="return a dict of cotangents by name, or an object like the argument",
        )
    return fields


def spec_of_node(node: Any) -> Any:
    """Return shape and dtype to which a cotangent is fitted; 0 for a number."""
    if type(node) is Active:
        return 0
    shadow = node.shadow()
    return shadow.shape, shadow.dtype


# All that change nothing but cotangents.
ADJOINTS = pulls.ADJOINTS | {
    pull_linear, pull_bilinear, pull_vjp, pull_sum, pull_numbers, pull_total, pull_extremum,
    pull_dot, pull_interpolated,
}  # fmt: skip
