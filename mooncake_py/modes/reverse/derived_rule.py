"""The interface of a derived rule: from CoDuals to a CoDual and a pullback.

The fdata of the arguments are the shadows of the tape, so cotangents of mutated arguments enter and
leave through them.  Fdata that do not share memory as their primals do are copied in and out.
Active numbers in containers become plain at the end of the forward pass, and their fdata get the
structure of the containers at that time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.application import shadows
from mooncake_py.application.codual_call import ArrayCoDual
from mooncake_py.application.lift import Lifter, Settler, in_containers
from mooncake_py.boundary.exceptions import end_by, guarded
from mooncake_py.boundary.kept import hand_out
from mooncake_py.diagnostics.tracebacks import boundary, leave_by
from mooncake_py.errors import InvalidTangentError, PullbackReuseError
from mooncake_py.modes.reverse.direct import Direct
from mooncake_py.modes.reverse.settings import new_context, settings
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.runtime.limits import limits_raised
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.tangent_tree import TangentTree
from mooncake_py.runtime.values import INEXACT_SCALARS
from mooncake_py.runtime.views import View
from mooncake_py.tangents import CoDual, NoFData, NoTangent
from mooncake_py.tangents.containers import MUTABLE, parts_of
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import address, is_writeable
from mooncake_py.tangents.memory import owner as owner_of
from mooncake_py.words import with_article

__all__ = ["derived_rule"]

NOTHING = (NoFData, NoTangent)

Pullback = Callable[[Any], tuple[Any, ...]]


def derived_rule(f: CoDual, *args: CoDual, **kwargs: Any) -> tuple[CoDual, Pullback]:
    """Run a function forward on CoDuals, by rules and derived code; keyword arguments are constant.

    The pullback maps the rdata of the output to those of `f` and of each argument.  It can be
    called once; a second call raises `PullbackReuseError`.
    """
    with boundary:
        if not all(isinstance(value, CoDual) for value in (f, *args)):
            raise not_paired((f, *args))
        if settings() is not None:
            # Only debug mode needs it.
            from mooncake_py.modes.debug.coduals import checked_derived

            return checked_derived(run_forward, f, args, kwargs)
        return run_forward(f, *args, **kwargs)


def not_paired(inputs: tuple[Any, ...]) -> InvalidTangentError:
    """Return the error for inputs of a rule without their fdata."""
    kind = next(type(value).__name__ for value in inputs if not isinstance(value, CoDual))
    return InvalidTangentError(
        f"a rule was called with {with_article(kind)} in place of a CoDual",
        why="it takes the function and its arguments with their fdata, in which it adds cotangents",
        fix="rule(CoDual(f, NoFData()), zero_codual(x)); or grad, vjp, jvp, which take plain "
        "values",
    )


def run_forward(f: CoDual, *args: CoDual, **kwargs: Any) -> tuple[CoDual, Pullback]:
    """Run the forward pass of a derived rule."""
    return _Call(f, args, kwargs).forward()


class _Call:
    """One forward and one reverse pass of a derived rule."""

    direct: Direct | None = None

    def __init__(self, f: CoDual, args: tuple[CoDual, ...], kwargs: dict[str, Any]) -> None:
        self.inputs = (f, *args)
        self.kwargs = kwargs
        self.ctx = new_context(settings(), None, [codual.primal for codual in self.inputs], {})
        self.copies: list[tuple[Any, ndarray]] = []  # nodes with fdata of another layout
        self.entries: list[tuple[Any, Any, TangentTree]] = []  # fdata of containers, parts, tree
        self.used = threading.Lock()  # taken once, for good

    def forward(self) -> tuple[CoDual, Pullback]:
        ctx = self.ctx
        with limits_raised(), Lifter(ctx) as lifter, guarded(ctx):
            lifted = [self.admit(lifter, codual) for codual in self.inputs]
            self.trees = [tree for _, tree in lifted]
            y = ctx.call(*(value for value, _ in lifted), **self.kwargs)
            if ctx.failure is not None:
                raise ctx.failure
            hand_out(ctx, y)
            lifter.settle(ctx.tape)
            out = self.leave([value for value, _ in lifted], y)
        if not self.copies:
            self.direct = Direct.of(ctx, self.output, out.primal, self.trees)
        return out, self.pullback

    def admit(self, lifter: Lifter, codual: CoDual) -> tuple[Any, Any]:
        """Lift an argument; one whose fdata are ``NoFData()`` but need not be is constant."""
        primal = codual.primal
        if type(codual.fdata) is NoFData and has_address(primal):
            return primal, None
        value, tree = lifter.visit(primal)
        if type(codual.fdata) is not NoFData:
            self.attach(primal, tree, codual.fdata, set())
        return value, tree

    def attach(self, primal: Any, tree: Any, data: Any, seen: set[int]) -> None:
        """Make the given fdata the shadows of the nodes of an argument."""
        if isinstance(tree, (Memory, View)):
            self.attach_array(primal, tree, data)
        elif type(tree) is TangentTree and id(tree) not in seen and type(data) not in NOTHING:
            seen.add(id(tree))
            if tree.kind in MUTABLE:
                self.entries.append((data, dict(parts_of(data)), tree))
            fields: Any = spec_of(primal).fields(primal)
            for name, part in tree.parts.items():
                if part is not None:
                    self.attach(fields[name], part, data[name], seen)

    def attach_array(self, primal: ndarray, node: Any, data: ndarray) -> None:
        """Use an array of fdata as shadow, or arrange for copying if its layout differs."""
        owner, shadow = owner_of(primal), owner_of(data)
        memory = node.memory
        if memory.grad is shadow:
            return
        fits = (
            memory.grad is None
            and shadow.shape == owner.shape
            and shadow.strides == owner.strides
            and shadow.dtype == owner.dtype
            and address(primal) - address(owner) == address(data) - address(shadow)
        )
        if fits and is_writeable(shadow):
            memory.grad = shadow
            memory.pinned = True
        else:
            self.copies.append((node, data))

    # The exit of the forward pass.

    def leave(self, values: list[Any], y: Any) -> CoDual:
        """Bring arguments and output to plain numbers and their fdata to the same structure."""
        settler = self.settler = Settler(self.ctx)
        follow = shadows.Follower([data for _, data in self.copies])
        self.exits: list[tuple[Any, Any]] = []
        for value, codual in zip(values, self.inputs, strict=True):
            _, tree = settler.visit(value)
            if type(codual.fdata) is not NoFData:
                self.exits.append((tree, follow.fdata(tree, codual.fdata)))
        plain, self.output = settler.visit(y)
        if isinstance(self.output, (Memory, View)):
            return ArrayCoDual(plain, self.output)
        data = follow.fdata(self.output, None)
        self.exits.append((self.output, data))
        return CoDual(plain, data)

    # The reverse pass.

    def pullback(self, dy: Any) -> tuple[Any, ...]:
        """Undo, apply the adjoint, and return the rdata of the function and its arguments."""
        try:
            self.use()
            if self.direct is None or enclosing() is not None:
                return self.pull_back(dy)
            try:
                if type(self.output) is Active:
                    shadows.seed(self.output, dy)
                else:
                    self.direct.lend_shadow(self.ctx)
                self.ctx.run_backwards()
            except BaseException as error:
                end_by(error, self.ctx)
                raise
            return tuple([shadows.rdata_of(tree) for tree in self.trees])
        except BaseException as error:
            leave_by(error)
            raise

    def pull_back(self, dy: Any) -> tuple[Any, ...]:
        """Do so whatever the structure of the values and the changes of state."""
        with limits_raised():
            with guarded(self.ctx), in_containers if self.ctx.repeats else nullcontext():
                self.take_in(dy)
                if self.ctx.repeats:
                    self.settler.unsettle()
                self.ctx.run_backwards()
            for node, data in self.copies:
                if node.memory.grad is not None:
                    shadow = node.shadow()
                    data += shadow
                    shadow[...] = 0
            for data, parts, tree in self.entries:
                shadows.restore(data, parts, tree)
            return tuple(map(shadows.rdata_of, self.trees))

    def use(self) -> None:
        """Raise if this was called before."""
        if not self.used.acquire(blocking=False):
            raise PullbackReuseError(
                "this pullback was called before",
                why="it undid the forward pass, which changed state that it refers to",
                fix="run the rule forward again",
            )

    def __del__(self) -> None:
        self.ctx.forget()

    def take_in(self, dy: Any) -> None:
        """Give the cotangents of the state at the exit to the nodes."""
        for node, data in self.copies:
            node.add(np.array(data))
            data[...] = 0
        seen: set[int] = set()
        for tree, data in self.exits:
            shadows.collect(tree, data, seen)
        if type(self.output) is Active or type(self.output) is TangentTree:
            shadows.seed(self.output, dy)


def has_address(value: Any) -> bool:
    """Return whether a value, if it has a derivative, has fdata."""
    if type(value) in INEXACT_SCALARS:
        return False
    return issubclass(type(value), ndarray) or spec_of(value).container in MUTABLE
