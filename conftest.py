"""What cannot be collected where an optional extra is not installed."""

from importlib.util import find_spec

NEEDS = {
    "scipy": ["mooncake_py/rules/scipy/*", "tests/rules/cases/scipy/*", "docs/scipy.md"],
    "jax": ["mooncake_py/extras/jax.py"],
    "torch": ["mooncake_py/extras/torch.py"],
}

collect_ignore_glob = [
    path for package, paths in NEEDS.items() if not find_spec(package) for path in paths
]
