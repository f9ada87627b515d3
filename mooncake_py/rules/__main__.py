"""``python -m mooncake_py.rules``: list the functions that have a rule."""

from mooncake_py.rules.coverage import table
from mooncake_py.rules.optional import import_installed

if __name__ == "__main__":
    import_installed()
    print("\n".join(table()))
