"""Rules for `scipy.special`, a module for each family of functions.

An order or a parameter in which the derivative has no closed form is refused where it is active,
except for those of distribution functions, see :mod:`parameters`.
Functions written in Python (`softmax`, `comb`) are derived, and need no rule.
Equation numbers are those of the DLMF, https://dlmf.nist.gov.
"""

from mooncake_py.integrations.scipy.special import bessel as bessel
from mooncake_py.integrations.scipy.special import counts as counts
from mooncake_py.integrations.scipy.special import distributions as distributions
from mooncake_py.integrations.scipy.special import draws as draws
from mooncake_py.integrations.scipy.special import elementary as elementary
from mooncake_py.integrations.scipy.special import elliptic as elliptic
from mooncake_py.integrations.scipy.special import errors as errors
from mooncake_py.integrations.scipy.special import gammas as gammas
from mooncake_py.integrations.scipy.special import harmonics as harmonics
from mooncake_py.integrations.scipy.special import hypergeometric as hypergeometric
from mooncake_py.integrations.scipy.special import incomplete as incomplete
from mooncake_py.integrations.scipy.special import information as information
from mooncake_py.integrations.scipy.special import polynomials as polynomials
from mooncake_py.integrations.scipy.special import sums as sums
