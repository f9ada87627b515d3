"""Write measurements of JAX and autograd, and of this package, into the documentation."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.peers import PeerTimes
from benchmarks.peers_picture import draw
from benchmarks.peers_report import full_table, summary_table

ROOT = Path(__file__).parent.parent
EXPLANATION = ROOT / "docs" / "explanation"
NUMBERS = EXPLANATION / "peers.json"
PICTURE = EXPLANATION / "peers.svg"

DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "coming_from.md", EXPLANATION / "performance.md")


def write(conditions: str, measured: Sequence[PeerTimes]) -> None:
    """Write numbers, tables and picture."""
    result = {"conditions": conditions, "measured": [rounded(asdict(t)) for t in measured]}
    NUMBERS.write_text(json.dumps(result, indent=None).replace('{"kernel', '\n{"kernel') + "\n")
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        document.write_text(filled(text, *read()), encoding="utf-8")
    draw(read()[1], PICTURE)


def read() -> tuple[str, list[PeerTimes]]:
    """Return the recorded conditions and times."""
    result = json.loads(NUMBERS.read_text())
    return result["conditions"], [
        PeerTimes(**{**times, "rewritten": tuple(times["rewritten"])})
        for times in result["measured"]
    ]


def rounded(tree: Any) -> Any:
    """Return nested dicts with floats of four digits that count."""
    if isinstance(tree, dict):
        return {key: rounded(value) for key, value in tree.items()}
    return float(f"{tree:.4g}") if isinstance(tree, float) else tree


def filled(text: str, conditions: str, measured: Sequence[PeerTimes]) -> str:
    """Return a document with its marked places filled."""
    contents = {
        "conditions": conditions,
        "summary": summary_table(measured),
        "table": full_table(measured),
    }
    for name, content in contents.items():
        start, end = f"<!-- peers: {name} -->\n", f"\n<!-- end of {name} -->"
        if start in text:
            before, rest = text.split(start)
            text = f"{before}{start}{content}{end}{rest.split(end, 1)[1]}"
    return text
