"""All cases, package by package, as far as the packages are installed."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path

import pytest

from tests.packages.suite import Package

FOLDER = Path(__file__).parent / "cases"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


def package(name: str) -> Package:
    """Return the cases in one file.

    Raises
    ------
    pytest.skip.Exception
        If the package is not installed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(f"tests.packages.cases.{name}").PACKAGE
        except ModuleNotFoundError as error:
            pytest.skip(f"{error.name} is not installed")
