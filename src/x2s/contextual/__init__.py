"""A teacher, stopped at one layer, streamed as word occurrences."""

from x2s.contextual.encoder import Encoder
from x2s.contextual.occurrences import Occurrences
from x2s.contextual.replay import Recording
from x2s.contextual.teacher import offline_teacher

__all__ = ["Encoder", "Occurrences", "Recording", "offline_teacher"]
