"""Rules for `scipy.stats`: most of it is Python, which is derived."""

from mooncake_py.rules.scipy.stats import compiled as compiled
from mooncake_py.rules.scipy.stats import entropies as entropies
from mooncake_py.rules.scipy.stats import limits as limits
from mooncake_py.rules.scipy.stats import methods as methods
from mooncake_py.rules.scipy.stats import multivariate as multivariate
from mooncake_py.rules.scipy.stats import parsers as parsers
