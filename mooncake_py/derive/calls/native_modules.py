"""Modules whose Python code has no part in a derivative and runs as it is."""

from __future__ import annotations

from inspect import unwrap

import numpy as np

__all__ = ["is_native_module"]

NAMES = """
    abc argparse ast asyncio atexit builtins concurrent contextvars csv datetime
    dataclasses enum gc getpass glob hashlib importlib inspect io json linecache locale logging
    matplotlib multiprocessing numbers os pathlib pdb pickle platform posixpath pprint pytest
    _pytest queue random re reprlib selectors shutil signal socket string subprocess sys tempfile
    textwrap threading time timeit tokenize tqdm traceback typing typing_extensions unittest uuid
    warnings zoneinfo
"""
NATIVE_MODULES = frozenset(NAMES.split())
NUMPY_SETTINGS = frozenset(
    unwrap(f).__globals__["__name__"] for f in (np.seterr, np.set_printoptions)
)


def is_native_module(module: str | None) -> bool:
    """Tell whether Python code of a module runs as it is."""
    root = (module or "").partition(".")[0]
    return root in NATIVE_MODULES or module in NUMPY_SETTINGS
