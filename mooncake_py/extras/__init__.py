"""Functions of other packages as functions with rules; each module needs its package."""
