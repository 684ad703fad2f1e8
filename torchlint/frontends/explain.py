"""`torchlint explain`: reads the traceback of a program that failed inside torch, and answers with cause and fix."""

from __future__ import annotations

import os
import re
import sys

import click

from torchlint.config import Settings
from torchlint.config_file import Configurations, Layer
from torchlint.explain.known import KnownError, known
from torchlint.explain.places import Places, ProjectLine
from torchlint.explain.related import related
from torchlint.explain.traceback import TracedError as Failed
from torchlint.explain.traceback import failures
from torchlint.finding import Finding
from torchlint.frontends.output import Failure, put, say, wants_color
from torchlint.options import Options
from torchlint.printable import printable
from torchlint.project import NotText, decode
from torchlint.reading import SETTINGS, read, too_large
from torchlint.reports import load
from torchlint.result import Result, shown
from torchlint.run import Run

_LONGEST = 600  # characters of torch's sentence
_CODE = re.compile(r"TL\d{3}", re.IGNORECASE)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", required=False, default="-")
@click.option("--dry-run/--no-dry-run", default=True, help="Look for the mistake by a dry run, too (the default).")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="When to use colours.")
def explain(file: str, dry_run: bool, color: str) -> int:
    """Explain the traceback in FILE, or in what is piped: `python train.py 2>&1 | torchlint explain`.

    The line is looked for in the files below the working folder, and these are linted. Exit code 0 if there is an
    explanation, 1 if there is none.
    """
    told = failures(_text(file))
    if not told:
        raise Failure("there is no traceback in this: give all of what Python printed")
    style = "" if not wants_color(color) else "\x1b[1m"
    places = Places(os.getcwd())
    found: list[tuple[Failed, list[ProjectLine]]] = [(one, places.of(one.frames)) for one in told]
    # Of a chain the first failure that is the project's is the cause; what it led to comes after it.
    failed, lines = next(((one, at) for one, at in found if at and known(one.message)), found[-1])
    lines = lines or next((at for _, at in found if at), [])
    put(f"{style}{printable(_sentence(failed))}{style and chr(27) + '[0m'}\n")
    for place in lines[-3:]:
        moved = " (it stood elsewhere when this ran)" if place.moved else ""
        name = f" in {place.name}" if place.name else ""
        put(f"  {printable(f'{shown(place.path)}:{place.line}{name}')}{moved}: {printable(place.text)}\n")
    put("\n")
    cause = known(failed.message)
    findings, result, settings = _findings(lines, failed, dry_run)
    if findings:
        result.findings = findings
        load("full")(result, settings, put, color=wants_color(color))
    elif lines:
        where = printable(f"{shown(lines[-1].path)}:{lines[-1].line}")
        put(f"Neither the dry run nor a rule finds a mistake at {where}.\n\n")
    else:
        put("None of its lines is in a file below this folder, so only the error itself can be explained.\n\n")
    if cause:
        _tell(cause)
    for line in result.notices:
        say(f"warning: {line}")
    return 0 if findings or cause else 1


def _text(file: str) -> str:
    try:
        if file != "-":
            return decode(read(file, SETTINGS))
        if sys.stdin is None or sys.stdin.isatty():
            raise Failure("name a file with a traceback, or pipe one: python train.py 2>&1 | torchlint explain")
        data = sys.stdin.buffer.read(SETTINGS + 1)
        if len(data) > SETTINGS:
            raise too_large(SETTINGS)
        return data.decode("utf-8", "replace")
    except OSError as error:
        manual = f"; the manual of a rule: torchlint rule {file}" if _CODE.fullmatch(file) else ""
        raise Failure(f"{file}: cannot be read: {error.strerror or error}{manual}") from None
    except NotText as error:
        raise Failure(f"{file} is not text: {error}") from None


def _sentence(failed: Failed) -> str:
    text = f"{failed.kind}: {failed.message}" if failed.message else failed.kind
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _findings(lines: list[ProjectLine], failed: Failed, dry_run: bool) -> tuple[list[Finding], Result, Settings]:
    """What is found in the files that a failure went through and has to do with it."""
    if not lines:
        return [], Result(), Settings()
    layer = Layer(Options() if dry_run else Options(dry_run=False), os.getcwd(), "command line")
    configurations = Configurations([layer])
    result = Run(dict.fromkeys(place.path for place in lines), configurations).check()
    return related(result.findings, lines, failed), result, configurations.of_file(lines[-1].path)


def _tell(cause: KnownError) -> None:
    put(f"Why: {cause.cause}\nWhat to do: {cause.remedy}\n")
    if cause.rules:
        put(f"Read on: {', '.join(f'`torchlint rule {code}`' for code in cause.rules)}\n")
