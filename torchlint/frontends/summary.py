"""What the command line says besides findings: closing lines, statistics, settings, comments it added."""

from __future__ import annotations

import json
import platform
from collections import Counter
from itertools import groupby

from msgspec import UNSET, to_builtins

from torchlint import __version__
from torchlint.config import Settings
from torchlint.edits import apply
from torchlint.frontends.output import count, put
from torchlint.installed import installed_version
from torchlint.patch import rewrite
from torchlint.printable import printable
from torchlint.result import Result, Statistics, shown
from torchlint.rule import load_rules
from torchlint.run import Run
from torchlint.source.text.suppress import Suppressions
from torchlint.user import cache_folder

_UNTOUCHABLE = ("TL000", "TL001", "TL002")  # about a whole file, or about a comment itself
_REASONS = 10
_CLASSES = 30


def summary(result: Result, settings: Settings, hidden: int, show_fixes: bool) -> str:
    """The lines after the findings."""
    lines = []
    fixed, left = len(result.fixed), len(result.findings)
    if show_fixes and fixed:
        lines.append(f"Fixed {count(fixed, 'finding')}:")
        for path, findings in groupby(result.fixed, key=lambda f: f.path):
            lines.append(f"- {printable(shown(path))}:")
            for (code, name), number in sorted(Counter((f.code, f.name) for f in findings).items()):
                lines.append(f"    {number} × {code} ({name})")
        lines.append("")
    if fixed:
        lines.append(f"Found {count(fixed + left, 'finding')} ({fixed} fixed, {left} remaining).")
    elif left:
        lines.append(f"Found {count(left, 'finding')}.")
    elif not result.failures:
        lines.append("All checks passed!")
    fixable = sum(settings.applies(f.fix) for f in result.findings)
    hidden_fixes = sum(bool(f.fix and f.fix.applicability == "unsafe") for f in result.findings)
    if settings.unsafe_fixes:
        hidden_fixes = 0
    if fixable:
        more = f" ({hidden_fixes} more with `--unsafe-fixes`)" if hidden_fixes else ""
        lines.append(f"[*] {fixable} fixable with the `--fix` option{more}.")
    elif hidden_fixes:
        lines.append(f"No safe fixes, {hidden_fixes} with `--unsafe-fixes`.")
    if hidden:
        lines.append(f"{count(hidden, 'finding')} in the baseline not shown.")
    if result.statistics.skipped and result.statistics.files > 1:
        lines.append(f"{count(result.statistics.skipped, 'file')} without torch.")
    return "".join(f"{line}\n" for line in lines)


def statistics(result: Result, settings: Settings, verbose: bool = False) -> str:
    """Counts for each rule, then what the run had to do; in detail, if that is wanted."""
    codes = Counter((f.code, f.name) for f in result.findings)
    fixable = Counter(f.code for f in result.findings if settings.applies(f.fix))
    rows = sorted(codes.items(), key=lambda item: (-item[1], item[0]))
    s = result.statistics
    if settings.output_format.startswith("json"):
        table = [{"code": c, "name": n, "count": k, "fixable": fixable[c]} for (c, n), k in rows]
        return json.dumps({"rules": table, "run": to_builtins(s)}, indent=2) + "\n"
    lines = [f"{k}\t{c}\t{'[*]' if fixable[c] else '[ ]'} {n}" for (c, n), k in rows]
    lines += [*([""] if lines else []), *_work(s), *_costs(s, verbose), *(_classes(s) if verbose else [])]
    return "\n".join(lines) + "\n"


def _work(s: Statistics) -> list[str]:
    without = f" ({s.skipped:,} without torch)" if s.skipped else ""
    lines = [
        f"{count(s.files, 'file')}{without}, {count(s.lines, 'line')}; {s.cached:,} of the files from the cache",
        f"{s.armed_lines / max(s.lines, 1):.0%} of the lines are in files that some rule looked at",
    ]
    if s.suppressed:
        lines.append(f"{count(s.suppressed, 'finding')} silenced by comments")
    done = {key: s.dry.get(key, 0) for key in ("modules", "modules_run", "functions", "functions_run")}
    if done["modules"] or done["functions"]:
        lines.append(
            f"dry run: {done['modules_run']:,} of {count(done['modules'], 'module')} and {done['functions_run']:,} of"
            f" {count(done['functions'], 'function')} ran to the end"
        )
    reasons = sorted(s.dry.get("reasons", {}).items(), key=lambda item: (-item[1], item[0]))
    if reasons:
        lines.append("why the other modules did not:")
        lines += [f"{number:>7,}  {printable(reason)}" for reason, number in reasons[:_REASONS]]
    return [*lines, *_scripts(s)]


