"""A teacher, stopped at one layer, streamed as word occurrences."""
