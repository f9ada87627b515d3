"""Rules for `scipy.interpolate`, a module for each family of interpolants.

What SciPy writes in Python is derived; these are the compiled functions that it calls.
"""

from mooncake_py.integrations.scipy.interpolate import bsplines as bsplines
from mooncake_py.integrations.scipy.interpolate import fitpack as fitpack
from mooncake_py.integrations.scipy.interpolate import grids as grids
from mooncake_py.integrations.scipy.interpolate import piecewise as piecewise
from mooncake_py.integrations.scipy.interpolate import scattered as scattered
