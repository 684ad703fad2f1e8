"""The README as a package index shows it: there, links into the repository have to say where that is."""

from __future__ import annotations

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def with_addresses(text: str, repository: str) -> str:
    """A text whose links and pictures lead into a repository on the web."""
    kinds = {"": "blob", "!": "raw"}
    return _RELATIVE.sub(lambda m: f"{m[1]}[{m[2]}]({repository}/{kinds[m[1]]}/main/{m[3]})", text)


class PackagePage(MetadataHookInterface):
    def update(self, metadata: dict) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        page = with_addresses(text, metadata["urls"]["Repository"])
        metadata["readme"] = {"content-type": "text/markdown", "text": page}
