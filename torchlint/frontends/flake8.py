"""The flake8 plugin `TL`: flake8 chooses files, codes and noqa; all else comes from torchlint's configuration."""

from __future__ import annotations

import ast
import re
from argparse import Namespace
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from torchlint.printable import printable
from torchlint.safe_path import only_safe_imports

# flake8 loads plugins whatever it is asked to do: everything else is imported when a file is there to be linted.
if TYPE_CHECKING:
    from torchlint.config import Settings
    from torchlint.config_file import Configurations
    from torchlint.finding import Finding
    from torchlint.project import Project

Said = tuple[int, int, str, type]


class Plugin:
    """One file in flake8's hands."""

    options = Namespace(select=None, extend_select=None, disable_noqa=False, torchlint_dry_run=False)

    def __init__(self, tree: ast.AST, filename: str, lines: list[str]):
        self.filename = filename
        self.text = "".join(lines)

    @staticmethod
    def add_options(manager: Any) -> None:
        manager.add_option(
            "--torchlint-dry-run",
            action="store_true",
            default=False,
            parse_from_config=True,
            help="Also run torchlint's dry run, which needs torch and takes longer.",
        )

    @classmethod
    def parse_options(cls, options: Namespace) -> None:
        cls.options = options

    def run(self) -> Iterator[Said]:
        """Lines as flake8 counts them, columns from 0."""
        if not is_wanted(self.options):
            return
        try:
            with only_safe_imports(self.filename):  # flake8 may have the linted folder on its path
                findings = lint(self.text, self.filename, self.options)
        except Exception as error:
            # flake8 stops everything when a plugin raises; one file is not worth the report on all others.
            said = isinstance(error, OSError) and error.strerror or str(error)
            what = " ".join(said.split()) or type(error).__name__
            yield 1, 0, f"TL000 torchlint cannot lint this file: {printable(what)}", Plugin
            return
        for finding in findings:
            message = printable(" ".join(finding.message.split()))
            yield finding.span.line, finding.span.column - 1, f"{finding.code} {message}", Plugin


def is_wanted(options: Namespace) -> bool:
    """Whether flake8 would show anything of what torchlint says: a `--select=F` does not have to pay for it."""
    if options.select is None:
        return True
    chosen = (*options.select, *(options.extend_select or ()))
    return any("TL".startswith(code) or code.startswith("TL") for code in chosen)


def lint(text: str, filename: str, options: Namespace) -> list[Finding]:
    """What torchlint says about one file under flake8's options."""
    import os

    from torchlint import linter
    from torchlint.reading import SOURCE, too_large
    from torchlint.walk import project_of

    if len(text.encode(errors="surrogatepass")) > SOURCE:  # flake8 reads the file itself
        raise too_large(SOURCE)
    path = os.path.abspath(filename)
    settings = settings_of(path, options)
    root, roots = project_of(os.path.dirname(path), settings)
    outcome = linter.lint(text, linter.Job.of(path, settings, project(root, roots)))
    # Whether a comment is unused is for flake8 to say: it may be there for a code of another plugin.
    return [finding for finding in outcome.findings if finding.path == path and finding.code != "TL002"]


def settings_of(path: str, options: Namespace) -> Settings:
    """The project's own options, with flake8's say on what is selected."""
    from msgspec import structs

    from torchlint.config import Selection

    # flake8 selects every code of a plugin, so `TL` alone says nothing; a digit says that somebody meant these rules.
    chosen = (*(options.select or ()), *(options.extend_select or ()))
    named = tuple(dict.fromkeys(code for code in chosen if re.fullmatch(r"TL\d{1,3}", code, re.ASCII)))
    return structs.replace(
        configurations().of_file(path),
        selections=(Selection(extend_select=named),),
        per_file_ignores={},
        noqa=not options.disable_noqa,
        dry_run=options.torchlint_dry_run,
    )


@cache
def configurations() -> Configurations:
    """One for the life of the process: flake8 asks about many files of one folder."""
    from torchlint.config_file import Configurations

    return Configurations()


@lru_cache(maxsize=8)
def project(root: str, roots: tuple[str, ...]) -> Project:
    """The same for the files of a project, so that each is read once."""
    from torchlint.project import Project

    return Project(root, roots)
