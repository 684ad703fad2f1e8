"""What torchlint says about much code of others, and how often it is right: `python benchmarks/ledger COMMAND`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import comparing
import fetching
import linting
import sources
import verdicts
from reading import passage, sample
from sources import Source

AT_ONCE = 6  # sources in one run of torchlint


def main(words: list[str] | None = None) -> int:
    arguments = parsed(words)
    try:
        arguments.all = sources.read(arguments.sources)
        arguments.chosen = chosen(arguments.all, arguments.only)
        arguments.known = verdicts.read(arguments.ledger)
        return arguments.run(arguments)
    except (linting.NotLinted, sources.WrongList, verdicts.WrongVerdict) as error:
        print(error, file=sys.stderr)
        return 2


def parsed(words: list[str] | None) -> argparse.Namespace:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--corpus", type=Path, default=sources.default_corpus(), help="where the sources lie")
    common.add_argument("--sources", type=Path, default=sources.LIST, help=argparse.SUPPRESS)
    common.add_argument("--ledger", type=Path, default=sources.HERE / "verdicts.jsonl", help=argparse.SUPPRESS)
    common.add_argument("--only", action="append", default=[], metavar="NAME|TAG", help="of these sources; repeatable")
    linted = argparse.ArgumentParser(add_help=False)
    linted.add_argument("--with", dest="version", default="", metavar="PYTHON|REVISION", help="which torchlint lints")
    run = argparse.ArgumentParser(add_help=False)
    run.add_argument("--text-only", action="store_true", help="leave out the dry run")
    run.add_argument("--jobs", type=int, help="how many processes lint")
    saved = argparse.ArgumentParser(add_help=False)
    saved.add_argument("--findings", type=Path, help="what `lint` has saved, instead of linting")

    parser = argparse.ArgumentParser(prog="ledger", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(function, *parents) -> argparse.ArgumentParser:
        added = commands.add_parser(function.__name__, help=function.__doc__, parents=[common, *parents])
        added.set_defaults(run=function)
        return added

    command(fetch).add_argument("--mirror", type=Path, help="a folder of git directories named owner+name")
    command(lint, linted, run).add_argument("--output", type=Path, help="a folder; in the corpus if not given")
    compared = command(compare, run)
    compared.add_argument("base", help="an interpreter, a revision, or a folder that `lint` has written")
    compared.add_argument("head", help="likewise")
    command(check, linted, run, saved)
    reader = command(read, linted, run, saved)
    reader.add_argument("--code", action="append", default=[], help="of these rules (or their beginnings); repeatable")
    reader.add_argument(
        "--most", type=int, default=0, metavar="N", help="of each rule, from as many sources as possible"
    )
    reader.add_argument("--around", type=int, default=8, metavar="LINES", help="of code before and after")
    command(judge).add_argument("file", help="JSON lines with the ledger's fields; - is the standard input")
    asked = command(precision, saved)
    asked.add_argument("--last", type=int, metavar="N", help="on the N sources that were added last")
    return parser.parse_args(words)


def chosen(listed: list[Source], wanted: list[str]) -> list[Source]:
    unknown = [word for word in wanted if not any(word == s.name or word in s.tags for s in listed)]
    if unknown:
        raise sources.WrongList(f"neither a source nor a tag: {', '.join(unknown)}")
    return [s for s in listed if not wanted or s.name in wanted or set(s.tags) & set(wanted)]


def fetch(arguments: argparse.Namespace) -> int:
    """Bring the pinned sources into the corpus."""
    failed = 0
    for source in arguments.chosen:
        if sources.place(arguments.corpus, source).is_dir():
            continue
        try:
            print(f"{source.name}: {fetching.fetch(source, arguments.corpus, arguments.mirror)} files", flush=True)
        except fetching.NotFetched as error:
            print(error, file=sys.stderr)
            failed = 1
    return failed


def lint(arguments: argparse.Namespace) -> int:
    """Save what torchlint says, as JSON lines, a file for each source."""
    output = arguments.output or arguments.corpus / "findings"
    python = linting.interpreter(arguments.version, arguments.corpus)
    failed = lint_into(output, python, arguments)
    print(f"findings are in {output}")
    return failed


def lint_into(output: Path, python: Path, arguments: argparse.Namespace) -> int:
    """Lints the chosen sources, some at a time; one that fails does not keep the others from being linted."""
    options = ["--no-dry-run"] if arguments.text_only else []
    options += [f"--jobs={arguments.jobs}"] if arguments.jobs else []
    waiting = [arguments.chosen[start : start + AT_ONCE] for start in range(0, len(arguments.chosen), AT_ONCE)]
    failed = 0
    while waiting:
        group = waiting.pop(0)
        started = time.monotonic()
        try:
            found = linting.lint(group, arguments.corpus, python, options)
        except linting.NotLinted as error:
            if len(group) > 1:
                waiting = [[source] for source in group] + waiting
                continue
            print(error, file=sys.stderr, flush=True)
            failed = 2
            continue
        for source in group:
            linting.save(found[source], source, output)
        names, count = ", ".join(source.name for source in group), sum(map(len, found.values()))
        print(f"{names}: {count} findings, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return failed


def findings(arguments: argparse.Namespace) -> dict[Source, list[dict]]:
    """What is said now: saved findings if they are named, else what linting says."""
    if arguments.findings:
        return linting.load(arguments.chosen, arguments.findings)
    return said_by(arguments.version, arguments)


def said_by(version: str, arguments: argparse.Namespace) -> dict[Source, list[dict]]:
    if Path(version).is_dir() and version:
        return linting.load(arguments.chosen, Path(version))
    with tempfile.TemporaryDirectory() as folder:
        if lint_into(Path(folder), linting.interpreter(version, arguments.corpus), arguments):
            raise linting.NotLinted("not every source was linted")
        return linting.load(arguments.chosen, Path(folder))


def compare(arguments: argparse.Namespace) -> int:
    """Print how the findings of two versions differ, as Markdown."""
    base, head = (said_by(version, arguments) for version in (arguments.base, arguments.head))
    print(comparing.difference(base, head, arguments.known))
    return 0


def check(arguments: argparse.Namespace) -> int:
    """Fail if something judged to be false is said again; list what nobody has read."""
    said = {verdicts.key(f): f for found in findings(arguments).values() for f in found}
    back = [place for place in said if arguments.known.get(place, {}).get("verdict") == "false"]
    for title, places in (("not read yet", said.keys() - arguments.known.keys()), ("FALSE, and said again", back)):
        if places:
            print(f"{title}: {len(places)}")
        for place in sorted(places):
            finding = said[place]
            print(f"  {finding['code']} {comparing.described(finding, arguments.known.get(place))}")
    print(f"{len(said)} findings, {len(said.keys() & arguments.known.keys())} of them judged")
    return 1 if back else 0


def read(arguments: argparse.Namespace) -> int:
    """Print what nobody has read yet, with the code around it."""
    fresh = [
        (source, finding)
        for source, found in findings(arguments).items()
        for finding in found
        if verdicts.key(finding) not in arguments.known and finding["code"].startswith(tuple(arguments.code) or "")
    ]
    for source, finding in sample(fresh, arguments.most) if arguments.most else fresh:
        print(passage(finding, sources.place(arguments.corpus, source), arguments.around))
    return 0


def judge(arguments: argparse.Namespace) -> int:
    """Add verdicts to the ledger; a later one replaces an earlier one."""
    text = sys.stdin.read() if arguments.file == "-" else Path(arguments.file).read_text(encoding="utf-8")
    added = verdicts.judged(text, arguments.all)
    place_of = {source.name: sources.place(arguments.corpus, source) for source in arguments.all}
    for verdict in added:
        file = place_of[verdict["source"]] / verdict["path"]
        if verdicts.quotes(verdict, file):
            raise verdicts.WrongVerdict(f"the reason quotes the code: {verdict['path']}:{verdict['line']}")
        if verdicts.is_misplaced(verdict, file):
            raise verdicts.WrongVerdict(f"code cell {verdict['cell']} has no such line: {verdict['path']}")
    verdicts.write(arguments.ledger, {**arguments.known, **{verdicts.key(one): one for one in added}})
    print(f"{len(added)} verdicts")
    return 0


def precision(arguments: argparse.Namespace) -> int:
    """Print how often each rule was right, on all that was ever read or on what is still said."""
    judged = arguments.known
    if arguments.findings:
        still = {verdicts.key(f) for found in linting.load(arguments.all, arguments.findings).values() for f in found}
        judged = {place: verdict for place, verdict in judged.items() if place in still}
    names = {source.name for source in arguments.chosen[-arguments.last if arguments.last else 0 :]}
    print(verdicts.precision(verdict for verdict in judged.values() if verdict["source"] in names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