def _costs(s: Statistics, verbose: bool) -> list[str]:
    """Which rules took the time of all of them, and of how many lines they looked at the files."""
    total = sum(rule["microseconds"] for rule in s.rules.values())
    rows = sorted(s.rules.items(), key=lambda item: (-item[1]["microseconds"], item[0]))
    if not total:
        return []
    return [
        f"rules took {total / 1e6:.1f} s in all processes; of these, and in files with so many of the lines:",
        *(
            f"{rule['microseconds'] / total:>7.1%}  {code}  {rule['lines'] / max(s.lines, 1):.0%}"
            for code, rule in (rows if verbose else rows[:_REASONS])
        ),
    ]


def _classes(s: Statistics) -> list[str]:
    """On which classes the dry run spent its steps where it had to guess."""
    classes = s.dry.get("classes", {})
    if not classes:
        return []
    rows = sorted(classes.items(), key=lambda item: (-item[1], item[0]))[:_CLASSES]
    head = (
        f"dry run: {s.dry.get('steps', 0):,} steps of scripts, {sum(classes.values()):,} of classes tried with guesses:"
    )
    return [head, *(f"{steps:>9,}  {printable(name)}" for name, steps in rows)]


def _scripts(s: Statistics) -> list[str]:
    """How far the scripts came that call a module, and what nobody knew in those that did not train."""
    scripts = s.dry.get("scripts", 0)
    if not scripts:
        return []
    ended, backward, twice = (s.dry.get(f"scripts_{how}", 0) for how in ("ended", "backward", "stepped_twice"))
    lines = [
        f"dry run: of {count(scripts, 'script')} {ended:,} ran to the last statement, {backward:,} to a backward pass,"
        f" {twice:,} to a second step of an optimizer"
    ]
    unknowns = sorted(s.dry.get("unknowns", {}).items(), key=lambda item: (-item[1], item[0]))
    if unknowns:
        lines.append("what was unknown first in the others:")
        lines += [f"{number:>7,}  {printable(reason)}" for reason, number in unknowns[:_REASONS]]
    return lines


def show_settings(settings: Settings) -> int:
    """Prints every setting as TOML, and where they come from."""
    lines = [f"# from {printable(settings.source) or 'the defaults'}"]
    for key, value in to_builtins(settings).items():
        if value is not UNSET and key != "source":
            lines.append(f"{key.replace('_', '-')} = {json.dumps(value)}")
    rules = load_rules(settings.rule_paths)
    enabled = sorted(settings.enabled(rules))
    lines += ["", f"# {count(len(enabled), 'rule')} of {len(rules)} are on:"]
    lines += [f"#   {code} {rules[code].name}" for code in enabled]
    put("".join(f"{line}\n" for line in lines))
    return 0


def about_run(run: Run, result: Result, settings: Settings, seconds: float) -> list[str]:
    """What `--verbose` says: what a run worked with, and what it did."""
    torch = installed_version("torch")
    dry = "no dry run" if not settings.dry_run or not torch else "with the dry run"
    rules = load_rules(settings.rule_paths)
    s = result.statistics
    sources = [shown(source) for source in run.configurations.sources()] or ["the defaults"]
    fresh = s.files - s.cached
    return [
        f"torchlint {__version__}, Python {platform.python_version()}, torch {torch or 'is not installed'}: {dry}",
        f"configuration: {', '.join(sources)}",
        f"{len(settings.enabled(rules))} of {len(rules)} rules are on",
        f"{count(s.files, 'file')}, {count(s.lines, 'line')}: {fresh:,} linted, {s.cached:,} from the cache"
        + (f" ({settings.cache_dir or cache_folder()})" if run.keep else ", which is off"),
        f"{count(len(result.findings), 'finding')}, {s.suppressed:,} silenced by comments; {seconds:.1f} s,"
        f" at most {run.jobs} at once",
    ]


def add_noqa(result: Result, reason: str = "") -> int:
    """Puts a comment on every finding's line; says how many lines were changed. What cannot be written is a failure."""
    added = 0
    for path, findings in groupby(result.findings, key=lambda f: f.path):
        wanted = [f for f in findings if f.code not in _UNTOUCHABLE and f.cell is None]
        if wanted:
            text = result.text(path)
            edits = Suppressions.to_extend(text).add_noqa(wanted, reason)
            try:
                rewrite(path, text, apply(text, edits), result.trees)
            except (OSError, UnicodeEncodeError) as error:
                result.failures.append(f"{shown(path)}: cannot be written: {getattr(error, 'strerror', None) or error}")
                continue
            added += len(edits)
    return added
