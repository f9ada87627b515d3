"""Modules whose Python code runs natively: it is irrelevant to derivatives, or reads constants."""

from __future__ import annotations

from inspect import unwrap

import numpy as np

__all__ = ["data_taken_out", "is_constant_library", "is_native_module"]

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
    """Return whether Python code of a module runs as it is."""
    root = (module or "").partition(".")[0]
    return root in NATIVE_MODULES or module in NUMPY_SETTINGS


CONSTANT_LIBRARIES = {"pandas": "df['column'].to_numpy()"}
"""From a package whose objects hold constants to an example of how data are taken out of them."""


def is_constant_library(module: str | None) -> bool:
    """Return True if a module belongs to a package whose objects hold constants."""
    return (module or "").partition(".")[0] in CONSTANT_LIBRARIES


def data_taken_out(module: str) -> str:
    """Return the advice for objects of such a package."""
    example = CONSTANT_LIBRARIES[module.partition(".")[0]]
    return f"take the data out first, {example}, and compute with arrays"
