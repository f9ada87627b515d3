"""From a region to its sweeps and its tangent."""
