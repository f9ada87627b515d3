"""Tangents: representations of small changes, for each type of value.

One primal type has one tangent type.  A tangent splits into fdata, identified by address and
accumulated in place, and rdata, identified by value and returned by pullbacks.
"""

from mooncake_py.tangents.arithmetic import accumulate, dot, scale, set_to_zero
from mooncake_py.tangents.build import difference, randn_tangent, zero_tangent
from mooncake_py.tangents.kinds import (
    FData,
    MutableTangent,
    NoFData,
    NoRData,
    NoTangent,
    RData,
    Tangent,
)
from mooncake_py.tangents.memory import owner, shadow_view, zeros_like_owner
from mooncake_py.tangents.of_type import fdata_type, rdata_type, tangent_type, typeof
from mooncake_py.tangents.pairs import CoDual, Dual, increment, zero_codual, zero_coduals
from mooncake_py.tangents.primal import add_to_primal
from mooncake_py.tangents.spec import TangentSpec, register_tangent
from mooncake_py.tangents.split import fdata, increment_rdata, rdata, tangent, zero_rdata
from mooncake_py.tangents.type_check import instance_of
from mooncake_py.tangents.verify import verify_fdata, verify_rdata, verify_tangent

__all__ = [
    "CoDual",
    "Dual",
    "FData",
    "MutableTangent",
    "NoFData",
    "NoRData",
    "NoTangent",
    "RData",
    "Tangent",
    "TangentSpec",
    "accumulate",
    "add_to_primal",
    "difference",
    "dot",
    "fdata",
    "fdata_type",
    "increment",
    "increment_rdata",
    "instance_of",
    "owner",
    "randn_tangent",
    "rdata",
    "rdata_type",
    "register_tangent",
    "scale",
    "set_to_zero",
    "shadow_view",
    "tangent",
    "tangent_type",
    "typeof",
    "verify_fdata",
    "verify_rdata",
    "verify_tangent",
    "zero_codual",
    "zero_coduals",
    "zero_rdata",
    "zero_tangent",
    "zeros_like_owner",
]
