"""A uniform sample of a stream, shuffled and without duplicates, in memory that does not grow with the stream."""

import heapq
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import BinaryIO

_LENGTH = struct.Struct("<I")
DIGEST_SIZE = 16
"""Bytes of the hash by which two sentences are taken as the same: among 10^9 sentences, two different ones collide with
probability 10^-21."""


def priority(text: str, seed: int) -> int:
    """Random place of a paragraph in the shuffled corpus, in [0, 2^64): depends on its text and the seed only."""
    key = seed.to_bytes(8, "little", signed=True)
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8, key=key).digest(), "big")


def digest(sentence: bytes) -> bytes:
    """128-bit hash of a sentence."""
    return blake2b(sentence, digest_size=DIGEST_SIZE).digest()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A paragraph offered to the sample: its place, its number in the source, and its sentences, packed."""

    priority: int
    number: int
    digests: tuple[bytes, ...]
    sentences: tuple[bytes, ...]


class _Held:
    """What is kept in memory of a paragraph: the sentences themselves are in the spill file."""

    __slots__ = ("alive", "key", "offset", "size")

    def __init__(self, key: tuple[int, int], offset: int, size: int) -> None:
        self.key = key
        self.offset = offset
        self.size = size
        self.alive = 0

    def __lt__(self, other: "_Held") -> bool:
        return self.key > other.key  # heapq keeps the smallest first; here the paragraph that goes first


class Sample:
    """The first `capacity` distinct sentences of the paragraphs in random order, found in one pass.

    Defined on the whole stream: order its paragraphs by `priority`, drop every sentence seen before, stop at `capacity`
    sentences. That is a uniform sample of the distinct paragraphs, kept whole (but for the last one, cut at `capacity`)
    and already shuffled. It is found in one pass because the place where the order is cut only ever moves forward: what
    lies beyond it can be forgotten. Bottom-k sampling; see Cohen and Kaplan, 2007, "Summarizing data using bottom-k
    sketches".

    Memory: about 200 bytes per sentence held, at most `capacity` sentences and one paragraph. Disk: the sentences held
    and those given up again, in all about (1 + ln(stream / sample)) times the sample.

    Args:
        capacity: Most sentences to keep.
        spill: An empty file, open for reading and writing.
        deduplicate: Whether to keep only one of several equal sentences.
    """

    def __init__(self, capacity: int, spill: BinaryIO, deduplicate: bool = True) -> None:
        self.capacity = capacity
        self.size = 0
        """Sentences held now."""
        self.duplicates = 0
        """Sentences dropped because an equal one is held."""
        self.left_over = 0
        """Sentences that lie beyond `capacity`."""
        self.threshold = 1 << 64
        """No paragraph of a higher priority will be kept."""
        self._spill = spill
        self._end = 0
        self._at_end = False
        self._deduplicate = deduplicate
        self._owners: dict[bytes, _Held] = {}
        self._held: list[_Held] = []

    @property
    def full(self) -> bool:
        """Whether `capacity` sentences are held."""
        return self.size >= self.capacity

    def offer(self, candidate: Candidate) -> None:
        """Take a paragraph in, if it lies before the cut, and give up what then lies beyond it."""
        if not candidate.sentences:
            return
        if candidate.priority > self.threshold:
            self.left_over += len(candidate.sentences)
            return
        held = _Held((candidate.priority, candidate.number), self._end, len(candidate.sentences))
        if self._deduplicate:
            self._claim(held, candidate.digests)
        else:
            held.alive = held.size
        self.size += held.alive
        if held.alive:
            self._write(candidate.digests, candidate.sentences)
            heapq.heappush(self._held, held)
            self._give_up()

    def _claim(self, held: _Held, digests: Sequence[bytes]) -> None:
        """Of equal sentences, the one in the paragraph that comes first is kept."""
        for key in digests:
            owner = self._owners.get(key)
            if owner is not None:
                self.duplicates += 1
                if owner is held or owner.key <= held.key:
                    continue
                owner.alive -= 1
                self.size -= 1
            self._owners[key] = held
            held.alive += 1

    def _give_up(self) -> None:
        while self._held and self.size - self._held[0].alive >= self.capacity:
            last = heapq.heappop(self._held)
            self.threshold = last.key[0]
            self.size -= last.alive
            self.left_over += last.alive
            if self._deduplicate and last.alive:
                for key, _ in self._read(last):
                    if self._owners.get(key) is last:
                        del self._owners[key]

    def drain(self) -> Iterator[tuple[int, list[bytes]]]:
        """The sample in its random order: each paragraph's number and sentences. Nothing can be offered afterwards."""
        left = self.capacity
        for held in sorted(self._held, key=lambda held: held.key):
            if not held.alive:
                continue
            sentences = [
                sentence
                for position, (key, sentence) in enumerate(self._read(held))
                if self._is_first(held, key, position)
            ]
            self.left_over += max(len(sentences) - left, 0)
            if sentences[:left]:
                yield held.key[1], sentences[:left]
            left -= len(sentences[:left])

    def _is_first(self, held: _Held, key: bytes, position: int) -> bool:
        if not self._deduplicate:
            return True
        if self._owners.get(key) is not held:
            return False
        del self._owners[key]  # a second equal sentence of the same paragraph finds no owner
        return True

    def _write(self, digests: Sequence[bytes], sentences: Sequence[bytes]) -> None:
        if not self._at_end:
            self._spill.seek(self._end)
            self._at_end = True
        record = b"".join(
            key + _LENGTH.pack(len(sentence)) + sentence for key, sentence in zip(digests, sentences, strict=True)
        )
        self._end += self._spill.write(_LENGTH.pack(len(record)) + record)

    def _read(self, held: _Held) -> list[tuple[bytes, bytes]]:
        self._at_end = False
        self._spill.seek(held.offset)
        record = self._spill.read(_LENGTH.unpack(self._spill.read(_LENGTH.size))[0])
        found, position = [], 0
        for _ in range(held.size):
            text = position + DIGEST_SIZE + _LENGTH.size
            (length,) = _LENGTH.unpack_from(record, position + DIGEST_SIZE)
            found.append((record[position : position + DIGEST_SIZE], record[text : text + length]))
            position = text + length
        return found
