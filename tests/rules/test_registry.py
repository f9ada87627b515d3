"""The registry holds what it should: rules that are tested, declared once, for real functions."""

from __future__ import annotations

import builtins
import ctypes
import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mooncake_py
from mooncake_py.errors import InvalidRuleError
from mooncake_py.rooms import is_engine
from mooncake_py.rules import registry
from mooncake_py.rules.clipping import CLIP
from mooncake_py.rules.coverage import is_part
from mooncake_py.rules.kinds import BilinearRule, OverlayRule, Rule, VjpRule, function_name
from mooncake_py.rules.registry import DuplicateRuleError
from tests.rules import cases
from tests.rules.cases.exemptions import EXEMPTIONS, is_fortran, reason

PACKAGE = Path(mooncake_py.__file__).parent


def package_rules() -> list[tuple[Hashable, Rule]]:
    """Return the rules of the package, without those that other tests have registered.

    Nor those of the engine for parts of itself, which it registers where it first needs them, and
    of functions of other packages, which tests have taken in; `tests/solvers` and
    `tests/integrations/mpi4py` have those of solvers and of mpi4py.
    """
    return [
        (function, rule)
        for function, rule in registry.registered()
        if Path(rule.origin.file).is_relative_to(PACKAGE)
        and not any(map(Path(rule.origin.file).is_relative_to, ELSEWHERE))
        and not is_engine(rule.origin.file)
    ]


ELSEWHERE = [
    PACKAGE / "solvers",
    *(
        PACKAGE / "integrations" / name
        for name in ("scipy/solvers", "mpi4py", "jax.py", "torch.py")
    ),
]


def functions_with_cases() -> set[Hashable]:
    modules = (
        importlib.import_module(f"{cases.__name__}.{module.name}")
        for module in pkgutil.iter_modules(cases.__path__)
    )
    found = [c for m in modules if hasattr(m, "cases") for c in m.cases()]
    return {f for c in found for f in (c.function, *c.covers)}


def named(name: str) -> Any:
    """Return the object of a dotted name, importing the longest part of it that is a module."""
    parts = name.split(".")
    for depth in range(len(parts) - 1, -1, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:depth]) or "builtins")
        except ImportError:
            continue
        for part in parts[depth:]:
            name, _, signature = part.partition("[")
            found = getattr(found, name)
            if signature:  # one precision of a function in Cython
                found = found.__signatures__[signature.rstrip("]")]
        return found
    raise AssertionError(name)


def test_every_rule_has_a_case() -> None:
    tested = functions_with_cases()
    missing = [
        function_name(function)
        for function, rule in package_rules()
        if function not in tested and reason(function, rule) is None
    ]
    assert missing == []


@pytest.mark.parametrize("module", [np.linalg, np.fft], ids=lambda module: module.__name__)
def test_every_function_of_the_module_has_a_case(module: Any) -> None:
    tested = functions_with_cases()
    public = (getattr(module, name) for name in module.__all__)
    functions = [f for f in public if not isinstance(f, type)]
    assert [function_name(f) for f in functions if f not in tested] == []


def test_exemptions_are_needed() -> None:
    tested = functions_with_cases()
    for function in (function for exempt in EXEMPTIONS.values() for function in exempt):
        assert registry.find(function) is not None, f"{function_name(function)} has no rule"
        assert function not in tested, f"{function_name(function)} has a case"


def test_no_rule_overrides_another() -> None:
    for _, rule in package_rules():
        assert len(set(rule.functions)) == len(rule.functions), rule
        for function in rule.functions:
            assert registry.find(function) is rule, function_name(function)


def test_second_rule_is_refused() -> None:
    with pytest.raises(DuplicateRuleError, match=r"numpy\.exp has a rule already"):
        mooncake_py.elementwise(np.exp, lambda x, y: y)


