"""From source and types of arguments to a region."""
