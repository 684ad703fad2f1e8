"""Runs the examples of a rule, in its manual and in its page of further ones, which are its tests, and says what
differs.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from torchlint.config import Selection, Settings
from torchlint.dev.unknowns import read_as_no
from torchlint.installed import NEWEST
from torchlint.linter import Job, fix_until_stable, lint
from torchlint.project import Project
from torchlint.reading import read
from torchlint.rule import Example, Rule

PRELUDE = "import torch; from torch import nn; import torch.nn.functional as F\n"
_TARGET = "{}.{}".format(*NEWEST)  # what a rule says of versions does not depend on the installed torch
_MARK = re.compile(r"\s*#\s*(TL\d{3}(?:,\s*TL\d{3})*)\s*$")


class Case(Struct, frozen=True):
    """A block of a manual, or several that are one small project. `before` are those that a `fixed` one is made of."""

    rule: Rule
    kind: str
    blocks: tuple[Example, ...]
    before: tuple[Example, ...] = ()

    def line(self, number: int) -> str:
        return f"{self.blocks[0].page} line {number}".lstrip()


def cases(rule: Rule) -> list[Case]:
    """The examples of the manual in order, then the further ones."""
    return [*_programs(rule, rule.examples), *_programs(rule, rule.edges)]


def _programs(rule: Rule, examples: list[Example]) -> Iterator[Case]:
    """Named blocks that follow each other directly make one small project."""
    programs: list[list[Example]] = []
    for example in examples:
        last = programs[-1] if programs else []
        follows = bool(example.file and last and last[0].file and last[0].kind == example.kind)
        if follows and example.file not in [e.file for e in last]:
            last.append(example)
        else:
            programs.append([example])
    before = [(), *map(tuple, programs)]
    for blocks, earlier in zip(programs, before):
        yield Case(rule, blocks[0].kind, tuple(blocks), earlier)


def shortcomings(rule: Rule) -> Iterator[str]:
    """What a manual lacks, and where a check reads an answer that may be unknown as no."""
    kinds = {example.kind for example in rule.examples}
    for kind, shows in (("bad", "what the rule finds"), ("good", "what looks the same and is right")):
        if kind not in kinds and rule.triggers:
            yield f"there is no ```python {kind} block, which shows {shows}"
    if not rule.triggers:
        yield "no function has a trigger such as @on_call(…)"
    for line, word in read_as_no(read(rule.path).decode()):
        yield f"line {line}: `{word}` may be unknown, which is not no: ask `is True` or `is not False`"


def differences(case: Case, rules: Mapping[str, Rule], folder: Path, strict: bool = False) -> Iterator[str]:
    """What is not as the example says, under the rules that are on by default and its own. `strict` lets a rule that
    fails raise.
    """
    settings = Settings(
        selections=(Selection(extend_select=(case.rule.code,)),), dry_run=case.rule.dry, target_torch=_TARGET
    )
    texts, marks = _written(case.blocks, folder)
    said: dict[tuple[int, str], str] = {}
    weighed: set[str] = set()
    begins = {str(folder / _file(block)): block.line for block in case.blocks}
    for path, text in texts.items():
        outcome = lint(text, Job.of(path, settings, Project(folder), rules, strict=strict))
        said |= {(begins[f.path] + f.span.line - 1, f.code): f.message for f in outcome.findings}
        weighed |= {f.severity for f in outcome.findings if f.code == case.rule.code}
        yield from outcome.notices
    for line, code in sorted(marks - set(said)):
        yield f"{case.line(line)}: {code} is not found here"
    for (line, code), message in sorted(said.items()):
        if (line, code) not in marks:
            yield f"{case.line(line)}: {code} is found here: {message}"
    has_marks = case.kind in ("bad", "remark")
    if has_marks and not any(code == case.rule.code for _, code in marks):
        yield f"{case.line(case.blocks[0].line)}: a bad example marks its lines with  # {case.rule.code}"
    if not has_marks and marks:
        yield f"{case.line(min(marks)[0])}: only bad examples have marks"
    if case.kind == "remark" and weighed - {"info"}:
        yield f"{case.line(case.blocks[0].line)}: this is more than a remark"
    if case.kind == "bad" and weighed == {"info"} != {case.rule.severity}:
        yield f"{case.line(case.blocks[0].line)}: this is a remark only"
    if case.kind == "fixed":
        yield from _other_fixes(case, texts, settings, rules, folder / "before")


def _other_fixes(case: Case, wanted: dict[Path, str], settings: Settings, rules, folder: Path) -> Iterator[str]:
    texts, _ = _written(case.before, folder)
    if len(texts) != len(wanted):
        yield f"{case.line(case.blocks[0].line)}: this is not the same number of files as before"
    for (path, text), (_, right), block in zip(texts.items(), wanted.items(), case.blocks):
        fixed, applied, left = fix_until_stable(text, Job.of(path, settings, Project(folder), rules), unsafe=True)
        if fixed != right:
            written, made = (t.removeprefix(PRELUDE).splitlines() for t in (right, fixed))
            diff = list(difflib.unified_diff(written, made, "as written", "as fixed", lineterm="", n=1))
            yield "\n".join([f"{case.line(block.line)}: the fixes make something else:", *(f"    {d}" for d in diff)])
        elif not applied:
            yield f"{case.line(block.line)}: nothing was fixed"
        for finding in left.findings:
            yield f"{case.line(block.line)}: {finding.code} is still found after all fixes: {finding.message}"


def _written(blocks: tuple[Example, ...], folder: Path) -> tuple[dict[Path, str], set[tuple[int, str]]]:
    """The files of an example without their marks, and the marks by their line in the rule's file."""
    texts, marks = {}, set()
    for block in blocks:
        lines = block.text.split("\n")
        for number, line in enumerate(lines):
            mark = _MARK.search(line)
            if mark:
                marks |= {(block.line + number + 1, code.strip()) for code in mark[1].split(",")}
                lines[number] = line[: mark.start()]
        path = folder / _file(block)
        texts[path] = PRELUDE + "\n".join(lines)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[path], encoding="utf-8")
    return texts, marks


def _file(block: Example) -> str:
    return block.file or "example.py"
