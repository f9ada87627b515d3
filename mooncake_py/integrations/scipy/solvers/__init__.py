"""SciPy's solvers by the implicit function theorem; loaded with the parts of SciPy."""

from mooncake_py.modules import SOLVERS

SOLVERS.append(f"{__name__}.")
