"""The modes of differentiation: reverse, forward, debug and survey."""
