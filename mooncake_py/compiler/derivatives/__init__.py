"""From regions to their derivatives: declared partials, activity, both sweeps, tangents."""
