"""Rules for the compiled kernels of `scipy.sparse`; all else of it is Python, which is derived.

A kernel writes arrays that it is given: indices, which depend on indices alone, and elements,
which are elements of the operands, or sums and products of some of them.  So each is written here
as assignments of elements at places that SciPy's own kernel tells, applied to indices.

Sums, differences, products and quotients keep elements that happen to be zero, which SciPy drops:
their derivatives are not zero.
"""

from mooncake_py.integrations.scipy.sparse import arithmetic as arithmetic
from mooncake_py.integrations.scipy.sparse import joining as joining
from mooncake_py.integrations.scipy.sparse import lists as lists
from mooncake_py.integrations.scipy.sparse import movements as movements
from mooncake_py.integrations.scipy.sparse import products as products
