"""Rules for other packages, a module or folder for each; each loads with its package.

The engine does without them: what stands here uses the rules' public interface, as any package may
that brings rules of its own (docs/writing_integrations.md).
"""

from mooncake_py.rules.optional import register_rules

__all__: list[str] = []

RULES = (
    "fft", "interpolate", "linalg", "ndimage", "signal", "sparse", "spatial", "spatial.distance",
    "spatial.transform", "special", "stats",
)  # fmt: skip
SOLVERS = ("integrate", "optimize", "sparse.linalg")

register_rules(
    {"mpi4py.MPI": f"{__name__}.mpi4py.rules", "networkx.utils.decorators": f"{__name__}.networkx"}
    | {f"scipy.{part}": f"{__name__}.scipy.{part.replace('.', '_')}" for part in RULES}
    | {f"scipy.{part}": f"{__name__}.scipy.solvers.{part.replace('.', '_')}" for part in SOLVERS}
)
