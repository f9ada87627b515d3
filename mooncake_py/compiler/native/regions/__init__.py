"""What a region is, and what is known of it."""
