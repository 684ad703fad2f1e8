"""The site's pages: what they show can be copied and works, every rule and option has its place, and links are followed."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import click
import pytest
import yaml
from jsonschema import Draft7Validator

from torchlint.config_schema import schema
from torchlint.frontends.cli import COMMANDS, _command
from torchlint.rule import load_rules

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
TEXTS = {path: path.read_text() for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]}
BLOCK = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(kind, "".join(f"{line.removeprefix(indent)}\n" for line in body.splitlines()), id=f"{path.name}-{at}")
    for path, text in TEXTS.items()
    for at, (indent, kind, body) in enumerate(BLOCK.findall(text))
]


@pytest.mark.parametrize("kind, body", BLOCKS)
def test_what_can_be_copied_is_right(kind: str, body: str) -> None:
    if kind == "console":
        for line in re.findall(r"^\$ (?:.*\()?(torchlint [^)\n]*)", body, re.MULTILINE):
            words = shlex.split(line.split(" | ")[0].split(")")[0], comments=True)[1:]
            name = words.pop(0) if words[0] in COMMANDS else "check"
            if name != "server":
                _command(name).make_context(name, words, resilient_parsing=False)
    elif kind == "toml":
        table = tomllib.loads(body)
        for options in (table.get("tool", {}).get("torchlint"), None if "tool" in table else table):
            assert not options or list(Draft7Validator(schema()).iter_errors(options)) == []
    elif kind == "yaml":
        assert yaml.safe_load(body)
    elif kind == "python":
        compile(body, "block", "exec")


def test_a_wrong_option_would_be_seen() -> None:
    with pytest.raises(click.UsageError):
        test_what_can_be_copied_is_right("console", "$ torchlint check --no-such-thing\n")


@pytest.fixture(scope="module")
def site():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import build_site
    finally:
        sys.path.remove(str(ROOT / "docs"))
    return build_site


def test_every_rule_and_option_has_its_place(site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "_filled", lambda text: text)  # what commands print is the README's test
    pages = site.pages()
    for code, rule in load_rules().items():
        assert rule.name in pages[f"rules/{code}.md"] and f"({code}.md)" in pages["rules/index.md"]
    assert "## fail-on" in pages["configuration.md"] and "`--diff-base`" in pages["options.md"]
    listed = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert {name for name in pages if name.endswith(".md") and not name.startswith("rules/TL")} == set(listed)


def test_links_that_lead_nowhere_are_seen(site, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text("<p id=here><a href='../'>x</a><a href='#here'>x</a>")
    (tmp_path / "index.html").write_text(
        "<a href='b/#here'>x</a><a href='https://elsewhere/'>x</a><a href='b/#there'>x</a><a href='c/'>x</a>"
        f"<a href='{site.SITE}/b/'>x</a><a href='{site.SITE}/d/'>x</a>"
    )
    broken = {line.split(": ", 1)[1] for line in site.broken_links(tmp_path)}
    assert broken == {"b/#there", "c/", f"{site.SITE}/d/"}
