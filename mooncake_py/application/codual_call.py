"""Calling a hand-written rule of the CoDual interface from the tape."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application import marshalling, shadows
from mooncake_py.application.foreign import meet
from mooncake_py.application.own_pullbacks import apart
from mooncake_py.application.shared_outputs import refuse_other_data
from mooncake_py.diagnostics.places import position_for_rule
from mooncake_py.diagnostics.reporting import Reporting, unsupported
from mooncake_py.errors import InvalidRuleError, InvalidTangentError, MissingRuleError
from mooncake_py.rules.kinds import CoDualRule, Rule
from mooncake_py.runtime import pulls
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.numpy_operands import PLAIN
from mooncake_py.runtime.tangent_tree import TangentTree
from mooncake_py.runtime.values import NUMBERS
from mooncake_py.tangents import CoDual, NoFData, NoRData, fdata, zero_rdata, zero_tangent
from mooncake_py.tangents.memory import is_owned, is_writeable, owner
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Tracking

__all__ = ["ArrayCoDual", "apply_codual", "pull_codual"]


class ArrayCoDual(CoDual):
    """An array with its shadow on the tape, made when the rule first reads it."""

    __slots__ = ("_node",)

    def __init__(self, primal: ndarray, node: Any) -> None:
        super().__init__(primal, None)
        self._node = node

    @property
    def fdata(self) -> Any:
        """The shadow: from now on it stays the same array."""
        return self._node.pin()

    def increment(self, g: Any) -> None:
        """Add a cotangent, which may stay deferred."""
        self._node.add_shared(np.asarray(g))


class HandedCoDual(CoDual):
    """A copy of a container or an object with plain numbers, and fdata for its parts."""

    __slots__ = ("tree",)

    def __init__(self, primal: Any, tree: TangentTree) -> None:
        super().__init__(primal, shadows.Follower([]).fdata(tree, None))
        self.tree = tree


def apply_codual(rule: CoDualRule, ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run the forward pass of a hand-written rule and record its pullback."""
    if kwargs or not PLAIN.issuperset(map(type, args)):
        meet(f, args, kwargs)
    active = any(map(ctx.contains_active, args))
    if any(map(ctx.contains_active, kwargs.values())):
        raise keyword_active(rule, ctx, kwargs)
    if not active and rule.mutates == ():
        return f(*args, **kwargs)
    if active:
        ctx.refuse_subclasses((*args, *kwargs.values()) if kwargs else args)
    coduals = [
        codual_of(ctx, a, rule.mutates is None or i in rule.mutates, active)
        for i, a in enumerate(args)
    ]
    for a in (*args, *kwargs.values()):
        if type(a) not in INERT:
            protect_arrays(ctx, a)
    before = marshalling.Contents([c.primal for c in coduals])
    if ctx.rehearsal is not None:
        ctx.rehearsal.before_rule(rule, args)
    out, pullback = rule.rule(CoDual(f, NoFData()), *coduals, **kwargs)
    inputs = args, [codual.primal for codual in coduals]
    refuse_other_data(rule, ctx, out, coduals, attrgetter("fdata"), ctx.find)
    result, node = output_of(ctx, out, inputs, [])
    where = position_for_rule(rule, pullback)
    pullback = apart(ctx, rule, pullback, (*inputs[1], out.primal))
    ctx.record((pull_codual, node, pullback, out, list(args), coduals, rule, where))
    if before.changed():
        raise container_written(rule, ctx)
    marshalling.note_results(ctx, node)
    return result


def keyword_active(rule: Rule, ctx: Reporting, kwargs: Any) -> MissingRuleError:
    """Return the error for an active keyword argument: a rule gets keywords as constants."""
    name = next(name for name, v in kwargs.items() if ctx.contains_active(v))
    return unsupported(
        ctx,
        f"the rule of {rule.name} has no derivative with respect to argument {name!r}",
        why="that argument is active, and a rule gets keyword arguments as constants;\n"
        f"the rule is declared at {rule.origin}",
        fix="pass the argument by position",
    )


def container_written(rule: Rule, ctx: Reporting) -> MissingRuleError:
    """Return the error for a rule that changed the contents of a container or an object."""
    return unsupported(
        ctx,
        f"the rule of {rule.name} changed a container or an object among its arguments",
        why="a rule may change arrays, but not containers and objects: the engine would\n"
        f"neither undo nor differentiate the change; the rule is declared at {rule.origin}",
        fix="declare the function by an overlay, in Python, or let it change arrays only",
    )


