"""JAX: its functions in NumPy code, and NumPy code in its programs; the extra ``jax``."""

from mooncake_py.optional import import_optional

import_optional("jax", "jax", __name__)

from mooncake_py.integrations.jax.incoming import from_jax  # noqa: E402
from mooncake_py.integrations.jax.outgoing import to_jax  # noqa: E402

__all__ = ["from_jax", "to_jax"]
