"""Programs as scientists write them, by field, each compared with differences."""
