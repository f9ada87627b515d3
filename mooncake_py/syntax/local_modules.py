"""The modules that variables of a function, and of the functions around it, stand for.

Those that nothing but one import binds: where they have a value at all, it is that module.
"""

from __future__ import annotations

import sys
from types import CodeType, ModuleType

from mooncake_py.syntax.source import SourceNode
from mooncake_py.syntax.static_integers import Bindings, bindings

__all__ = ["local_modules"]


def local_modules(source: SourceNode, code: CodeType, found: Bindings) -> dict[str, ModuleType]:
    """Return the modules that local and captured variables stand for, as far as they are loaded.

    Parameters
    ----------
    source, code
        The function.
    found
        The bindings of the function itself.
    """
    around = [bindings(node) for node in source.around] if code.co_freevars else []
    named = found.imported()
    for name in code.co_freevars:
        binder = next((b for b in around if name in b.own and name not in b.nonlocal_names), None)
        if binder is not None and name in (imported := binder.imported()):
            named[name] = imported[name]
    loaded = {name: sys.modules.get(module) for name, module in named.items()}
    return {name: module for name, module in loaded.items() if isinstance(module, ModuleType)}
