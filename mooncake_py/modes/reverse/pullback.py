"""The pullback of a function: a forward pass on copies of the arguments, waiting to be reversed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from numpy import ndarray

from mooncake_py.application.gradients import gradient_of
from mooncake_py.application.lift import Lifter, is_differentiable
from mooncake_py.boundary.apart import ArgumentsApart
from mooncake_py.boundary.arguments import refuse_foreign
from mooncake_py.boundary.exceptions import end_by, guarded
from mooncake_py.boundary.followed import FollowedCopier
from mooncake_py.boundary.outgoing import independent
from mooncake_py.boundary.outputs import run, seed
from mooncake_py.compiler.sites.pace import met
from mooncake_py.diagnostics.tracebacks import leave_by
from mooncake_py.errors import NestedDerivativeError
from mooncake_py.language import unfinished
from mooncake_py.language.draws import Draws
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.direct import Direct
from mooncake_py.modes.reverse.settings import Settings, new_context
from mooncake_py.recomputation.agreement import Fingerprint, repeating, something_later
from mooncake_py.recomputation.suspended import Suspended
from mooncake_py.rules import local
from mooncake_py.runtime.allowance import allowance, allowing
from mooncake_py.runtime.compilation import Compile, compiles, using
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.runtime.limits import limits_raised
from mooncake_py.runtime.originals import Original
from mooncake_py.runtime.silence import silent
from mooncake_py.tangents.subclasses import plain_parts

__all__ = ["Vjp"]


class Vjp:
    """A forward pass on copies of the arguments, and its pullback."""

    ctx: ReverseContext | None = None
    output: Any = None  # of the last run
    direct: Direct | None = None
    fingerprint: Fingerprint | None = None
    separates = True  # arguments that share memory
    has_run = False

    def __init__(
        self, f: Callable[..., Any], args: tuple[Any, ...], chosen: Settings | None
    ) -> None:
        self.f = f
        self.apart: ArgumentsApart | None = None
        if self.separates:
            self.apart = ArgumentsApart(f, range(len(args)), args, {}, whole=True)
            self.args = self.apart.args
        else:
            self.args = FollowedCopier(enclosing()).copy_whole(args)
        self.settings = chosen
        self.rules = local.current()
        self.compiles: Compile = compiles()
        self.allowance = allowance()
        self.waiting: Suspended | None = None
        self.draws = Draws()
        self.lock = threading.RLock()  # the copies are used by one pass at a time

    def start(self) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """Run the function; return its output and the pullback."""
        with self.draws, self.apart or nullcontext():
            ctx, y, waiting = self.forward(self.suspend)
        met.entries += len(ctx.tape)
        self.has_run = True
        self.waiting = waiting
        if waiting.can_resume:
            self.ctx = ctx
        if waiting.is_hidden:
            node = ctx.find(self.output) if type(self.output) is ndarray else self.output
            self.direct = Direct.of(ctx, node, self.output, self.trees)
            if self.direct is not None:
                self.direct.isolate(ctx, self.output)
        if self.direct is None or self.direct.writes:  # else the output of this run will stay
            self.fingerprint = Fingerprint(y)
        return y, self.pullback

    def forward(self, then: Callable[[ReverseContext, int, set[int]], Any]) -> Any:
        """Run the function, and what comes then; an error undoes all that the function has changed.

        `then` is given the context, and what the tape and the memory are that come from lifting.
        """
        with local.using(self.rules), allowing(self.allowance):
            ctx = new_context(self.settings, None, self.args, {})
        with Lifter(ctx) as lifter, guarded(ctx):
            with local.using(self.rules):
                lifted = [lifter.visit(a) for a in self.args]
                self.trees = [tree for _, tree in lifted]
                if not any(map(is_differentiable, self.trees)):
                    for i, value in enumerate(self.args):
                        refuse_foreign(self.f, i, value)
                start = len(ctx.tape)
                # Not the blocks that were copied: who captured a part of one sees it.
                own = {key for key, node in ctx.known.items() if type(node) is not Original}
                with repeating(self.refusal) if self.has_run else nullcontext():
                    self.output = run(ctx, self.f, tuple(v for v, _ in lifted), {})
                lifter.settle(ctx.tape)
            return then(ctx, start, own)

    def suspend(
        self, ctx: ReverseContext, start: int, own: set[int]
    ) -> tuple[ReverseContext, Any, Suspended]:
        """Return the context, the output as the user gets it, and what waits for the pullback."""
        y = independent(ctx, self.output)
        self.output = plain_parts(self.output)
        unfinished.finish(ctx)
        return ctx, y, Suspended(ctx, start, own)

    def refusal(self, raised: Exception | None = None) -> NestedDerivativeError:
        """Return the error for a run that differs from the first one."""
        return something_later(self.f, raised)

    def expected(self) -> Fingerprint:
        """Return a fingerprint of the output of the first run."""
        if self.fingerprint is None:
            self.fingerprint = Fingerprint(self.output)
        return self.fingerprint

    def pullback(self, cotangent: Any) -> tuple[Any, ...]:
        """Return the gradients of the arguments for a cotangent of the output."""
        try:
            with self.lock:
                ctx = self.ctx
                if self.direct is None or ctx is None or enclosing() is not None:
                    return self.pull_back(cotangent)
                self.ctx = None
                try:
                    if not self.direct.give(cotangent):
                        seed(ctx, self.output, cotangent, "dy")
                    ctx.run_backwards()
                except BaseException as error:
                    end_by(error, ctx)
                    raise
                return self.gradients()
        except BaseException as error:
            leave_by(error)
            raise

    def pull_back(self, cotangent: Any) -> tuple[Any, ...]:
        """Return the gradients, whatever the structure of the values and the changes of state."""
        with limits_raised(), using(self.compiles):
            outer = enclosing()
            if outer is not None and outer.contains_active((cotangent, self.f, self.args)):
                from mooncake_py.nesting.inside import pull_back

                with self.draws.again():
                    return pull_back(outer, self.f, self.args, cotangent, self.expected())
            ctx, self.ctx = self.ctx, None
            if ctx is None or self.waiting is None or not self.waiting.is_hidden:
                # The function's changes are reapplied before the cotangent is read.
                cotangent = FollowedCopier(outer, share_others=True).copy(cotangent)
            if ctx is None or self.waiting is None:
                expected = self.expected()  # of the output of the first run
                self.release()
                with self.draws.again(), silent():  # it has printed and warned in its first run
                    self.forward(lambda ctx, *_: self.reverse(ctx, cotangent, expected))
            else:
                ctx.postpones = True
                with self.waiting.resumed(ctx), guarded(ctx):
                    self.reverse(ctx, cotangent)
                ctx.postpones = False
                ctx.end()
            found = self.gradients()
            if self.fingerprint is not None:
                self.release()
            return found

    def release(self) -> None:
        """Drop what is left of a run: it may hold the map of a file, which the next one maps."""
        self.output, self.trees, self.waiting, self.direct = None, [], None, None

    def reverse(
        self, ctx: ReverseContext, cotangent: Any, expected: Fingerprint | None = None
    ) -> None:
        """Run backwards, if the output is the one that is expected."""
        if expected is not None and not Fingerprint(self.output).matches(expected):
            raise self.refusal()
        seed(ctx, self.output, cotangent, "dy")
        ctx.run_backwards()

    def gradients(self) -> tuple[Any, ...]:
        """Return the gradient of each argument, after the reverse pass."""
        memo: dict[int, Any] = {}
        return tuple([gradient_of(a, m, memo) for a, m in zip(self.args, self.trees, strict=False)])

    def __del__(self) -> None:
        if self.ctx is not None:
            self.ctx.forget()
