"""The ways to differentiate: reverse, forward, and with everything checked."""
