"""What editors show of a dry run: the tensors of a file as plain data."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from torchlint.finding import Hint, Signature
from torchlint.project import View
from torchlint.shapes.record.watch import Watch
from torchlint.shapes.search.check import dry_run


def hints(
    text: str, path: str, view: View, tree: ast.Module | None = None, inputs: Mapping[str, Sequence[str]] = {}
) -> tuple[Hint | Signature, ...]:
    """The shapes that a dry run of its own sees in a file."""
    watch = Watch()
    dry_run(text, path, view, tree, inputs, watch)
    return tuple(watch.found)
