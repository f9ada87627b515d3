"""Rules that are loaded when the program has imported the module that they are for.

SciPy need not be installed; `numpy.random` and `statistics` would add half to the time that
importing this package takes.  Callers of the registry first call :func:`load_imported`, which costs
almost nothing if no further module was imported.

A package brings rules of its own in two ways: it calls :func:`register_rules`, or, so that it need
not import this package, the module that is differentiated names the one with its rules in an
attribute ``__mooncake_rules__``.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import warnings
from collections.abc import Mapping
from types import ModuleType

from mooncake_py.errors import MooncakeWarning
from mooncake_py.rules import local
from mooncake_py.rules.steady import hold_functions

__all__ = ["ATTRIBUTE", "import_installed", "load_imported", "register_rules"]

ATTRIBUTE = "__mooncake_rules__"
MODULES = {
    "numpy.polynomial": "mooncake_py.rules.polynomials",  # NumPy itself leaves it out
    "numpy.fft": "mooncake_py.rules.fft",
    "numpy.random": "mooncake_py.rules.draws",
    "random": "mooncake_py.rules.draws",
    "statistics": "mooncake_py.rules.averages",
}
"""From a module that programs import to the one with its rules; integrations add theirs."""
OWN = "mooncake_py.integrations."
_waiting = dict(MODULES)
_known: set[str] = set()
_seen = 0


def register_rules(modules: Mapping[str, str]) -> None:
    """Name modules with rules, each to be imported when a program has imported what they are for.

    Parameters
    ----------
    modules : mapping of str to str
        From the name of a module that programs import, "scipy.fft", to the name of the module that
        declares rules for its functions.
    """
    global _seen
    MODULES.update(modules)
    _waiting.update(modules)
    _seen = 0


def import_installed() -> None:
    """Import the modules that there are rules for, if they are installed.

    MPI is left out: importing it joins this process to others.
    """
    for module in list(MODULES):
        if module.startswith("mpi4py"):
            continue
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(module)


def load_imported() -> None:
    """Read the rules for all modules that the program has imported since the last call."""
    global _seen
    count = len(sys.modules)
    if count == _seen:
        return
    find_named()
    for module, rules in list(_waiting.items()):
        if module not in sys.modules:
            continue
        with local.using(None):  # its rules hold everywhere, wherever they are asked for first
            failure = import_rules(module, rules)
        hold_functions()
        _waiting.pop(module, None)  # only now: another thread waits for the import too
        if failure is not None:  # last: it may be an error, and would be one in each derivative
            warnings.warn(failure, MooncakeWarning, stacklevel=2)
    _seen = count  # not those that other threads have imported meanwhile


def import_rules(module: str, rules: str) -> str | None:
    """Import a module of rules; an error says for what.

    Rules of this package are for functions that another version of a package may keep elsewhere:
    then others go on, and what is returned says which ones are missing.
    """
    try:
        importlib.import_module(rules)
    except Exception as error:
        if rules.startswith(OWN) and isinstance(error, (ImportError, AttributeError)):
            return (
                f"mooncake_py: rules for {module} are missing, as this version of it is not known: "
                f"{error}. Derivatives that need them raise MissingRuleError."
            )
        error.add_note(
            f"mooncake_py: {rules} has the rules for {module}, by register_rules or by {ATTRIBUTE}"
        )
        raise
    return None


def find_named() -> None:
    """Let modules imported since the last call say which module has rules for them."""
    for name, module in list(sys.modules.items()):  # other threads import
        if name in _known:
            continue
        _known.add(name)
        rules = module.__dict__.get(ATTRIBUTE) if type(module) is ModuleType else None
        if type(rules) is str:
            _waiting.setdefault(name, rules)
