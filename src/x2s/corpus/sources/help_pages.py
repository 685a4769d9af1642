"""The paragraphs of a LibreOffice help page.

What the pages hold besides text decides the rules here: navigation, debug information, code listings, links to
related topics, and *switches*, alternatives of which a browser shows one (`Command` on a Mac, `Ctrl` elsewhere). Taking
them all would glue them into words that do not exist.
"""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple

_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
_SKIPPED = frozenset(["head", "header", "aside", "nav", "footer", "script", "style", "noscript", "pre", "button"])
_LISTINGS = frozenset(["code", "codeintable", "smathcode", "bascode", "pycode", "sqlcode"])
_SKIPPED_CLASSES = _LISTINGS | {"related", "relatedtopics", "howtogetheader", "image", "youtube_consent"}
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_CONTAINERS = frozenset(["li", "td", "th", "dt", "dd"])  # their own text only where no other block is inside
_BLOCKS = _HEADINGS | _CONTAINERS | {"p"}


class HelpParagraph(NamedTuple):
    """A paragraph, with the page and the element it comes from: the same pair in all languages."""

    page: str
    id: str
    text: str


@dataclass
class _Block:
    """An open block element and the text directly in it."""

    tag: str
    id: str
    counts: bool
    text: list[str] = field(default_factory=list)
    has_block: bool = False


@dataclass
class _Switch:
    """An inline switch: the block's text before it, and the alternatives seen so far."""

    block: _Block
    outer: list[str]
    alternatives: dict[str, list[str]] = field(default_factory=dict)


def page_paragraphs(html: str, page: str) -> list[HelpParagraph]:
    """Paragraphs (`<p id>`, notes), headings, and list items and cells without blocks inside, in order.

    Whitespace is normalised; of an inline switch, the default alternative is kept, else the first.
    """
    parser = _Page(page)
    parser.feed(html)
    parser.close()
    return parser.paragraphs


class _Page(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.page = page
        self.paragraphs: list[HelpParagraph] = []
        self._open: list[tuple[str, str]] = []  # (tag, what it means to us)
        self._blocks: list[_Block] = []
        self._switches: list[_Switch] = []
        self._skipping = 0
        self._notes = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            self.handle_data(" ")
        if tag in _VOID:
            return
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        role = ""
        if self._skipping or tag in _SKIPPED or not _SKIPPED_CLASSES.isdisjoint(classes):
            role = "skip"
            self._skipping += 1
        elif tag in _BLOCKS:
            role = "block"
            self._open_block(tag, given.get("id", ""))
        elif tag == "div" and "notetext" in classes:
            role = "note"
            self._notes += 1
        elif tag == "span" and "switchinline" in classes and self._blocks:
            role = "switch"
            self._switches.append(_Switch(self._blocks[-1], self._blocks[-1].text))
        elif tag == "span" and "hidden" in given and self._switches and self._open[-1][1] == "switch":
            role = "alternative"
            switch = self._switches[-1]
            name = "" if given.get("id", "").startswith("default") else given.get("class", "?")
            switch.block.text = switch.alternatives.setdefault(name, [])
        self._open.append((tag, role))

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID or not any(tag == opened for opened, _ in self._open):
            return
        while self._open:
            opened, role = self._open.pop()
            self._close(role)
            if opened == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._blocks and not self._skipping:
            self._blocks[-1].text.append(data)

    def close(self) -> None:
        super().close()
        while self._open:
            self._close(self._open.pop()[1])

    def _open_block(self, tag: str, identifier: str) -> None:
        # A paragraph or heading cannot hold another block: HTML ends it there.
        if self._blocks and self._blocks[-1].tag not in _CONTAINERS:
            self.handle_endtag(self._blocks[-1].tag)
        if self._blocks:
            self._blocks[-1].has_block = True
        counts = tag != "p" or bool(identifier) or self._notes > 0
        self._blocks.append(_Block(tag, identifier, counts))

    def _close(self, role: str) -> None:
        match role:
            case "skip":
                self._skipping -= 1
            case "note":
                self._notes -= 1
            case "alternative":
                self._switches[-1].block.text = []  # between alternatives there is only white space
            case "switch":
                switch = self._switches.pop()
                chosen = switch.alternatives.get("") or next(iter(switch.alternatives.values()), [])
                switch.outer.extend(chosen)
                switch.block.text = switch.outer
            case "block":
                block = self._blocks.pop()
                text = " ".join("".join(block.text).split())
                if text and block.counts and not (block.tag in _CONTAINERS and block.has_block):
                    self.paragraphs.append(HelpParagraph(self.page, block.id, text))
