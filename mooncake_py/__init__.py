"""Automatic differentiation of ordinary Python and NumPy code, in-place mutation included."""

from mooncake_py.errors import MooncakeError as MooncakeError
from mooncake_py.interface import build_rrule as build_rrule
from mooncake_py.interface import grad as grad
from mooncake_py.interface import value_and_grad as value_and_grad
from mooncake_py.interface import vjp as vjp
from mooncake_py.rules.declare import bilinear as bilinear
from mooncake_py.rules.declare import elementwise as elementwise
from mooncake_py.rules.declare import from_vjp as from_vjp
from mooncake_py.rules.declare import linear as linear
from mooncake_py.rules.declare import not_implemented as not_implemented
from mooncake_py.rules.declare import overlay as overlay
from mooncake_py.rules.declare import wirtinger as wirtinger
from mooncake_py.rules.declare import zero_derivative as zero_derivative
from mooncake_py.rules.rrule import rrule as rrule
from mooncake_py.tangents import CoDual as CoDual
from mooncake_py.tangents import Dual as Dual
from mooncake_py.tangents import FData as FData
from mooncake_py.tangents import MutableTangent as MutableTangent
from mooncake_py.tangents import NoFData as NoFData
from mooncake_py.tangents import NoRData as NoRData
from mooncake_py.tangents import NoTangent as NoTangent
from mooncake_py.tangents import RData as RData
from mooncake_py.tangents import Tangent as Tangent
from mooncake_py.tangents import fdata as fdata
from mooncake_py.tangents import fdata_type as fdata_type
from mooncake_py.tangents import increment as increment
from mooncake_py.tangents import randn_tangent as randn_tangent
from mooncake_py.tangents import rdata as rdata
from mooncake_py.tangents import rdata_type as rdata_type
from mooncake_py.tangents import tangent as tangent
from mooncake_py.tangents import tangent_type as tangent_type
from mooncake_py.tangents import typeof as typeof
from mooncake_py.tangents import zero_codual as zero_codual
from mooncake_py.tangents import zero_tangent as zero_tangent
from mooncake_py.testing import test_rule as test_rule
from mooncake_py.testing import test_tangent as test_tangent

__version__ = "0.1.0"
