"""Values on their way into a differentiated call and out of it."""
