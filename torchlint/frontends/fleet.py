"""`torchlint fleet`: many repositories in one go."""

from __future__ import annotations

import os
import signal
from typing import Any

import click

from torchlint import atomic
from torchlint.config_file import Configurations, Layer
from torchlint.fleet.executors import NoExecutor, engine
from torchlint.fleet.linting import Wishes
from torchlint.fleet.running import Fleet
from torchlint.fleet.sources import WrongList, read_list
from torchlint.fleet.summary import summary
from torchlint.frontends.given import codes, switch
from torchlint.frontends.output import Failure, count, fail, put, say
from torchlint.frontends.progress import Progress
from torchlint.options import options
from torchlint.reading import RECORDS, read
from torchlint.run import available_processors

_RULES = ("select", "ignore", "extend_select", "extend_ignore")


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("list_", metavar="LIST")
@click.option(
    "-o", "--output", metavar="FOLDER", required=True, help="Where results go, and where a stopped run goes on."
)
@click.option("--executor", metavar="ADDRESS", default="local", help="`local`, or `dask://HOST:PORT` of a scheduler.")
@click.option("--output-format", type=click.Choice(("json-lines", "sarif")), default="json-lines", help="How to write.")
@codes("select", "Rules to turn on: codes, their beginnings, names, or ALL.")
@codes("ignore", "Rules to turn off.")
@codes("extend-select", "Rules to turn on besides the others.")
@codes("extend-ignore", "Rules to turn off besides the others.")
@switch("dry-run", "Run modules and scripts on tensors without data (needs torch; on by default).")
@click.option("--isolated", is_flag=True, help="Ignore the configuration of the repositories.")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), help="How many processes lint here (all processors if not given)."
)
@click.option("-e", "--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def fleet(list_: str, output: str, executor: str, **given: Any) -> int:
    """Lint many repositories, each as itself. LIST names one a line: a folder, an archive, a git directory or address
    (`https://HOST/OWNER/NAME@REVISION`) or a package (`NAME==VERSION`); `#` begins a comment.

    FOLDER gets findings/ with a file for each, fleet.jsonl (a line for each that is done) and summary.md. Nothing of a
    repository is built, installed, checked out or run. The same command goes on where an earlier one stopped."""
    try:
        text = read(list_, RECORDS).decode("utf-8-sig")
        sources = read_list(text, os.path.dirname(os.path.abspath(list_)))
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{list_}: {getattr(error, 'strerror', None) or 'not text'}") from None
    except WrongList as error:
        raise Failure(f"{list_}, {error}") from None
    table: dict[str, Any] = {
        name.replace("_", "-"): [c for part in given[name] for c in part] for name in _RULES if given[name]
    }
    if given["dry_run"] is not None:
        table["dry-run"] = given["dry_run"]
    Configurations([Layer(options(table, "command line"), "", "")], isolated=True).users_own()  # says what is wrong
    wishes = Wishes(table, given["isolated"], given["output_format"])
    try:
        at = engine(executor, given["jobs"] or available_processors())
    except NoExecutor as error:
        raise Failure(f"--executor {error}") from None
    finished, ending = False, signal.signal(signal.SIGTERM, _end)
    try:
        with Progress(given["quiet"], "repository", "repositories") as progress:
            run = Fleet(sources, output, wishes, progress)
            done = run.run(at)
        finished = True
        told = summary(done)
        atomic.put(os.path.join(output, "summary.md"), told.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise Failure(f"--output {error.filename2 or output}: {error.strerror or error}") from None
    finally:
        at.close(now=not finished)
        signal.signal(signal.SIGTERM, ending)
    if not given["quiet"]:
        put(told)
        if run.spared:
            say(f"{count(run.spared, 'repository', 'repositories')} had been done before.")
    failures = [f"{one.name}: {line}" for one in done for line in one.failures]
    for line in failures:
        fail(line)
    if failures:
        return 2
    return int(any(one.counts for one in done) and not given["exit_zero"])


def _end(number: int, frame: object) -> None:
    """What is unpacked is removed, as at every other end."""
    signal.signal(number, signal.SIG_IGN)  # once is enough
    raise SystemExit(128 + number)
