"""Rules for `scipy.interpolate`, a module for each family of interpolants.

What SciPy writes in Python is derived; these are the compiled functions that it calls.
"""

from mooncake_py.integrations.scipy.interpolate import bsplines as bsplines
from mooncake_py.integrations.scipy.interpolate import fitpack as fitpack
from mooncake_py.integrations.scipy.interpolate import grids as grids
from mooncake_py.integrations.scipy.interpolate import piecewise as piecewise
from mooncake_py.integrations.scipy.interpolate import scattered as scattered
from mooncake_py.integrations.scipy.interpolate.compiled_fitpack import IS_PORT

if IS_PORT:
    from mooncake_py.integrations.scipy.interpolate import fitpack_port as fitpack_port
else:
    from mooncake_py.integrations.scipy.interpolate import fitpack_fortran as fitpack_fortran