def test_a_function_of_ctypes_cannot_have_a_rule() -> None:
    double = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda v: 2 * v)
    with pytest.raises(InvalidRuleError, match="cannot have a rule of its own") as caught:
        mooncake_py.elementwise(double, 2.0)
    assert (
        caught.value.fix == "call it in a Python function, and declare the rule for that function"
    )
    with pytest.raises(InvalidRuleError):
        mooncake_py.frule.register(double)(lambda _, x: x)


def test_arguments_may_be_given_by_name() -> None:
    """The parameters of a rule have the names that they have in NumPy."""
    for function, rule in package_rules():
        theirs, own = signature(function), signature(rule_function(rule))
        if theirs is not None and own is not None and function_name(function).startswith("numpy."):
            first = 0 if isinstance(rule, (VjpRule, OverlayRule)) else 1  # after the cotangent
            ours = list(own.parameters.values())[first:]
            for ours_here, theirs_here in zip(ours, theirs.parameters.values(), strict=False):
                if NAMED == ours_here.kind == theirs_here.kind:
                    assert theirs_here.name in {p.name for p in ours}, function_name(function)


NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD


def rule_function(rule: Rule) -> Any:
    """Return the function of a rule that takes the arguments; None if it has none of its own."""
    if isinstance(rule, BilinearRule):
        return rule.adjoints[0]
    return next((getattr(rule, name) for name in ("adjoint", "rule", "replacement")
                 if hasattr(rule, name)), None)  # fmt: skip


def signature(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def test_functions_are_where_their_names_say() -> None:
    for function, _ in package_rules():
        hidden = function is CLIP  # which NumPy shows to classes of arrays only
        if not (
            hidden or is_part(function) or is_of_compiled_class(function) or is_fortran(function)
        ):
            found = named(function_name(function))
            within = getattr(found, "pyfunc", found)  # of `np.vectorize`
            assert function in (found, getattr(within, "__wrapped__", None)), function


def is_of_compiled_class(function: Any) -> bool:
    """Tell whether a method belongs to a class that does not say its module, such as SuperLU."""
    owner = getattr(function, "__objclass__", None)
    return getattr(owner, "__module__", "") == "builtins" and not hasattr(builtins, owner.__name__)


def test_rules_are_declared_in_their_families() -> None:
    """In a fresh interpreter, as other tests register rules of their own."""
    program = (
        "from mooncake_py import *\n"  # also what is imported later
        "from mooncake_py.rules import registry\n"
        "print(*sorted({rule.origin.file for _, rule in registry.registered()}), sep='\\n')"
    )
    files = {Path(line) for line in run("-c", program)}
    assert {file.parent for file in files} == {
        PACKAGE / room
        for room in ("rules", "solvers", "utilities", "modes/forward", "recomputation")
    }
    assert files.isdisjoint(PACKAGE / "rules" / f"{name}.py" for name in ("declare", "registry"))


@pytest.mark.thorough
def test_table_lists_all_functions_with_their_declarations() -> None:
    lines = run("-m", "mooncake_py.rules")
    words = [line.split() for line in lines]
    assert ["numpy.exp", "elementwise"] in words
    assert ["numpy.ndarray.sum", "linear"] in words
    assert ["numpy.matmul", "bilinear"] in words
    assert ["numpy.floor", "zero_derivative:", "piecewise", "constant"] in words
    names = [parts[0] for parts in words]
    assert len(set(names)) == len(names)
    for function, _ in package_rules():
        assert is_part(function) or function_name(function) in names


def run(*arguments: str) -> list[str]:
    """Run Python and return the lines that it prints."""
    command = [sys.executable, *arguments]
    finished = subprocess.run(
        command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True, timeout=60
    )
    return finished.stdout.splitlines()


def test_rules_for_scipy_are_those_of_the_package() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    for f in (linalg.solve, linalg.inv, linalg.norm):
        rule: Any = registry.find(f)
        assert rule.built_in
        assert not rule.by_user
