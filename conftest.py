"""What cannot be collected where SciPy, an optional extra, is not installed."""

from importlib.util import find_spec

collect_ignore_glob = (
    []
    if find_spec("scipy")
    else ["mooncake_py/rules/scipy/*", "tests/rules/cases/scipy/*", "docs/scipy.md"]
)
