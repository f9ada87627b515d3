"""What users read when something fails: places in their source, notes, refusals, progress."""
