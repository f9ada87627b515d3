"""``python -m mooncake_py.rules``: list the functions that have a rule."""

from mooncake_py.rules.coverage import table

if __name__ == "__main__":
    print("\n".join(table()))
