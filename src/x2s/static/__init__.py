"""Static word vectors out of one pass of a teacher over a corpus, one method per file."""

from x2s.static.aggregated import Aggregated
from x2s.static.combined import combine
from x2s.static.learn import METHODS, Estimator, learn_static
from x2s.static.whitened_context import WhitenedContext
from x2s.static.x2static import X2Static

__all__ = ["METHODS", "Aggregated", "Estimator", "WhitenedContext", "X2Static", "combine", "learn_static"]
