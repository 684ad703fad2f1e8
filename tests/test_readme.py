"""What README.md shows is what torchlint does: its table of rules and its example. `make readme` writes both anew."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from pathlib import Path

import pytest

from torchlint.frontends import cli
from torchlint.rule import load_rules

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
RULES = re.compile(r"(<!-- rules: written by `make readme` -->\n).*?(<!-- end of rules -->\n)", re.DOTALL)
EXAMPLE = re.compile(
    r"(<!-- example: written by `make readme` -->\n```console\n\$ (torchlint [^\n]*)\n).*?(```\n)", re.DOTALL
)


def table() -> str:
    """One row for each rule file, in the order of codes."""
    rows = ["| code | name | what to do | on | fix |", "|--|--|--|--|--|"]
    for rule in load_rules().values():
        fix = "yes" if any(example.kind == "fixed" for example in (*rule.examples, *rule.edges)) else ""
        summary = rule.summary.rstrip(".").replace("|", "\\|")
        link = f"[{rule.code}](rules/{Path(rule.path).name})"
        rows.append(f"| {link} | {rule.name} | {summary} | {rule.by_default} | {fix} |")
    return "\n".join(rows)


def output(command: str) -> str:
    """What a command of the README prints, run in the repository: in this process, which has imported torch."""
    arguments = shlex.split(command)[1:]
    if arguments[0] == "check":
        arguments += ["--isolated", "--no-cache", "--jobs=1"]
    before, printed = os.getcwd(), io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    os.chdir(ROOT)
    try:
        with contextlib.redirect_stdout(printed):
            code = cli.main(arguments)
    finally:
        os.chdir(before)
    printed.seek(0)
    assert code == 1
    return printed.read()


def rewritten(text: str) -> str:
    """The README as it should be."""
    text = RULES.sub(lambda match: f"{match[1]}\n{table()}\n\n{match[2]}", text)
    return EXAMPLE.sub(lambda match: f"{match[1]}{output(match[2])}{match[3]}", text)


@pytest.mark.usefixtures("without_workers")
def test_the_readme_is_true() -> None:
    text = README.read_text()
    assert RULES.search(text) and EXAMPLE.search(text)
    assert text == rewritten(text), "run `make readme`"


def test_every_link_into_the_repository_leads_somewhere() -> None:
    for page in (README, ROOT / "rules" / "README.md", ROOT / "benchmarks" / "README.md"):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text()))
