"""Where a rule's page lies on the web, for the formats that have a place for it."""

from __future__ import annotations

from functools import lru_cache

SITE = "https://torchlint.github.io/torchlint"  # the one place that says so; pyproject.toml must agree


def rule_url(code: str, name: str) -> str | None:
    """The address of a rule's page; None for a rule of somebody's own."""
    return f"{SITE}/rules/{code}/" if _ours().get(code) == name else None


@lru_cache(maxsize=1)
def _ours() -> dict[str, str]:
    from torchlint.rule import rule_names

    return rule_names()
