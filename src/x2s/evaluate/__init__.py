"""Scores of word vectors against lexicons."""

from x2s.evaluate.bli import evaluate_bli, translate
from x2s.evaluate.freedict import NoDictionaryError, freedict
from x2s.evaluate.lexicons import Lexicon, read_lexicon

__all__ = ["Lexicon", "NoDictionaryError", "evaluate_bli", "freedict", "read_lexicon", "translate"]
