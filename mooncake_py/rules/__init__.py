"""Rules: the derivatives of functions that Python and NumPy compute in compiled code.

`registry` keeps them, `declare` and `rrule` are the forms in which they are written, and each
other module holds the rules of one family of functions.  Rules for modules that many programs do
not use are loaded when the program has imported the module: see `optional`.
"""

from mooncake_py.rules import binning as binning
from mooncake_py.rules import clipping as clipping
from mooncake_py.rules import cmath_functions as cmath_functions
from mooncake_py.rules import complex_parts as complex_parts
from mooncake_py.rules import contraction as contraction
from mooncake_py.rules import creation as creation
from mooncake_py.rules import differences as differences
from mooncake_py.rules import eigen as eigen
from mooncake_py.rules import einsum as einsum
from mooncake_py.rules import elementwise as elementwise
from mooncake_py.rules import extrema as extrema
from mooncake_py.rules import factorizations as factorizations
from mooncake_py.rules import grids as grids
from mooncake_py.rules import inplace as inplace
from mooncake_py.rules import interpolation as interpolation
from mooncake_py.rules import joining as joining
from mooncake_py.rules import linalg as linalg
from mooncake_py.rules import math_functions as math_functions
from mooncake_py.rules import meshes as meshes
from mooncake_py.rules import nditer as nditer
from mooncake_py.rules import nondifferentiable as nondifferentiable
from mooncake_py.rules import norms as norms
from mooncake_py.rules import operators as operators
from mooncake_py.rules import passing_on as passing_on
from mooncake_py.rules import piecewise as piecewise
from mooncake_py.rules import powers as powers
from mooncake_py.rules import products as products
from mooncake_py.rules import python_builtins as python_builtins
from mooncake_py.rules import quantiles as quantiles
from mooncake_py.rules import repeating as repeating
from mooncake_py.rules import running as running
from mooncake_py.rules import selection as selection
from mooncake_py.rules import sets as sets
from mooncake_py.rules import shaping as shaping
from mooncake_py.rules import singular_values as singular_values
from mooncake_py.rules import sorting as sorting
from mooncake_py.rules import storage as storage
from mooncake_py.rules import sums as sums
from mooncake_py.rules import trigonometric as trigonometric
from mooncake_py.rules import ufunc_methods as ufunc_methods
from mooncake_py.rules import undrawn as undrawn
from mooncake_py.rules import variances as variances
from mooncake_py.rules import vectorizing as vectorizing
from mooncake_py.rules import weighted_means as weighted_means
from mooncake_py.rules.steady import hold_functions

hold_functions()
