"""`torchlint rule`: a rule as a page to read, as all of its examples, or as JSON; and the list of all rules."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import click

from torchlint.config import suggestion
from torchlint.config_file import Configurations
from torchlint.frontends.output import Failure, put, wants_color
from torchlint.frontends.rule_manual import BY_DEFAULT, Manual, manual

if TYPE_CHECKING:
    from torchlint.rule import Rule


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
        records = [_record(r, manual(r, rules)) for r in chosen]
        put(json.dumps(records[0] if which else records, indent=2) + "\n")
    elif which is None and not everything:
        put("\n".join(_table(chosen)) + "\n", styled=True, color=color)
    else:
        manuals = [(r, manual(r, rules)) for r in chosen]
        _show("\n\n\n".join("\n".join(_whole(r, m) if examples else _page(m)) for r, m in manuals), color)
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
            state = click.style(f"  ({BY_DEFAULT[r.by_default]})", dim=True) if r.by_default in BY_DEFAULT else ""
            yield f"  {click.style(r.code, fg='cyan')}  {r.summary.rstrip('.')}{state}"
        yield ""
    yield "`torchlint rule CODE` explains one."


def _page(m: Manual) -> Iterator[str]:
    """What a rule finds and why it hurts, one example and what to write, what looks the same and is right, and where to
    read on.
    """
    yield f"{click.style(m.code, fg='cyan', bold=True)} {_heading(m.name)}"
    yield click.style(" · ".join((m.group, m.state, f"fix: {m.fix}")), dim=True)
    yield ""
    yield m.prose
    for title, text in (("Found", m.found), ("Better", m.better), ("Looks the same, and is right", m.right)):
        if text:
            yield from _example(title, text, m.code)
    if m.related:
        yield ""
        yield _heading("Related")
        yield from (f"  {code}  {summary}" for code, summary in m.related)
    links = [address for address in (m.url, *m.torch) if address]
    if links:
        yield ""
        yield _heading("Read on")
        yield from (f"  {address}" for address in links)
    if m.examples > 3:
        yield ""
        yield click.style(
            f"`torchlint rule {m.code} --examples` shows all {m.examples} examples; they are the rule's tests.",
            dim=True,
        )


def _whole(r: Rule, m: Manual) -> Iterator[str]:
    yield f"# {m.code} {m.name}\n\n{m.group}, {m.state}, fix: {m.fix}\n\n{r.manual.strip()}"
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


def _record(r: Rule, m: Manual) -> dict:
    return {
        "code": r.code,
        "name": r.name,
        "group": r.group,
        "summary": r.summary,
        "explanation": r.manual.strip(),
        "default": r.default,
        "preview": r.preview,
        "dry_run": r.dry,
        "fix": m.fix,
        "added": r.added,
        "related": [code for code, _ in m.related],
        "torch": m.torch,
        "url": m.url,
    }
