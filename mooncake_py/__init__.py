"""Automatic differentiation of ordinary Python and NumPy code, in-place mutation included."""

import importlib as _importlib
import typing as _typing
from contextlib import suppress as _suppress

from mooncake_py.checkpointing import checkpoint as checkpoint
from mooncake_py.checkpointing import checkpointed as checkpointed
from mooncake_py.checkpointing import checkpointed_loop as checkpointed_loop
from mooncake_py.checkpointing import checkpointed_while as checkpointed_while
from mooncake_py.diagnostics.meter import Progress as Progress
from mooncake_py.errors import CheckpointError as CheckpointError
from mooncake_py.errors import DerivativeDropError as DerivativeDropError
from mooncake_py.errors import DifferentResultError as DifferentResultError
from mooncake_py.errors import InvalidModeError as InvalidModeError
from mooncake_py.errors import InvalidRuleError as InvalidRuleError
from mooncake_py.errors import InvalidTangentError as InvalidTangentError
from mooncake_py.errors import MemoryBudgetError as MemoryBudgetError
from mooncake_py.errors import MissingRuleError as MissingRuleError
from mooncake_py.errors import MooncakeError as MooncakeError
from mooncake_py.errors import MooncakeWarning as MooncakeWarning
from mooncake_py.errors import NestedDerivativeError as NestedDerivativeError
from mooncake_py.errors import NonDifferentiableArgumentError as NonDifferentiableArgumentError
from mooncake_py.errors import NonFiniteDerivativeError as NonFiniteDerivativeError
from mooncake_py.errors import NonScalarOutputError as NonScalarOutputError
from mooncake_py.errors import NotHolomorphicError as NotHolomorphicError
from mooncake_py.errors import PreparedArgumentsError as PreparedArgumentsError
from mooncake_py.errors import PreparedInUseError as PreparedInUseError
from mooncake_py.errors import PullbackReuseError as PullbackReuseError
from mooncake_py.errors import RuleTestError as RuleTestError
from mooncake_py.errors import SharedArgumentsError as SharedArgumentsError
from mooncake_py.errors import SolverError as SolverError
from mooncake_py.errors import SourceUnavailableError as SourceUnavailableError
from mooncake_py.errors import SparsityError as SparsityError
from mooncake_py.errors import UnsupportedSyntaxError as UnsupportedSyntaxError
from mooncake_py.errors import UntrackedWriteError as UntrackedWriteError
from mooncake_py.first_order import grad as grad
from mooncake_py.first_order import value_and_grad as value_and_grad
from mooncake_py.interface import build_rrule as build_rrule
from mooncake_py.interface import jvp as jvp
from mooncake_py.interface import vjp as vjp
from mooncake_py.modes.reverse.settings import compile_mode as compile_mode
from mooncake_py.modes.reverse.settings import debug_mode as debug_mode
from mooncake_py.rules.declare import bilinear as bilinear
from mooncake_py.rules.declare import elementwise as elementwise
from mooncake_py.rules.declare import from_vjp as from_vjp
from mooncake_py.rules.declare import linear as linear
from mooncake_py.rules.declare import not_implemented as not_implemented
from mooncake_py.rules.declare import overlay as overlay
from mooncake_py.rules.declare import zero_derivative as zero_derivative
from mooncake_py.rules.frule import frule as frule
from mooncake_py.rules.holomorphic import wirtinger as wirtinger
from mooncake_py.rules.local import OperatorRuleError as OperatorRuleError
from mooncake_py.rules.local import local_rules as local_rules
from mooncake_py.rules.local import using as _using
from mooncake_py.rules.optional import register_rules as register_rules
from mooncake_py.rules.registry import DuplicateRuleError as DuplicateRuleError
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
from mooncake_py.tangents import TangentSpec as TangentSpec
from mooncake_py.tangents import fdata as fdata
from mooncake_py.tangents import fdata_type as fdata_type
from mooncake_py.tangents import increment as increment
from mooncake_py.tangents import randn_tangent as randn_tangent
from mooncake_py.tangents import rdata as rdata
from mooncake_py.tangents import rdata_type as rdata_type
from mooncake_py.tangents import register_tangent as register_tangent
from mooncake_py.tangents import tangent as tangent
from mooncake_py.tangents import tangent_type as tangent_type
from mooncake_py.tangents import typeof as typeof
from mooncake_py.tangents import zero_codual as zero_codual
from mooncake_py.tangents import zero_coduals as zero_coduals
from mooncake_py.tangents import zero_tangent as zero_tangent

