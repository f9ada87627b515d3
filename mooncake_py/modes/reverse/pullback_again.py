"""Outputs and pullbacks of functions that run whole, called again; see `whole_again`."""

from __future__ import annotations

from functools import partial
from typing import Any

from mooncake_py.modes.reverse.called_again import CalledAgain
from mooncake_py.modes.reverse.entry import entry_for, kept
from mooncake_py.modes.reverse.whole import SIMPLE
from mooncake_py.modes.reverse.whole_arguments import parts_of_one
from mooncake_py.modes.reverse.whole_pullback import is_discrete, started, sweeps_for

__all__ = ["pullback_again"]

PULLBACK = "pullback"


def pullback_again(f: Any) -> CalledAgain[[Any, tuple[Any, ...]], tuple[Any, Any]] | None:
    """Return outputs and pullbacks of a function, None if they are not kept."""
    return kept(f, PULLBACK, made)


def made(f: Any, args: tuple[Any, ...]) -> Any:
    """Return the printed function of ``f`` and ``args``, None if there is none."""
    chosen = [k for k, a in enumerate(args) if not is_discrete(a)]
    entry = entry_for(PULLBACK, f, args) if SIMPLE.issuperset(map(type, args)) else None
    if entry is None or not chosen:
        return None
    reading = entry.reading
    sweeps = sweeps_for(entry.site, reading, chosen)
    if sweeps is None or (reading.captured and parts_of_one(sweeps.arguments)):
        return None
    scope = entry.scope
    scope |= {
        "names": reading.site.region.inputs,
        "started": partial(started, chosen, sweeps, reading.output),
    }
    return entry.define("f, args", ["return started(f, args, dict(zip(names, found)))"])
