"""Loops as one entry broken on purpose, one way at a time: the random loops must find each.

``python -m tests.programs.loop_sabotage [COUNT]`` tells after how many loops each is found.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

from mooncake_py.forms.loops import analysis, code, run
from mooncake_py.forms.loops.analysis import Kinds
from mooncake_py.modes.reverse.tape import Tape
from mooncake_py.runtime.active import active_number
from tests.programs.test_random_loops import compare

__all__ = ["BREAKS", "loops_until_found"]

Patch = pytest.MonkeyPatch
BREAKS: dict[str, Callable[[Patch], None]] = {}


def breaks(change: Callable[[Patch], None]) -> Callable[[Patch], None]:
    BREAKS[change.__name__] = change
    return change


def loops_until_found(change: Callable[[Patch], None], most: int = 300) -> int | None:
    """Return how many random loops it takes to find a break, or None."""
    for seed in range(most):
        with Patch.context() as patch:
            change(patch)
            try:
                compare(seed)
            except Exception:
                return seed + 1
    return None


def rewrite(patch: Patch, change: Callable[[str], str]) -> None:
    """Change the text of the sweep backwards."""
    original = code.define

    def define(text: str, scope: Any) -> Any:
        forward, reverse = text.split("def reverse")
        return original(f"{forward}def reverse{change(reverse)}", scope)

    patch.setattr(code, "define", define)


# The sweep backwards.


@breaks
def cotangents_have_the_wrong_sign(patch: Patch) -> None:
    patch.setattr(code, "plus_g", lambda slope: f"+= g * {slope.lstrip('-')}")


@breaks
def slots_are_not_zeroed(patch: Patch) -> None:
    rewrite(patch, lambda text: re.sub(r"(?m)^( +)(d_\S+\[.*\]) = 0\.0$", r"\1pass", text))


@breaks
def numbers_are_not_zeroed(patch: Patch) -> None:
    rewrite(patch, lambda text: re.sub(r"(?m)^( {8,})gu_\w+ = 0\.0$", r"\1pass", text))


@breaks
def slopes_are_popped_in_the_order_in_which_they_were_pushed(patch: Patch) -> None:
    def swapped(text: str) -> str:
        return re.sub(r"( +)(s_\w+) = pop\(\)\n +(s_\w+) = pop\(\)",
                      r"\1\3 = pop()\n\1\2 = pop()", text)

    rewrite(patch, swapped)


@breaks
def ints_are_not_put_back(patch: Patch) -> None:
    rewrite(patch, lambda text: re.sub(r"u_\w+ = pop_int\(\)", "pop_int()", text))


@breaks
def ints_are_not_what_they_are_in_the_end(patch: Patch) -> None:
    def forgotten(text: str) -> str:
        names = set(re.findall(r"(u_\w+) = pop_int\(\)", text))
        head, _, body = text.partition("\n")
        return "\n".join([head, *(f"    {name} = 1" for name in sorted(names)), body])

    rewrite(patch, forgotten)


@breaks
def loops_run_forwards_on_the_way_back(patch: Patch) -> None:
    rewrite(patch, lambda text: text.replace("reversed(", "("))


@breaks
def the_other_branch_is_reversed(patch: Patch) -> None:
    rewrite(patch, lambda text: text.replace("if pop_int():", "if not pop_int():"))


@breaks
def the_target_keeps_its_cotangent(patch: Patch) -> None:
    patch.setattr(code, "times_g", lambda slope: "g")


@breaks
def inputs_that_the_loop_binds_are_steady(patch: Patch) -> None:
    patch.setattr(
        code._LoopWriter, "is_steady", lambda self, name: name in self.program.inputs
    )


# What is active, and of which type.


@breaks
def shared_memory_is_not_active_together(patch: Patch) -> None:
    original = analysis.active_parts

    def active_parts(program: Any, active: Any, groups: Any) -> Any:
        return original(program, active, {base: base for base in groups})

    patch.setattr(run, "active_parts", active_parts)


@breaks
def only_inputs_are_active(patch: Patch) -> None:
    patch.setattr(run, "active_parts", lambda program, active, groups: active)


@breaks
def a_derivative_flows_through_one_operand(patch: Patch) -> None:
    original = analysis.flowing
    patch.setattr(analysis, "flowing", lambda a: set(sorted(original(a))[-1:]))


@breaks
def types_are_those_of_the_last_branch(patch: Patch) -> None:
    patch.setattr(analysis, "joined", lambda a, b: b)


@breaks
def types_are_those_of_the_first_pass(patch: Patch) -> None:
    def repeated(self: Any, loop: Any, env: Any) -> Any:
        return self.run(loop.body, {**env, getattr(loop, "name", "_"): analysis.INT})

    patch.setattr(Kinds, "repeated", repeated)


@breaks
def numbers_are_floats_of_python_afterwards(patch: Patch) -> None:
    patch.setattr(run, "typed", lambda form, bound, flags: bound)


# The trial and the log of writes.


@breaks
def arrays_are_not_put_back(patch: Patch) -> None:
    patch.setattr(run, "put_back", lambda arrays, before: None)


@breaks
def writes_are_not_logged(patch: Patch) -> None:
    patch.setattr(Tape, "log_whole", lambda ctx, o, old: None)


@breaks
def numbers_receive_no_cotangent(patch: Patch) -> None:
    original = run.pull_loop

    def pull_loop(entry: Any) -> None:
        original((*entry[:-1], [active_number(0.0, None) for _ in entry[-1]]))

    patch.setattr(run, "pull_loop", pull_loop)


if __name__ == "__main__":
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for name, change in BREAKS.items():
        print(f"{name:60} {loops_until_found(change, most)}", flush=True)
