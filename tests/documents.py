"""The fenced blocks of the documents, for suites that run them."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import List

ROOT = Path(__file__).resolve().parents[1]
_MARKER = re.compile(r"\s*<!-- not run: (.+) -->\s*")


@dataclass
class Block:
    """A fenced block: its language, its text without the indentation of the fence, and where it begins."""

    language: str
    text: str
    document: Path
    line: int
    #: Why it is not run: a comment ``<!-- not run: reason -->`` in the line above it.
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


def blocks_of(document: Path) -> List[Block]:
    """All fenced blocks of a document, in their order."""
    found: List[Block] = []
    lines = document.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        fence = re.fullmatch(r"( *)```(\w*)", lines[number])
        if fence is not None:
            indent, language = fence.groups()
            end = lines.index(f"{indent}```", number + 1)
            text = "".join(f"{line[len(indent):]}\n" for line in lines[number + 1 : end])
            marker = _MARKER.fullmatch(lines[number - 1]) if number else None
            found.append(Block(language, text, document, number + 1, marker[1] if marker else ""))
            number = end
        number += 1
    return found


def two_commands(first: str) -> str:
    """The two commands of the README whose first one begins so."""
    blocks = [block for block in blocks_of(ROOT / "README.md") if block.language == "sh"]
    (block,) = (block for block in blocks if block.text.startswith(first))
    assert len(block.text.splitlines()) == 2, f"{block} has not two commands"
    return block.text
