"""Sources of callbacks' draws and items: generators of random numbers, and iterators.

The program finds them as in the plain call.  An evaluation outside the solver finds them where they
were before it, and leaves them where they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from mooncake_py.language import draws
from mooncake_py.language.draws import Draws
from mooncake_py.rules.generator_states import is_in_state, set_state, state_of

__all__ = ["Position", "at", "ends_of"]


class Position:
    """Where all that a run of callbacks has moved on was before it, or after it.

    Parameters
    ----------
    run : Draws
        What the run has taken note of.
    at_end : bool
    """

    def __init__(self, run: Draws, at_end: bool) -> None:
        self.states = list(run.states.values())
        if at_end:
            self.states = [(source, state_of(source)) for source, _ in self.states]
        self.moved, self.at_end = run.moved, at_end

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Let a block begin there; afterwards all is where it was."""
        now = []
        for source, state in self.states:
            draws.note(source)
            now.append((source, state_of(source)))
            set_state(source, state)
        try:
            with self.moved.again(self.at_end):
                yield
        finally:
            for source, state in now:
                set_state(source, state)


def at(position: Position | None) -> AbstractContextManager[None]:
    """Return a block that begins at a position."""
    return nullcontext() if position is None else position.taken()


def ends_of(run: Draws) -> tuple[Position | None, Position | None]:
    """Return both positions of a run, None if it has moved nothing on."""
    for key, (source, state) in list(run.states.items()):
        if is_in_state(source, state):
            del run.states[key]
    if not (run.states or run.moved.known):
        return None, None
    return Position(run, False), Position(run, True)
