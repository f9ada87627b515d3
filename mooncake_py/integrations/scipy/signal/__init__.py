"""Rules for `scipy.signal`, a module for each family of functions."""

from mooncake_py.integrations.scipy.signal import filters as filters
from mooncake_py.integrations.scipy.signal import peaks as peaks
from mooncake_py.integrations.scipy.signal import planes as planes
from mooncake_py.integrations.scipy.signal import resampling as resampling
