"""Rules for mpi4py: read when a program has imported it."""

from mooncake_py.distributed.rules import collective as collective
from mooncake_py.distributed.rules import communicators as communicators
from mooncake_py.distributed.rules import messages as messages
from mooncake_py.distributed.rules import objects as objects
from mooncake_py.distributed.rules import reductions as reductions
from mooncake_py.distributed.rules import refusals as refusals
from mooncake_py.distributed.rules import requests as requests
