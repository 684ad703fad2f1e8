"""Where a rule's manual lies on the web, for the formats that have a place for it."""

from __future__ import annotations

from functools import lru_cache


def rule_url(code: str, name: str) -> str | None:
    """The manual's address; None as long as the package's metadata names no `Rules` address."""
    base = _base()
    return base and f"{base.rstrip('/')}/{code}_{name}.py"


@lru_cache(maxsize=1)
def _base() -> str | None:
    from importlib import metadata  # 20 ms, and most formats never ask

    try:
        labels = dict(line.split(", ", 1) for line in metadata.metadata("torchlint").get_all("Project-URL") or ())
    except metadata.PackageNotFoundError:
        return None
    return labels.get("Rules")
