"""Checkers for rules and tangents, for use in your own tests."""

from __future__ import annotations

from mooncake_py.testing.cases import RuleCase as RuleCase
from mooncake_py.testing.cases import rule_cases as rule_cases
from mooncake_py.testing.rule import test_rule as test_rule
from mooncake_py.testing.tangents import test_tangent as test_tangent
