"""Where regions stand in a function: trials, what goes in and out, the entry on the tape."""