def codual_of(ctx: Mode, value: Any, written: bool, active: bool) -> CoDual:
    """Pair an argument with its shadow; a constant that may be written becomes active.

    `active` says whether any argument of the call is.
    """
    t = type(value)
    if t is ndarray:
        node = ctx.find(value)
        if node is None and written and value.dtype.kind in "fc" and is_writeable(value):
            node = ctx.registry.activate(value)
        if node is None:
            return CoDual(value, NoFData())
        memory = node.memory
        if memory.shape is None:
            ctx.registry.activate(value)
        return ArrayCoDual(value, node)
    if t is Active:
        return CoDual(value.primal, NoFData())
    if t in INERT:
        return CoDual(value, NoFData())
    if not active:
        return constant(value)
    if t is tuple:
        parts = [codual_of(ctx, v, written, active) for v in value]
        if not any(type(part) is HandedCoDual for part in parts):
            data = tuple(part.fdata for part in parts)
            is_constant = all(type(part) is NoFData for part in data)
            primal = tuple(p.primal for p in parts)
            return CoDual(primal, NoFData() if is_constant else data)
    return handed_codual(ctx, value, written)


def handed_codual(ctx: Mode, value: Any, written: bool) -> CoDual:
    """Pair a container or an object, which the rule sees as a copy, with fdata for its parts."""
    if not ctx.contains_active(value) and (not written or callable(value)):
        return constant(value)
    tree = marshalling.tree_of(ctx, value, whole=True)
    if tree is None:
        return CoDual(value, NoFData())
    return HandedCoDual(marshalling.plain(value, copied=written), tree)


def constant(value: Any) -> CoDual:
    """Pair a constant container or object with fdata that a rule may add to, unread."""
    try:
        return CoDual(value, fdata(zero_tangent(value)))
    except InvalidTangentError:  # nothing that tangents could look into
        return CoDual(value, NoFData())


def protect_arrays(ctx: Tracking, value: Any) -> None:
    """Protect the memory that the rule's pullback may refer to."""
    if type(value) is ndarray:
        ctx.registry.memory_of(value).protected = True
    else:
        for leaf in marshalling.leaves(value, set()):
            if type(leaf) is ndarray:
                ctx.registry.memory_of(leaf).protected = True


def output_of(
    ctx: Mode, out: CoDual, inputs: tuple[Any, Any], others: list[ndarray]
) -> tuple[Any, Any]:
    """Return the output as the user sees it, and the node that receives its cotangent.

    `others` collects the owners of outputs: views of one array have a node each.
    """
    y = out.primal
    if type(y) is ndarray and y.dtype.kind in "fc":
        node = ctx.find(y)
        if node is not None:  # memory of another output, or of an argument
            return y, node if is_owned(y, others) else None
        node = ctx.registry.fresh(y)
        node.protect()
        others.append(owner(y))
        return y, node
    if isinstance(y, (float, complex, np.inexact)):
        node = active_number(y, ctx)
        return node, node
    if type(y) is tuple:
        data = out.fdata if type(out.fdata) is tuple else (NoFData(),) * len(y)
        parts = zip(y, data, strict=True)
        pairs = [output_of(ctx, CoDual(p, d), inputs, others) for p, d in parts]
        return tuple(value for value, _ in pairs), tuple(node for _, node in pairs)
    return marshalling.activated(ctx, y, *inputs)


@pulls.undoes
def pull_codual(entry: tuple[Any, ...]) -> None:
    """Run the pullback of a hand-written rule."""
    _, node, pullback, out, args, coduals, rule, _ = entry
    give_fdata(out, node)
    rdata = pullback(rdata_of(node, out.primal))
    if not issubclass(type(rdata), (tuple, list)) or len(rdata) != 1 + len(args):
        raise wrong_count(rule, len(args), rdata)
    for i, (value, codual, r) in enumerate(zip(args, coduals, rdata[1:], strict=True)):
        if type(codual) is ArrayCoDual and r is not None and type(r) is not NoRData:
            raise misplaced(rule, i, r)
        if type(value) is Active:
            require_number(rule, i, r)
        elif type(value) is tuple:
            require_parts(rule, i, value, r)
        collect(value, codual, r)


def wrong_count(rule: Rule, count: int, rdata: Any) -> InvalidRuleError:
    """Return the error for a pullback that does not return one rdata for each input."""
    got = (
        len(rdata) if issubclass(type(rdata), (tuple, list)) else with_article(type(rdata).__name__)
    )
    return InvalidRuleError(
        f"the pullback of the rule of {rule.name} returned {got} for {count + 1} inputs",
        why="it returns a tuple of one rdata for each input, the function itself first;\n"
        f"the rule is declared at {rule.origin}",
        fix=f"return {', '.join(['NoRData()', 'dx', '...'][: count + 1])}: NoRData() for the "
        "function, and for each argument\nits rdata: the cotangent of a number, NoRData() for an "
        "array",
    )


