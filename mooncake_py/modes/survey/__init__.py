"""Survey: forward passes that continue after a refusal, to find all refusals."""
