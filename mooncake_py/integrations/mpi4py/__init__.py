"""Derivatives of programs that run on several machines, by MPI (the extra `mpi`).

A program that calls mpi4py is differentiated unchanged: each rank differentiates its own call,
and the adjoint of each communication communicates the other way.  ``value_and_grad(f, comm=comm)``
does it for gradients; :func:`over` is a block for all other derivatives.
"""

from mooncake_py.errors import RankError
from mooncake_py.optional import import_optional

import_optional("mpi4py", "mpi", __name__)

from mooncake_py.integrations.mpi4py.session import over  # noqa: E402

__all__ = ["RankError", "over"]
