"""The files about the project agree with one another, and other tools can read them."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import mooncake_py

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GITHUB = ROOT / ".github"


def read_yaml(path: Path) -> Any:
    """Return the contents of a YAML file."""
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def constraints() -> dict[str, str]:
    """Return the pinned versions, by names in the form that pip compares."""
    text = (ROOT / "constraints-dev.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {canonical(name): version for name, version in (line.split("==") for line in lines)}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_version_is_written_once() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    file = ROOT / PROJECT["tool"]["hatch"]["version"]["path"]
    found = re.findall(r'^__version__ = "(\d+\.\d+\.\d+)"$', file.read_text(), re.MULTILINE)
    assert found == [mooncake_py.__version__]


def test_installed_version_is_that_of_the_package() -> None:
    try:
        installed = importlib.metadata.version("mooncake_py")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("runs from a copy that is not installed")
    assert installed == mooncake_py.__version__


def test_citation_names_the_project() -> None:
    citation = read_yaml(ROOT / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"] == PROJECT["project"]["name"]
    assert citation["authors"] == PROJECT["project"]["authors"]
    assert citation["license"] == PROJECT["project"]["license"]
    assert citation["repository-code"] == PROJECT["project"]["urls"]["Repository"]
    assert citation["url"] == PROJECT["project"]["urls"]["Documentation"]
    assert citation["message"]


def test_classifiers_name_the_pythons_that_are_tested() -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"
    jobs = read_yaml(GITHUB / "workflows" / "tests.yml")["jobs"]
    assert jobs["fast"]["strategy"]["matrix"]["python"] == named


def test_support_names_the_oldest_versions() -> None:
    """Those that the extras ask for; of several for one package the oldest."""
    project = PROJECT["project"]
    extras = [each for name, every in project["optional-dependencies"].items() for each in every]
    asked: dict[str, str] = {"python": project["requires-python"].removeprefix(">=")}
    for requirement in (*project["dependencies"], *extras):
        found = re.match(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)", requirement)
        if found:
            asked.setdefault(canonical(found[1]), found[2])
    asked["pytorch"] = asked["torch"]
    text = (ROOT / "SUPPORT.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| (\w+)[^|]* \| (\d[\d.]*) \|", text, re.MULTILINE)
    assert len(table) == 9
    assert {canonical(name): version for name, version in table}.items() <= asked.items()


def test_development_environment_is_pinned() -> None:
    """All that the extra `dev` names has a version; the extras that it names, too."""
    extras = PROJECT["project"]["optional-dependencies"]
    names, waiting = set(), ["dev"]
    while waiting:
        for requirement in extras[waiting.pop()]:
            name, extra = re.match(r"([\w.-]+)(?:\[([\w,]+)\])?", requirement).groups()
            if name == "mooncake_py":
                waiting += extra.split(",")
            else:
                names.add(canonical(name))
    assert names - set(constraints()) == set()


def test_pre_commit_takes_the_versions_of_the_development_environment() -> None:
    (repository,) = read_yaml(ROOT / ".pre-commit-config.yaml")["repos"]
    hooks = {hook["id"] for hook in repository["hooks"]}
    assert hooks == {"ruff", "ruff-format", "rooms", "english"}
    pinned = constraints()
    for hook in repository["hooks"]:
        for requirement in hook["additional_dependencies"]:
            name, version = requirement.split("==")
            assert pinned[canonical(name)] == version


@pytest.mark.parametrize("path", sorted(GITHUB.glob("workflows/*.yml")), ids=lambda p: p.name)
def test_workflows_can_be_read(path: Path) -> None:
    workflow = read_yaml(path)
    assert workflow["name"]
    assert True in workflow  # YAML 1.1 reads the key "on" as a bool
    assert workflow["permissions"] == {"contents": "read"}  # a job asks for more where it must
    for job in workflow["jobs"].values():
        assert job["runs-on"]
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])


def test_release_is_published_without_a_password() -> None:
    job = read_yaml(GITHUB / "workflows" / "release.yml")["jobs"]["publish"]
    assert job["permissions"] == {"id-token": "write"}
    assert job["environment"]["name"] == "pypi"


@pytest.mark.parametrize("name", ["wrong_gradient", "missing_rule"])
def test_issues_ask_for_what_the_doctor_prints(name: str) -> None:
    form = read_yaml(GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml")
    assert form["name"]
    assert form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    identities = [field["id"] for field in fields]
    assert len(set(identities)) == len(identities)
    required = [
        field["attributes"]["label"]
        for field in fields
        if field.get("validations", {}).get("required")
    ]
    assert "Output of `python -m mooncake_py.doctor`" in required
    assert "Program" in required


def test_changelog_is_arranged_by_release() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest, *releases = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert newest == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", name) for name in releases)
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= kinds
