"""Rules for `scipy.stats`: most of it is Python, which is derived."""

from mooncake_py.integrations.scipy.stats import compiled as compiled
from mooncake_py.integrations.scipy.stats import entropies as entropies
from mooncake_py.integrations.scipy.stats import limits as limits
from mooncake_py.integrations.scipy.stats import methods as methods
from mooncake_py.integrations.scipy.stats import multivariate as multivariate
from mooncake_py.integrations.scipy.stats import parsers as parsers
