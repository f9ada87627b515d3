"""What a derivative would refuse, all of it: forward passes that go on after a refusal."""
