"""Communicators that a program makes within a derivative, and what it asks of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpi4py import MPI

from mooncake_py.integrations.mpi4py.session import current
from mooncake_py.rules.declare import contextual, zero_derivative
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.mode import Mode

__all__: list[str] = []

MAKING = (
    MPI.Comm.Clone, MPI.Comm.Dup, MPI.Comm.Dup_with_info, MPI.Comm.Create, MPI.Comm.Split,
    MPI.Comm.Split_type, MPI.Intracomm.Create_cart, MPI.Cartcomm.Sub,
)  # fmt: skip


def making(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a communicator, and its channels with it."""

    def run(ctx: Mode, comm: Any, *args: Any, **kwargs: Any) -> Any:
        session = current()
        session.meet(comm)
        made = make(comm, *args, **unwrapped(kwargs))
        session.adopt(made)
        return made

    return run


for make in MAKING:
    contextual(make)(making(make))


@contextual(MPI.Comm.Free)
def free(ctx: Mode, comm: Any) -> None:
    """Free a communicator at the end: the way back needs it."""
    current().freed.append(comm)


def probing(name: str) -> Callable[..., Any]:
    """Return a probe for messages of the program."""

    def probe(
        ctx: Mode, comm: Any, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG,
        status: Any = None,
    ) -> bool:  # fmt: skip
        session = current()
        program = session.channels_of(comm).program
        while not program.Iprobe(source, tag, status):
            session.poll()
            if name == "iprobe":
                return False
        return True

    return probe


for name in ("Probe", "Iprobe", "probe", "iprobe"):
    contextual(getattr(MPI.Comm, name))(probing(name.lower()))

# Calls that change nothing that a derivative would see.
HARMLESS = {
    MPI.Comm: "Get_group Get_size Get_rank Get_topology Get_name Is_inter Is_intra Get_attr",
    MPI.Cartcomm: "Get_dim Get_topo Get_cart_rank Get_coords Shift",
    MPI.Intracomm: "Cart_map",
    MPI.Status: "Get_source Get_tag Get_error Get_count Get_elements",
    MPI.Datatype: "Get_size Get_extent Dup Create_contiguous Create_vector Create_hvector "
    "Create_indexed Create_hindexed Create_indexed_block Create_subarray Create_resized Commit "
    "Free",
    MPI.Group: "Get_size Get_rank Translate_ranks Incl Excl",
}
for kind, names in HARMLESS.items():
    for name in names.split():
        function = kind.__dict__[name]
        function = getattr(function, "__func__", function)
        zero_derivative(function, because="returns what is constant")
zero_derivative(
    MPI.Wtime, MPI.Wtick, MPI.Compute_dims, MPI.Get_processor_name,
    because="returns what is constant",
)  # fmt: skip
