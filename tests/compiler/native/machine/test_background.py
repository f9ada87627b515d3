"""Work in a thread."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

from mooncake_py.compiler.native.machine.background import Worker


def test_work_is_done_in_order_by_another_thread() -> None:
    worker = Worker()
    found: list[tuple[int, bool]] = []
    main = threading.current_thread()
    for k in range(20):
        worker.add(lambda k=k: found.append((k, threading.current_thread() is main)))
    worker.wait()
    assert found == [(k, False) for k in range(20)]
    worker.add(lambda: found.append((20, False)))
    worker.wait()
    assert found[-1] == (20, False)


PROGRAM = """
import time
from mooncake_py.compiler.native.machine.background import WORKER
for k in range(100):
    WORKER.add(lambda k=k: (time.sleep(0.1), print(k, flush=True)))
time.sleep(0.15)
"""


def test_programs_end_with_what_has_begun() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True
    )
    assert 0 < len(run.stdout.split()) < 10


def test_a_pause_ends_what_has_begun() -> None:
    worker = Worker()
    found: list[int] = []
    begun = threading.Event()

    def first() -> None:
        begun.set()
        time.sleep(0.05)
        found.append(1)

    worker.add(first)
    worker.add(lambda: found.append(2))
    begun.wait()
    worker.pause()
    worker.add(lambda: found.append(3))
    assert found == [1]
    assert not worker.is_busy
    worker.resume()
    worker.wait()
    assert found == [1, 2, 3]


def test_children_do_what_is_left() -> None:
    worker = Worker()
    found: list[int] = []
    worker.pause()
    worker.add(lambda: found.append(1))
    worker.resume_in_child()
    worker.wait()
    assert found == [1]


def test_work_that_fails_does_not_end_the_thread() -> None:
    worker = Worker()
    found: list[int] = []
    worker.add(lambda: found.append(1 // len(found)))
    worker.add(lambda: found.append(2))
    worker.wait()
    assert found == [2]
