"""x2s: aligned static word vectors from multilingual encoders, and better encoders from static word vectors."""

from importlib.metadata import version

__version__ = version("x2s")
