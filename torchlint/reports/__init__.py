"""Output formats, one module each; a format is imported when it is asked for.

A module has `render(result, settings, write, color=False)`: `result` is a `torchlint.result.Result`, `settings` the
`torchlint.config.Settings` of the working folder (`unsafe_fixes` decides which fixes count as available), `write`
takes text. It writes the findings and nothing else: summary lines, notices and statistics are the command line's.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

FORMATS = tuple("concise full grouped json json-lines junit github gitlab markdown sarif rdjson pylint".split())


def load(name: str) -> Callable[..., None]:
    """The `render` of a format."""
    return importlib.import_module(f"torchlint.reports.{name.replace('-', '_')}").render
