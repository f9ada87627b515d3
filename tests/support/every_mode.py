"""A plugin of pytest that takes each derivative of a test in every mode.

``-p tests.support.every_mode`` records what a test differentiates by `grad`, `value_and_grad`,
`vjp` and `jvp`.  When the test has passed, the plugin takes the same derivative in the other modes,
twice, with compiled functions, inside another derivative, and after calls with operands of other
shapes and dtypes (see `modes.checks`).  All choices are seeded by the name of the test.  Each
derivative is taken in some of the modes; with ``EVERY_MODE=all`` in the environment in all of them,
which takes four times as long, and with ``EVERY_MODE_SEED=1`` the choices are others.

A test marked ``without_modes(reason, ...)`` does without the modes whose names begin so, without
all if none is named.  What another mode may refuse is a table in `modes.refusals`.
"""

from __future__ import annotations

import os
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from tests.support.modes.checks import MODES, Mode, ModeError, Skipped, check_record
from tests.support.modes.recording import Record, recording

WHOLE = os.environ.get("EVERY_MODE") == "all"
SEED = os.environ.get("EVERY_MODE_SEED", "")
MOST = 4 if WHOLE else 1  # records of a test that are checked

counts: Counter[str] = Counter()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if modes_of(item)]


def modes_of(item: pytest.Item) -> list[Mode]:
    """Return the modes that a test is checked in."""
    without: list[str] = []
    for marker in item.iter_markers("without_modes"):
        _, *names = marker.args
        without += names or [""]
    return [mode for mode in MODES if not mode.__name__.startswith(tuple(without))]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[Any]:
    with recording() as records:
        result = yield
    rng = Random(zlib.crc32(f"{item.name}{SEED}".encode()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for record in chosen(records, rng):
            wanted = MODES if WHOLE else sampled(rng)
            modes = [mode for mode in modes_of(item) if mode in wanted]
            check_one(record, modes, rng.randrange(2**32))
    return result


def sampled(rng: Random) -> list[Mode]:
    """Return the quick modes, and one of each sort of the others."""
    return [*MODES[:3], rng.choice(MODES[3:5]), rng.choice(MODES[5:])]


def chosen(records: list[Record], rng: Random) -> list[Record]:
    """Return some of the records of a test."""
    return records if len(records) <= MOST else rng.sample(records, MOST)


def check_one(record: Record, modes: list[Mode], seed: int) -> None:
    """Check a record; fail with the mode that is wrong."""
    try:
        record.context.run(check_record, record, modes, seed, counts)
    except Skipped as reason:
        counts[f"left out: {reason}"] += 1
    except RecursionError:  # of the checks themselves
        counts["left out: too deep"] += 1
    except ModeError as error:
        raise pytest.fail.Exception(f"{record.text}\n{error}", pytrace=False) from None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.section("every mode")
    for name, count in sorted(counts.items()):
        terminalreporter.write_line(f"{count:6} {name}")
