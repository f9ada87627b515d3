"""Rules: how to differentiate what Python and NumPy compute in compiled code.

`registry` keeps them, `declare` and `rrule` are the forms in which they are written, and each
other module holds the rules of one family of functions.
"""

from mooncake_py.rules import (
    clipping,
    cmath_functions,
    complex_parts,
    contraction,
    creation,
    differences,
    einsum,
    elementwise,
    inplace,
    joining,
    linalg,
    math_functions,
    nan_reductions,
    nondifferentiable,
    norms,
    operators,
    piecewise,
    powers,
    python_builtins,
    random,
    reductions,
    repeating,
    selection,
    shaping,
    shuffling,
    sorting,
    trigonometric,
    ufunc_methods,
)
from mooncake_py.rules.declare import (
    bilinear,
    elementwise,
    from_vjp,
    linear,
    not_implemented,
    overlay,
    wirtinger,
    zero_derivative,
)
from mooncake_py.rules.rrule import rrule
