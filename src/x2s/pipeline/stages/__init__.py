"""The stages: each calls one room with the settings and paths of a run."""
