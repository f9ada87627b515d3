"""``python -m mooncake_py.rules``: list the functions that have a rule."""

import mooncake_py
from mooncake_py.rules.coverage import table
from mooncake_py.rules.optional import import_installed

if __name__ == "__main__":
    for name in mooncake_py.__all__:
        getattr(mooncake_py, name)  # rules come with what is imported when it is asked for
    import_installed()
    print("\n".join(table()))
