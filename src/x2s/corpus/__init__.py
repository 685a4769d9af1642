"""Where text comes from and what a sentence is."""

from x2s.corpus.build import build_corpus
from x2s.corpus.filters import Filters, normalise
from x2s.corpus.report import CorpusReport
from x2s.corpus.segmentation import sentence_splitter
from x2s.corpus.sentences import Sentence, SentenceFile, write_sentences
from x2s.corpus.sources import FileSource, HubSource, LibreOfficeHelp, Source
from x2s.corpus.tokenisation import word_tokenizer
from x2s.corpus.vocabulary import Vocabulary, count_words

__all__ = [
    "CorpusReport",
    "FileSource",
    "Filters",
    "HubSource",
    "LibreOfficeHelp",
    "Sentence",
    "SentenceFile",
    "Source",
    "Vocabulary",
    "build_corpus",
    "count_words",
    "normalise",
    "sentence_splitter",
    "word_tokenizer",
    "write_sentences",
]
