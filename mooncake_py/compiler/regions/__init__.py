"""What a region is: the intermediate representation, and what is done with it in every step."""
