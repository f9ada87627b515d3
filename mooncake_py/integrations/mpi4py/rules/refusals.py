"""Parts of mpi4py without rules: they are refused by name, as they would run out of sight."""

from __future__ import annotations

from typing import Any, NoReturn

from mpi4py import MPI

from mooncake_py.diagnostics.reporting import unsupported
from mooncake_py.rules import registry
from mooncake_py.rules.declare import contextual
from mooncake_py.runtime.mode import Mode

__all__: list[str] = []

CLASSES = (
    MPI.Comm, MPI.Intracomm, MPI.Topocomm, MPI.Cartcomm, MPI.Intercomm, MPI.Request, MPI.Prequest,
    MPI.Message, MPI.Win, MPI.File,
)  # fmt: skip
SAFE = frozenset({
    "handle", "group", "size", "rank", "info", "is_inter", "is_intra", "topology", "is_topo",
    "name", "dim", "ndim", "topo", "dims", "periods", "coords", "f2py", "py2f", "toint", "fromint",
    "fromhandle", "Abort",
})  # fmt: skip
INSTEAD = {
    "Ibcast": "Bcast", "Iallreduce": "Allreduce", "Ireduce": "Reduce", "Igather": "Gather",
    "Iallgather": "Allgather", "Iscatter": "Scatter", "Ialltoall": "Alltoall",
    "Ibarrier": "Barrier", "Bsend": "Isend", "bsend": "isend", "Mprobe": "Probe",
    "Improbe": "Iprobe", "Cancel": "Wait",
}  # fmt: skip


def refuse(kind: type, name: str) -> None:
    """Refuse a method within derivatives."""
    function = kind.__dict__[name]
    function = getattr(function, "__func__", function)
    if registry.find(function) is not None:
        return
    fix = INSTEAD.get(name.removesuffix("v"), "")
    fix = (
        f"use {fix}"
        if fix
        else "leave it out of the differentiated function, or use a call with a rule"
    )

    def run(ctx: Mode, *args: Any, **kwargs: Any) -> NoReturn:
        raise unsupported(
            ctx,
            f"no rule for mpi4py.MPI.{kind.__name__}.{name}",
            why="it communicates, or changes how ranks communicate, out of the derivative's sight",
            fix=f"{fix};\ndocs/distributed.md lists the calls that have one",
        )

    contextual(function)(run)


for kind in CLASSES:
    for name in kind.__dict__:
        if not name.startswith("_") and name not in SAFE and callable(getattr(kind, name)):
            refuse(kind, name)
