"""Options as plain data: what the defaults, a configuration file and the command line say about linting one file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from typing import Any

from msgspec import Struct

from torchlint.finding import SEVERITIES, Finding, Fix, Severity

DEFAULT_EXCLUDE = (
    ".bzr .direnv .eggs .git .git-rewrite .hg .ipynb_checkpoints .mypy_cache .nox .pants.d .pyenv .pytest_cache "
    ".pytype .ruff_cache .svn .tox .torchlint_cache .venv .vscode __pycache__ __pypackages__ _build buck-out build "
    "dist node_modules site-packages venv"
)


class ConfigError(ValueError):
    """One line that says which option of which file is wrong."""


class Selection(Struct, frozen=True):
    """One layer of rule selectors (codes, prefixes, names, ALL). A later layer is applied on top of an earlier one."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()


class Settings(Struct, frozen=True, kw_only=True):
    """Every option. `root` is the folder of the configuration in force, empty if there is none."""

    root: str = ""
    source: str = ""
    selections: tuple[Selection, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    fixable: tuple[str, ...] = ("ALL",)
    unfixable: tuple[str, ...] = ()
    preview: bool = False
    unsafe_fixes: bool = False
    noqa: bool = True
    severity: dict[str, Severity] = {}
    fail_on: Severity = "info"

    include: tuple[str, ...] = ("*.py", "*.pyi", "*.ipynb")
    exclude: tuple[str, ...] = tuple(DEFAULT_EXCLUDE.split())
    force_exclude: bool = False
    respect_gitignore: bool = True

    src: tuple[str, ...] = ()
    dry_run: bool = True
    inputs: dict[str, tuple[str, ...]] = {}
    target_torch: str = ""
    rule_paths: tuple[str, ...] = ()

    cache_dir: str = ""
    output_format: str = "full"

    def enabled(self, rules: Mapping[str, Any]) -> frozenset[str]:
        """The codes that are on for files without per-file ignores.

        `rules` has the name, `default` and `preview` of each.
        """
        on = {code for code, rule in rules.items() if rule.default}
        for layer in self.selections:
            on = _apply(layer, rules, on)
        return frozenset(code for code in on if self.preview or not rules[code].preview)

    def asked_for(self, rules: Mapping[str, Any]) -> frozenset[str]:
        """The codes that somebody has selected: what they only remark (severity `info`) is wanted too."""
        words = [s for layer in self.selections for s in (*(layer.select or ()), *layer.extend_select)]
        return frozenset(code for code, rule in rules.items() if any(matches(s, code, rule.name) for s in words))

    def ignored_in(self, path: str) -> tuple[str, ...]:
        """The selectors of the rules that `per-file-ignores` silences in a file."""
        path = os.path.abspath(path)
        lists = [
            selectors
            for pattern, selectors in self.per_file_ignores.items()
            if pattern.startswith("!") != matches_path(pattern.removeprefix("!"), path)
        ]
        return tuple(dict.fromkeys(selector for selectors in lists for selector in selectors))

    def severity_of(self, code: str, name: str) -> Severity | None:
        """How much a rule's findings matter, as somebody has configured it."""
        meant = [selector for selector in self.severity if matches(selector, code, name)]
        return self.severity[max(meant, key=specificity)] if meant else None

    def fails(self, finding: Finding) -> bool:
        """Whether a finding is a reason for the exit code 1."""
        return SEVERITIES.index(finding.severity) >= SEVERITIES.index(self.fail_on)

    def applies(self, fix: Fix | None) -> bool:
        """Whether `--fix` would apply a fix."""
        return fix is not None and (
            fix.applicability == "safe" or (self.unsafe_fixes and fix.applicability == "unsafe")
        )

    def is_fixable(self, code: str, name: str) -> bool:
        """Whether `--fix` may apply this rule's fixes."""
        yes = max((specificity(s) for s in self.fixable if matches(s, code, name)), default=-1)
        no = max((specificity(s) for s in self.unfixable if matches(s, code, name)), default=-1)
        return yes > no


def check_selectors(settings: Settings, names: Mapping[str, str]) -> None:
    """Refuses a selector that means no rule. `names` are the names of all rules by their codes."""
    lists = [(s.select or (), s.ignore, s.extend_select) for s in settings.selections]
    used = [selector for layer in lists for part in layer for selector in part]
    used += [s for part in settings.per_file_ignores.values() for s in part] + [*settings.fixable, *settings.unfixable]
    used += settings.severity
    for selector in dict.fromkeys(used):
        if not any(matches(selector, code, name) for code, name in names.items()):
            known = [*names, *names.values(), "ALL"]
            raise ConfigError(
                f"{settings.source or 'command line'}: no rule is called `{selector}`{suggestion(selector, known)}"
            )


def suggestion(word: str, known: Iterable[str]) -> str:
    """What somebody may have meant who wrote a word that is not known."""
    from difflib import get_close_matches

    close = get_close_matches(word.lower(), {k.lower(): k for k in known}, 1)
    return f", did you mean `{next(k for k in known if k.lower() == close[0])}`?" if close else ""


def matches(selector: str, code: str, name: str) -> bool:
    """Whether a selector means a rule: ALL, a prefix of its code, or its name."""
    return selector == "ALL" or selector == name or code.startswith(selector)


def specificity(selector: str) -> int:
    """Of two selectors that mean a rule the longer one decides, as in ruff; a name is as exact as a whole code."""
    return 0 if selector == "ALL" else len(selector) if re.fullmatch(r"TL\d*", selector) else 5


def _apply(layer: Selection, rules: Mapping[str, Any], on: set[str]) -> set[str]:
    chosen = {}
    for code, rule in rules.items():
        yes = [s for s in (*(layer.select or ()), *layer.extend_select) if matches(s, code, rule.name)]
        no = [s for s in layer.ignore if matches(s, code, rule.name)]
        if yes or no:
            chosen[code] = max(map(specificity, yes), default=-1) > max(map(specificity, no), default=-1)
    if layer.select is not None:
        return {code for code, wanted in chosen.items() if wanted}
    return {code for code in on | set(chosen) if chosen.get(code, True)}


def matches_path(pattern: str, path: str) -> bool:
    """Whether a file pattern means an absolute path: by its last part, or, with a folder in it, by the whole."""
    if "/" not in pattern.rstrip("/"):
        return fnmatch(os.path.basename(path), pattern.rstrip("/"))
    return fnmatch(path, pattern) or fnmatch(path, pattern.rstrip("/") + "/*")
