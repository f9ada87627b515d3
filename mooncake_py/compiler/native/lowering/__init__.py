"""From operations on whole arrays to loops, for compiled code."""
