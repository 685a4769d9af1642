"""TODO by its builder."""
