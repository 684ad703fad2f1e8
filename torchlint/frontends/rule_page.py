"""`torchlint rule`: a rule as a page to read, as all of its examples, or as JSON; and the list of all rules."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import click

from torchlint.config import suggestion
from torchlint.config_file import Configurations
from torchlint.frontends.output import Failure, put, wants_color
from torchlint.reading import read
from torchlint.reports.links import rule_url

if TYPE_CHECKING:
    from torchlint.rule import Rule

_BLOCK = re.compile(r"^```python (bad|fixed|good)[^\n]*\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
_TORCH_DOCS = "https://docs.pytorch.org/docs/stable/generated/{}.html"
_MOST_LINKS = 4
# Fixes that are made in one word, which is unsafe by itself.
_UNSAFE_WORDS = re.compile(r"\.replace_by_argument\(|\bop\.with_suffix\(")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("which", required=False)
@click.option("--all", "everything", is_flag=True, help="Explain all rules.")
@click.option(
    "--examples", is_flag=True, help="Show the whole manual and all further examples: they are the rule's tests."
)
@click.option("--rule-path", metavar="FOLDER", multiple=True, help="A folder with rules of your own.")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="How to print.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="When to use colours.")
def rule(
    which: str | None, everything: bool, examples: bool, rule_path: tuple[str, ...], output_format: str, color: str
) -> int:
    """Explain a rule (its code or its name), or list them all."""
    from torchlint.rule import load_rules

    rules = load_rules((*Configurations().of_file(os.getcwd()).rule_paths, *rule_path))
    chosen = [r for r in rules.values() if which is None or which in (r.name, r.code) or which.upper() == r.code]
    if not chosen and which is not None:
        names = [name for r in rules.values() for name in (r.code, r.name)]
        raise Failure(f"no rule is called `{which}`{suggestion(which, names)}")
    if output_format == "json":
        records = [_record(r) for r in chosen]
        put(json.dumps(records[0] if which else records, indent=2) + "\n")
    elif which is None and not everything:
        put("\n".join(_table(chosen)) + "\n", styled=True, color=color)
    else:
        pages = ["\n".join(_whole(r) if examples else _page(r, rules)) for r in chosen]
        _show("\n\n\n".join(pages), color)
    return 0


def _show(text: str, color: str) -> None:
    """What does not fit the terminal goes through the user's pager."""
    if sys.stdout.isatty() and text.count("\n") >= shutil.get_terminal_size().lines:
        click.echo_via_pager(text, color=wants_color(color))
    else:
        put(f"{text}\n", styled=True, color=color)


def _heading(text: str) -> str:
    return click.style(text, bold=True)


def _table(rules: list[Rule]) -> Iterator[str]:
    """All rules in their groups."""
    for group, members in groupby(rules, key=lambda r: r.group):
        yield _heading(group)
        for r in members:
            state = "" if r.default else click.style("  (off by default)", dim=True)
            yield f"  {click.style(r.code, fg='cyan')}  {r.summary.rstrip('.')}{state}"
        yield ""
    yield "`torchlint rule CODE` explains one."


def _page(r: Rule, rules: dict[str, Rule]) -> Iterator[str]:
    """What a rule finds and why it hurts, one example and what to write, what looks the same and is right, and where to
    read on.
    """
    yield f"{click.style(r.code, fg='cyan', bold=True)} {_heading(r.name)}"
    yield click.style(" · ".join((r.group, _state(r), f"fix: {_fix(r)}")), dim=True)
    yield ""
    yield r.manual.split("```", 1)[0].strip()
    blocks = _BLOCK.findall(r.manual)
    first = next((i for i, (kind, _) in enumerate(blocks) if kind == "bad"), None)
    if first is not None:
        yield from _example("Found", blocks[first][1], r.code)
        if blocks[first + 1 : first + 2] and blocks[first + 1][0] == "fixed":
            yield from _example("Better", blocks[first + 1][1], r.code)
    right = next((text for kind, text in blocks if kind == "good"), "")
    if right:
        yield from _example("Looks the same, and is right", right, r.code)
    related = [
        rules[code]
        for code in dict.fromkeys(re.findall(r"\bTL\d{3}\b", _said_about(r)))
        if code in rules and code != r.code
    ]
    if related:
        yield ""
        yield _heading("Related")
        yield from (f"  {other.code}  {other.summary}" for other in related)
    links = [address for address in (rule_url(r.code, r.name), *_torch_pages(r)) if address]
    if links:
        yield ""
        yield _heading("Read on")
        yield from (f"  {address}" for address in links)
    examples = len(blocks) + len(r.edges)
    if examples > 3:
        yield ""
        yield click.style(
            f"`torchlint rule {r.code} --examples` shows all {examples} examples; they are the rule's tests.", dim=True
        )


def _whole(r: Rule) -> Iterator[str]:
    yield f"# {r.code} {r.name}\n\n{r.group}, {_state(r)}, fix: {_fix(r)}\n\n{r.manual.strip()}"
    if r.further:
        yield f"\n{r.further.strip()}"


def _example(title: str, text: str, code: str) -> Iterator[str]:
    yield ""
    yield _heading(title)
    for line in text.rstrip("\n").split("\n"):
        source, mark, marked = line.partition("  # TL")
        is_marked = mark and code in f"TL{marked}"
        shown = source if mark else line
        if is_marked:
            shown = click.style(source, fg="red") + click.style("  # " + code, dim=True)
        yield f"    {shown}".rstrip()


def _said_about(r: Rule) -> str:
    """Where a manual names other rules: its prose. The marks in its examples are other rules' tests."""
    return _BLOCK.sub("", r.manual)


def _state(r: Rule) -> str:
    state = "on by default" if r.default else "off by default"
    versions = "".join((f", from torch {r.since}" if r.since else "", f", until torch {r.until}" if r.until else ""))
    return state + versions + (", only with --preview" if r.preview else "")


def _fix(r: Rule) -> str:
    """How far its fixes may be trusted, as its file says it."""
    code = read(r.path).decode().split('"""', 2)[-1]
    if "fix=" not in code:
        return "none"
    said = re.findall(r'"(safe|unsafe|display)"', code) + ["unsafe"] * bool(_UNSAFE_WORDS.search(code))
    words = {"safe": "safe", "unsafe": "unsafe (may change results: --unsafe-fixes)", "display": "shown only"}
    return " or ".join(text for kind, text in words.items() if kind in said or kind == "safe" and not said)


def _torch_pages(r: Rule) -> list[str]:
    """The pages of torch's manual about what the rule looks for."""
    names = [name for trigger in r.triggers for name in trigger.names if name.startswith("torch.")]
    names += re.findall(r"`(torch(?:\.\w+)+)", _said_about(r))
    return [_TORCH_DOCS.format(name.removesuffix("()")) for name in dict.fromkeys(names)][:_MOST_LINKS]


def _record(r: Rule) -> dict:
    return {
        "code": r.code,
        "name": r.name,
        "group": r.group,
        "summary": r.summary,
        "explanation": r.manual.strip(),
        "default": r.default,
        "preview": r.preview,
        "dry_run": r.dry,
        "fix": _fix(r),
        "url": rule_url(r.code, r.name),
    }
