"""The engine works without integrations, and packages bring rules of their own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mooncake_py

PROGRAM = """
import sys
import numpy as np
from mooncake_py import grad, hvp, jvp

def f(x):
    x[1:] += np.sin(x[:-1])
    return np.sum(x ** 2) * np.linalg.norm(x)

x = np.array([0.3, -1.2, 0.7])
g = grad(f)(x)
d = jvp(f, (x,), (x,))[1]
h = hvp(f, (x,), x)
e = 1e-6
assert abs(d - g @ x) < 1e-12
assert abs(d - (f((1 + e) * x) - f((1 - e) * x)) / (2 * e)) < 1e-7
assert np.allclose(h, (grad(f)((1 + e) * x) - grad(f)((1 - e) * x)) / (2 * e), atol=1e-6)
assert not any(name.startswith("mooncake_py.integrations") for name in sys.modules)
"""


def run(program: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env={"PYTHONPATH": str(folder)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_engine_works_without_integrations(tmp_path: Path) -> None:
    shutil.copytree(
        Path(mooncake_py.__file__).parent,
        tmp_path / "mooncake_py",
        ignore=shutil.ignore_patterns("integrations", "__pycache__"),
    )
    run(PROGRAM, tmp_path)


PACKAGE = '''
__mooncake_rules__ = "fast_rules"
table = {2.0: 8.0}

class Cube:
    """Looks its values up: only a rule knows the derivative."""

    def __call__(self, x):
        return table[float(x)]

cube = Cube()
'''
ITS_RULES = """
import fast
from mooncake_py import from_vjp

@from_vjp(fast.cube)
def rule(x):
    return fast.table[float(x)], lambda dy: (3.0 * x**2 * dy,)
"""
USE = """
import sys
from mooncake_py import grad, register_rules
{register}
assert grad(lambda x: x * x)(2.0) == 4.0
import fast
assert "fast_rules" not in sys.modules
assert grad(lambda x: 2.0 * fast.cube(x))(2.0) == 24.0
"""


@pytest.mark.parametrize("way", ["attribute", "call"])
def test_rules_load_with_the_package_that_they_are_for(way: str, tmp_path: Path) -> None:
    root = Path(mooncake_py.__file__).parents[1]
    own = PACKAGE if way == "attribute" else PACKAGE.replace("__mooncake_rules__", "_rules")
    (tmp_path / "fast.py").write_text(own)
    (tmp_path / "fast_rules.py").write_text(ITS_RULES)
    register = "" if way == "attribute" else "register_rules({'fast': 'fast_rules'})"
    run(f"import sys; sys.path.insert(0, {str(root)!r})\n{USE.format(register=register)}", tmp_path)


MISSING = """
from mooncake_py import grad, register_rules
import colorsys
register_rules({'colorsys': 'nowhere'})
try:
    grad(lambda x: x * x)(2.0)
except ModuleNotFoundError as error:
    assert "nowhere has the rules for colorsys" in error.__notes__[0]
else:
    raise AssertionError
"""


def test_rules_that_are_missing_are_said_to_be_for_what(tmp_path: Path) -> None:
    root = Path(mooncake_py.__file__).parents[1]
    run(f"import sys; sys.path.insert(0, {str(root)!r})\n{MISSING}", tmp_path)


UNKNOWN_VERSION = """
import sys, warnings
import numpy as np
import scipy.interpolate as si
from mooncake_py import grad
from mooncake_py.errors import MissingRuleError, MooncakeWarning

class Moved:
    def find_spec(name, path, target=None):
        if name == "mooncake_py.integrations.scipy.interpolate.fitpack":
            raise AttributeError("what there is a rule for")

sys.meta_path.insert(0, Moved)
x, y = np.arange(6.0), np.arange(6.0) ** 2
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        assert grad(lambda x: x * x)(2.0) == 4.0
        slopes = grad(lambda y: si.make_interp_spline(x, y, 1)(2.5))(y)
        assert np.allclose(slopes, [0, 0, 0.5, 0.5, 0, 0])
[warning] = caught
assert warning.category is MooncakeWarning and "scipy.interpolate" in str(warning.message)
for f in (
    lambda y: si.splev(2.5, si.splrep(x, y)),
    lambda y: si.UnivariateSpline(x, y, s=0)(2.5),
    lambda y: si.RectBivariateSpline(x, x, np.outer(y, y))(2.5, 2.5)[0, 0],
):
    try:
        grad(f)(y)
    except MissingRuleError:
        pass
    else:
        raise AssertionError
"""


def test_rules_for_an_unknown_version_break_no_other_derivatives(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    root = Path(mooncake_py.__file__).parents[1]
    run(f"import sys; sys.path.insert(0, {str(root)!r})\n{UNKNOWN_VERSION}", tmp_path)
