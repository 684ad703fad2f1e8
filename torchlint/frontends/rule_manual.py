"""What a page about a rule says, in a terminal or on the site: prose, one example and its fix, where to read on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from torchlint.reading import read
from torchlint.reports.links import rule_url

if TYPE_CHECKING:
    from torchlint.rule import Rule

_BLOCK = re.compile(r"^```python (bad|remark|fixed|good)[^\n]*\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"TL\d{3}")
_TORCH_DOCS = "https://docs.pytorch.org/docs/stable"
# Fixes that are made in one word, which is unsafe by itself.
_UNSAFE_WORDS = re.compile(r"\.replace_by_argument\(|\bop\.with_suffix\(")


class Manual(Struct, frozen=True):
    """The parts of a page. `found` is the example that is marked, `better` its fix, `right` one that only looks so."""

    code: str
    name: str
    group: str
    summary: str
    by_default: str  # empty: it is on
    state: str
    fix: str
    prose: str
    found: str
    better: str
    right: str
    related: tuple[tuple[str, str], ...]
    torch: tuple[str, ...]
    examples: int
    url: str | None


BY_DEFAULT = {
    "off": "off by default",
    "remark": "a remark, said to those who select it",
    "alone": "a remark where the file uses others of its project",
}


def manual(rule: Rule, rules: Mapping[str, Rule]) -> Manual:
    """The page about a rule; those it names are looked up among all."""
    blocks = _BLOCK.findall(rule.manual)
    first = next((i for i, (kind, _) in enumerate(blocks) if kind in ("bad", "remark")), None)
    after = blocks[first + 1 : first + 2] if first is not None else []
    return Manual(
        rule.code,
        rule.name,
        rule.group,
        rule.summary,
        BY_DEFAULT.get(rule.by_default, ""),
        _state(rule),
        _fix(rule),
        rule.manual.split("```", 1)[0].strip(),
        blocks[first][1] if first is not None else "",
        after[0][1] if after and after[0][0] == "fixed" else "",
        next((text for kind, text in blocks if kind == "good"), ""),
        tuple((word, rules[word].summary) for word in rule.read_on if word in rules),
        tuple(_torch_page(word) for word in rule.read_on if not _CODE.fullmatch(word)),
        len(blocks) + len(rule.edges),
        rule_url(rule.code, rule.name),
    )


def _state(rule: Rule) -> str:
    state = f"since {rule.added}, {BY_DEFAULT.get(rule.by_default, 'on by default')}"
    versions = "".join(
        (f", from torch {rule.since}" if rule.since else "", f", until torch {rule.until}" if rule.until else "")
    )
    return state + versions + (", only with --preview" if rule.preview else "")


def _fix(rule: Rule) -> str:
    """How far its fixes may be trusted, as its file says it; where another one makes them, its manual has one."""
    code = read(rule.path).decode().split('"""', 2)[-1]
    if "fix=" not in code and "```python fixed" not in rule.manual:
        return "none"
    said = re.findall(r'"(safe|unsafe|display)"', code) + ["unsafe"] * bool(_UNSAFE_WORDS.search(code))
    words = {"safe": "safe", "unsafe": "unsafe (may change results: --unsafe-fixes)", "display": "shown only"}
    return " or ".join(text for kind, text in words.items() if kind in said or kind == "safe" and not said)


def _torch_page(name: str) -> str:
    """The address of what torch's manual says: of a function or class by its name, else of a page of the manual."""
    page, _, place = name.partition("#")
    page = f"generated/{page}" if page.startswith("torch.") else page
    return f"{_TORCH_DOCS}/{page}.html" + (f"#{place}" if place else "")
