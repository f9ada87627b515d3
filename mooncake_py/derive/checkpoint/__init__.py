"""Parts of a program that are run again on the reverse pass instead of being recorded."""
