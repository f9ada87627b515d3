"""What is sent on the way back, against what was sent."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

from benchmarks.scaling import measure
from mooncake_py import grad
from mooncake_py.integrations.mpi4py import over
from tests.integrations.mpi4py.on_ranks.steps.program import every_step


def check_linear_exchanges_send_no_more_back(comm: MPI.Intracomm) -> None:
    measured = measure(size=12, steps=3, rounds=1)
    neighbours = {1: 0, 2: 1, 3: 2, 4: 2}[comm.size]
    assert measured.messages == measured.messages_back == neighbours
    assert measured.nbytes == measured.nbytes_back == neighbours * 12 * 8


def check_messages_of_all_kinds_send_no_more_back(comm: MPI.Intracomm) -> None:
    program = every_step("pairs")
    with over(comm) as session:
        grad(lambda state: program.on_rank(comm, state))(program.initial(comm.rank))
    here = [session.sent.nbytes, session.sent_back.nbytes]
    there, back = np.sum(comm.allgather(here), axis=0)
    assert 0 < back <= there
