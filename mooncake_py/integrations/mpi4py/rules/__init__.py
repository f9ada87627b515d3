"""Rules for mpi4py: read when a program has imported it."""

from mooncake_py.integrations.mpi4py.rules import collective as collective
from mooncake_py.integrations.mpi4py.rules import communicators as communicators
from mooncake_py.integrations.mpi4py.rules import messages as messages
from mooncake_py.integrations.mpi4py.rules import objects as objects
from mooncake_py.integrations.mpi4py.rules import reductions as reductions
from mooncake_py.integrations.mpi4py.rules import refusals as refusals
from mooncake_py.integrations.mpi4py.rules import requests as requests
