"""Fair timing: the candidates take turns, so that a slow spell of the machine meets all of them."""

import copy
import gc
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

from mooncake_py.compiler.native.machine.background import WORKER

FEWEST_ROUNDS = 5
MOST_ROUNDS = 200


def interleaved_medians(
    candidates: Mapping[str, Callable[..., Any]],
    arguments: tuple[Any, ...],
    budget: float,
    warm: bool = False,
) -> dict[str, float]:
    """Time each candidate on fresh copies of the same arguments, in turns.

    Parameters
    ----------
    candidates : mapping of str to callable
        Each is called as `candidate(*arguments)`; each has run once before.
    arguments : tuple
        Copied before each call, outside the time measured: candidates may overwrite them.
    budget : float, in seconds
        Rounds end when it is used up, but not before five of them.
    warm : bool
        Whether each call is timed right after one that is not: what is over in some 100 us takes
        up to three times as long where the caches hold what others used.

    Returns
    -------
    dict of str to float, in seconds
        The median process time of each candidate.
    """
    times: dict[str, list[float]] = {name: [] for name in candidates}
    WORKER.wait()  # until compiled code is at its best
    gc.collect()
    end = time.perf_counter() + budget
    for done in range(MOST_ROUNDS):
        if done >= FEWEST_ROUNDS and time.perf_counter() > end:
            break
        for name, candidate in candidates.items():
            if warm:
                candidate(*copy.deepcopy(arguments))
            times[name].append(seconds(candidate, arguments))
    return {name: statistics.median(taken) for name, taken in times.items()}


def seconds(function: Callable[..., Any], arguments: tuple[Any, ...]) -> float:
    """Return the process time of one call; the copying of its arguments is not counted.

    On a busy machine, process time does not count the turns of others: a long call is interrupted
    more often than a short one, and a ratio of wall-clock times would be too large.
    """
    fresh = copy.deepcopy(arguments)
    start = time.process_time()
    function(*fresh)
    return time.process_time() - start
