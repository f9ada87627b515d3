"""Messages for users: positions in their source, notes, refusals, progress."""
