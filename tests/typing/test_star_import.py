"""Type checkers see that a star imports all public names, those that come later too."""

import mooncake_py
from mooncake_py import *  # noqa: F403

NAMES = grad, from_vjp, hessian, forwarddiff, prepare, show, test_rule  # noqa: F405


def test_names_are_those_of_the_package() -> None:
    assert all(getattr(mooncake_py, f.__name__) is f for f in NAMES)
