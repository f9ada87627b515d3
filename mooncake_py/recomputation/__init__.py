"""Parts of a program that run again in the reverse pass: checkpoints and what they need."""
