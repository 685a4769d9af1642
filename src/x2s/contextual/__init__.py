"""A teacher, stopped at one layer, streamed as word occurrences."""

from x2s.contextual.encoder import Encoder
from x2s.contextual.occurrences import Occurrences

__all__ = ["Encoder", "Occurrences"]
