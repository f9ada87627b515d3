"""Rules for random numbers: those of `random` and those of `numpy.random`."""

from mooncake_py.rules import random as random
from mooncake_py.rules import shaped_draws as shaped_draws
from mooncake_py.rules import shuffling as shuffling
from mooncake_py.rules import transformed_draws as transformed_draws