if _typing.TYPE_CHECKING:
    from mooncake_py.higher_order import hessian as hessian
    from mooncake_py.higher_order import hessian_diagonal as hessian_diagonal
    from mooncake_py.higher_order import hvp as hvp
    from mooncake_py.higher_order import value_and_hvp as value_and_hvp
    from mooncake_py.higher_order import value_grad_and_hessian as value_grad_and_hessian
    from mooncake_py.jacobians import jacobian as jacobian
    from mooncake_py.jacobians import value_and_jacobian as value_and_jacobian
    from mooncake_py.nesting.forwarddiff import forwarddiff as forwarddiff
    from mooncake_py.prepared import prepare as prepare
    from mooncake_py.reflecting import profile_gradient as profile_gradient
    from mooncake_py.reflecting import rewritten as rewritten
    from mooncake_py.reflecting import rule_of as rule_of
    from mooncake_py.reflecting import show as show
    from mooncake_py.reflecting import tape_of as tape_of
    from mooncake_py.solvers.implicit import implicit as implicit
    from mooncake_py.sparse.derivatives import sparse_hessian as sparse_hessian
    from mooncake_py.sparse.derivatives import sparse_jacobian as sparse_jacobian
    from mooncake_py.testing import test_rule as test_rule
    from mooncake_py.testing import test_tangent as test_tangent
    from mooncake_py.utilities.clipping import clip_gradient as clip_gradient
    from mooncake_py.utilities.flattening import flatten as flatten
    from mooncake_py.utilities.gradient import gradient as gradient
    from mooncake_py.utilities.gradient import pullback as pullback
    from mooncake_py.utilities.holomorphic import holomorphic_derivative as holomorphic_derivative
    from mooncake_py.utilities.holomorphic import real_jacobian as real_jacobian
    from mooncake_py.utilities.holomorphic import wirtinger_derivatives as wirtinger_derivatives
    from mooncake_py.utilities.hooks import hook as hook
    from mooncake_py.utilities.ignoring import ignore_derivatives as ignore_derivatives
    from mooncake_py.utilities.nesting import is_deriving as is_deriving
    from mooncake_py.utilities.nesting import nest_level as nest_level
    from mooncake_py.utilities.parameters import Grads as Grads
    from mooncake_py.utilities.parameters import Params as Params
    from mooncake_py.utilities.progress import progress as progress
    from mooncake_py.utilities.showing import showgrad as showgrad
    from mooncake_py.utilities.stopping import stop_gradient as stop_gradient
    from mooncake_py.utilities.trees import tree_leaves as tree_leaves
    from mooncake_py.utilities.trees import tree_map as tree_map
    from mooncake_py.via_ad import rrule_via_ad as rrule_via_ad

__version__ = "0.1.0"

with _suppress(ModuleNotFoundError):  # the engine works without it
    _importlib.import_module("mooncake_py.integrations")

# Imported when they are first asked for: most programs do without these, and they take a tenth of
# the time of an import.  Each module with its names.
_LATER = {
    "higher_order": "hessian hessian_diagonal hvp value_and_hvp value_grad_and_hessian",
    "jacobians": "jacobian value_and_jacobian",
    "nesting.forwarddiff": "forwarddiff",
    "prepared": "prepare",
    "reflecting": "profile_gradient rewritten rule_of show tape_of",
    "solvers.implicit": "implicit",
    "sparse.derivatives": "sparse_hessian sparse_jacobian",
    "testing": "test_rule test_tangent",
    "utilities.clipping": "clip_gradient",
    "utilities.flattening": "flatten",
    "utilities.gradient": "gradient pullback",
    "utilities.holomorphic": "holomorphic_derivative real_jacobian wirtinger_derivatives",
    "utilities.hooks": "hook",
    "utilities.ignoring": "ignore_derivatives",
    "utilities.nesting": "is_deriving nest_level",
    "utilities.parameters": "Grads Params",
    "utilities.progress": "progress",
    "utilities.showing": "showgrad",
    "utilities.stopping": "stop_gradient",
    "utilities.trees": "tree_leaves tree_map",
    "via_ad": "rrule_via_ad",
}
_MODULES = {_name: _module for _module, _names in _LATER.items() for _name in _names.split()}
# Out of sight of type checkers, which would take the list for empty, not for all imports.
globals()["__all__"] = [_name for _name in [*globals(), *_MODULES] if _name[0] != "_"]


def __getattr__(name: str) -> _typing.Any:
    if name == "testing":
        return _importlib.import_module("mooncake_py.testing")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _using(None):  # the rules that come with it hold everywhere, wherever it is asked for
        module = _importlib.import_module(f"mooncake_py.{_MODULES[name]}")
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
