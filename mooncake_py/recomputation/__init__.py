"""Parts of a program that run again on the reverse pass: checkpoints and what they need."""
