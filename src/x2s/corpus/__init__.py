"""Where text comes from and what a sentence is."""