def misplaced(rule: Rule, position: int, rdata: Any) -> InvalidRuleError:
    """Return the error for the cotangent of an array that a pullback returns."""
    return InvalidRuleError(
        f"the pullback of the rule of {rule.name} returned "
        f"{with_article(type(rdata).__name__)} for argument {position}, an array",
        why="a pullback adds the cotangent of an array to its fdata; a returned one would be "
        f"lost;\nthe rule is declared at {rule.origin}",
        fix="increment(x, g), and return NoRData()",
    )


def require_number(rule: Rule, position: int, rdata: Any) -> None:
    """Raise if a pullback returns something else than a number for a number."""
    if rdata is None or type(rdata) is NoRData:
        raise left_out(rule, position, rdata)
    if type(rdata) not in NUMBERS and np.shape(rdata):
        raise unfit(rule, position, "a number", rdata)


def require_parts(rule: Rule, position: int, value: tuple[Any, ...], rdata: Any) -> None:
    """Raise if a pullback returns more or less parts for a tuple than it has."""
    if rdata is None or type(rdata) is NoRData:
        return
    if not isinstance(rdata, tuple) or len(rdata) != len(value):
        raise unfit(rule, position, f"a tuple of {len(value)}", rdata)
    for part, r in zip(value, rdata, strict=True):
        if type(part) is Active and type(r) is not NoRData:
            require_number(rule, position, r)
        elif type(part) is tuple:
            require_parts(rule, position, part, r)


def unfit(rule: Rule, position: int, expected: str, got: Any) -> InvalidRuleError:
    """Return the error for a cotangent that does not fit its argument."""
    kind = f"an array of shape {got.shape}" if isinstance(got, np.ndarray) else repr(got)
    return InvalidRuleError(
        f"the pullback of the rule of {rule.name} returned {kind:.80} for argument {position}, "
        f"which needs {expected}",
        why=f"the rdata of an argument have its structure;\nthe rule is declared at {rule.origin}",
        fix="return a number for a number, and for a tuple a tuple of as many parts",
    )


def left_out(rule: Rule, position: int, rdata: Any) -> InvalidRuleError:
    """Return the error for an active number that a pullback returns no cotangent for."""
    return InvalidRuleError(
        f"the pullback of the rule of {rule.name} returned {rdata} for argument {position}, "
        "a number",
        why="the cotangent of a number is what the pullback returns for it;\n"
        f"the rule is declared at {rule.origin}",
        fix="return a number, 0.0 if the derivative is zero",
    )


def give_fdata(out: CoDual, node: Any) -> None:
    """Put the cotangent of an output where the rule will look for it: its fdata."""
    if type(node) is tuple:
        if type(out.fdata) is tuple:
            for data, part in zip(out.fdata, node, strict=True):
                give_fdata(CoDual(None, data), part)
        return
    if type(node) is marshalling.Result:
        shadows.pour(node.tree, out.fdata, set())
        return
    if node is None or type(node) is Active:
        return
    g = node.take()
    if g is None:
        return
    if getattr(out, "_fdata", None) is None:  # zeros that nobody has asked for yet
        out._fdata = g
    else:
        shadow = out.fdata
        shadow += g


def rdata_of(node: Any, primal: Any) -> Any:
    """Return the rdata of an output from the cotangents on the tape."""
    if type(node) is Active:
        g = node.take()
        zero = zero_rdata(primal)
        return zero if g is None else zero + type(zero)(g) if type(zero) is not type(g) else g
    if type(node) is marshalling.Result:
        return shadows.rdata_of(node.tree)
    if type(primal) is tuple and type(node) is tuple:
        parts = tuple(rdata_of(n, p) for n, p in zip(node, primal, strict=True))
        return NoRData() if all(type(p) is NoRData for p in parts) else parts
    return zero_rdata(primal)


def collect(value: Any, codual: CoDual, rdata: Any) -> None:
    """Add the rdata of an argument, and the cotangents in fdata of containers, to the nodes."""
    if type(codual) is HandedCoDual:
        shadows.collect(codual.tree, codual.fdata, set())
        shadows.seed(codual.tree, rdata)
    elif type(value) is Active:
        value.add(rdata)
    elif type(value) is tuple and type(rdata) is tuple:
        for part, r in zip(value, rdata, strict=True):
            if type(part) is Active and type(r) is not NoRData:
                part.add(r)
