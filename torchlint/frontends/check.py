"""`torchlint check`: options, and what happens with what was found."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import click
import msgspec

from torchlint import atomic
from torchlint.baseline import subtract
from torchlint.baseline import write as write_baseline
from torchlint.finding import SEVERITIES, Finding
from torchlint.frontends.given import codes, configurations, noqa_reason, switch
from torchlint.frontends.output import Failure, count, fail, put, put_data, put_error, say, wants_color
from torchlint.frontends.progress import Progress
from torchlint.frontends.summary import about_run, add_noqa, show_settings, statistics, summary
from torchlint.patch import encoded, rewrite, unified
from torchlint.printable import printable
from torchlint.project import NotText, decode
from torchlint.reading import limit_of, too_large
from torchlint.reports import FORMATS, load
from torchlint.reports.paint import patch
from torchlint.result import Result, shown
from torchlint.run import Run
from torchlint.walk import Walk, is_excluded
from torchlint.workers import Fixed

HUMAN = ("concise", "full", "grouped")


class _Command(click.Command):
    """`--add-noqa` takes a reason only behind `=`: what follows it is a path."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["--add-noqa=" if word == "--add-noqa" else word for word in args])


@click.command(cls=_Command, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("paths", nargs=-1)
@switch("fix", "Apply safe fixes.")
@switch("unsafe-fixes", "Apply fixes that may change the meaning, too.")
@switch("diff", "Print what --fix would change as a patch, and change nothing.")
@switch("fix-only", "Apply fixes and do not report what remains.")
@switch("show-fixes", "List what was fixed.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 if something was fixed.")
@codes("select", "Rules to turn on: codes, their beginnings, names, or ALL.")
@codes("ignore", "Rules to turn off.")
@codes("extend-select", "Rules to turn on besides the others.")
@codes("extend-ignore", "Rules to turn off besides the others.")
@click.option("--per-file-ignores", metavar="PATTERN:RULE,...", multiple=True, help="Rules to turn off in some files.")
@codes("fixable", "Rules whose fixes may be applied.")
@codes("extend-fixable", "Rules whose fixes may be applied besides the others.")
@codes("unfixable", "Rules whose fixes may not be applied.")
@switch("preview", "Turn on rules that are being tried out.")
@switch("dry-run", "Run modules and scripts on tensors without data (needs torch; on by default).")
@click.option("--target-torch", metavar="VERSION", help="The torch that the program is to run on, such as 2.6.")
@click.option("--rule-path", metavar="FOLDER", multiple=True, help="A folder with rules of your own.")
@click.option("--config", metavar="FILE|KEY=VALUE", multiple=True, help="A configuration file, or one option as TOML.")
@click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
@click.option("--exclude", metavar="PATTERN,...", multiple=True, help="Files and folders to leave out.")
@click.option("--extend-exclude", metavar="PATTERN,...", multiple=True, help="Files and folders to leave out, too.")
@switch("force-exclude", "Leave excluded files out even if they are named here.")
@switch("respect-gitignore", "Leave out what .gitignore names (on by default).")
@click.option("--stdin-filename", metavar="FILE", help="The name of what comes through the standard input.")
@click.option("-n", "--no-cache", is_flag=True, envvar="TORCHLINT_NO_CACHE", help="Neither read nor write the cache.")
@click.option("--cache-dir", metavar="FOLDER", envvar="TORCHLINT_CACHE_DIR", help="Where results are remembered.")
@click.option(
    "--cache-from", metavar="FOLDER", envvar="TORCHLINT_CACHE_FROM", help="A second cache, which is only read."
)
@click.option(
    "--add-noqa", metavar="[REASON]", callback=noqa_reason, help="Silence every finding with a `# noqa` comment."
)
@click.option("--ignore-noqa", is_flag=True, help="Report what comments silence, too.")
@click.option("--statistics", is_flag=True, help="Print counts instead of findings.")
@click.option("--fail-on", type=click.Choice(SEVERITIES[::-1]), help="The mildest severity that makes the exit code 1.")
@click.option("-e", "--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("--show-files", is_flag=True, help="Print the files that would be linted.")
@click.option("--show-settings", is_flag=True, help="Print the settings in force for the first file.")
@click.option("--output-format", type=click.Choice(FORMATS), envvar="TORCHLINT_OUTPUT_FORMAT", help="How to print.")
@click.option("-o", "--output-file", metavar="FILE", help="Where to write findings (the standard output if not given).")
@click.option(
    "--diff-base",
    metavar="REF",
    help="Report only what concerns lines changed since a revision of git: a branch, a tag …",
)
@click.option("--baseline", metavar="FILE", help="Do not report the findings in this file.")
@click.option("--write-baseline", metavar="FILE", help="Write all findings to this file.")
@click.option("--watch", is_flag=True, help="Lint again whenever a file changes, until Ctrl-C.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="How many processes lint (all processors if not given).")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="When to use colours.")
@click.option("-q", "--quiet", is_flag=True, help="Print findings and nothing else.")
@click.option("-v", "--verbose", is_flag=True, help="Say what the run works with and what it did.")
def check(paths: tuple[str, ...], **given: Any) -> int:
    """Lint files, folders, or the standard input (`-`)."""
    if given["watch"]:
        from torchlint.frontends.watch import watch

        return watch(paths, given, lambda: Check(paths, given))
    return Check(paths, given).run()


class Check:
    """One `torchlint check`."""

    def __init__(self, paths: tuple[str, ...], given: dict[str, Any]):
        self.given = given
        self.paths = list(paths) or ["."]
        self.fixes = given["fix"] or given["fix_only"] or given["diff"]
        self.overlay: dict[str, str] = {}
        self.failures: dict[str, None] = {}
        self.printed: set[tuple] = set()  # where and what was said while others were looked for
        self.configurations = configurations(given)
        if "-" in self.paths:
            if len(self.paths) > 1:
                raise Failure("`-` cannot be combined with other paths")
            for name in ("add_noqa", "write_baseline"):
                if given[name] is not None:
                    raise Failure(f"--{name.replace('_', '-')} cannot be combined with `-`")
            self.paths = [os.path.abspath(given["stdin_filename"] or "-")]
            self.given_data = _standard_input(self.paths[0])
            self.overlay = {self.paths[0]: _text_of(self.given_data)}
        if given["cache_from"] and given["no_cache"]:
            raise Failure("--cache-from cannot be combined with --no-cache")
        if given["cache_from"] and not os.path.isdir(given["cache_from"]):
            raise Failure(f"--cache-from {given['cache_from']}: no such folder")
        self.settings = self.configurations.of_file(self.paths[0])

    def run(self) -> int:
        given = self.given
        if given["diff_base"] is not None and self.fixes:
            raise Failure("--diff-base cannot be combined with fixes: they are made in whole files")
        if given["show_settings"]:
            return show_settings(self.settings)
        if given["show_files"]:
            walk = Walk(self.paths, self.configurations)
            put("".join(f"{printable(path)}\n" for path in walk.files()))
            return self._end(Result(failures=walk.missing, notices=walk.notices))
        if self.overlay and self.settings.force_exclude and is_excluded(self.paths[0], self.settings):
            if self.fixes and not given["diff"]:
                put_data(self.given_data)
            return 0
        began = time.monotonic()
        with Progress(bool(given["quiet"])) as progress:
            run = Run(
                self.paths,
                self.configurations,
                jobs=given["jobs"],
                cache=not given["no_cache"],
                cache_from=given["cache_from"] or "",
                overlay=self.overlay,
                progress=progress,
                found=self._show(progress) if self._streams() else None,
            )
            patches: list[str] = []
            result = run.fix(self._write(patches, run), again=not given["diff"]) if self.fixes else run.check()
        if given["verbose"]:
            for line in about_run(run, result, self.settings, time.monotonic() - began):
                say(line)
        if given["diff"]:
            return self._end_diff(result, patches)
        if self.overlay and self.fixes:
            self._put_fixed(run.overlay[self.paths[0]])
        if given["fix_only"]:
            return self._end(result, [])
        return self._report(result)

    def _streams(self) -> bool:
        """Is what people read to be printed as it is found? Not where something is to be done with all of it first."""
        others = ("statistics", "output_file", "diff_base", "baseline", "write_baseline")
        return (
            self.settings.output_format in HUMAN
            and not (self.overlay or self.fixes or any(self.given[name] for name in others))
            and self.given["add_noqa"] is None
        )

    def _show(self, progress: Progress) -> Callable[[list[Finding]], None]:
        render, texts = load(self.settings.output_format), Result()

        def show(findings: list[Finding]) -> None:
            self.printed.update(finding.order for finding in findings)
            parts: list[str] = []
            part = msgspec.structs.replace(texts, findings=findings)
            render(part, self.settings, parts.append, color=self._color())
            with progress.aside():
                put("".join(parts))

        return show

    def _write(self, patches: list[str], run: Run):
        def write(fixed: Fixed) -> bool:
            if self.given["diff"]:
                patches.append(unified(fixed.path, fixed.before, fixed.after))
            elif not self.overlay:
                try:
                    rewrite(fixed.path, fixed.before, fixed.after, run.trees)
                except (OSError, UnicodeEncodeError) as error:
                    reason = getattr(error, "strerror", None) or error
                    self.failures[f"{shown(fixed.path)}: cannot be fixed: {reason}"] = None
                    return False
            return True

        return write

    def _put_fixed(self, after: str) -> None:
        """The standard input after its fixes, in its own encoding; as it came if that cannot be done without a loss."""
        data = self.given_data
        try:
            data = encoded(data, decode(data), after)
        except (OSError, UnicodeEncodeError) as error:
            self.failures[f"the standard input cannot be fixed: {getattr(error, 'strerror', None) or error}"] = None
        put_data(data)

    def _report(self, result: Result) -> int:
        given = self.given
        hidden, unchanged = 0, None
        if given["diff_base"] is not None:
            from torchlint.changed_lines import keep_changed

            unchanged = keep_changed(result, given["diff_base"], self.paths)
        if given["baseline"]:
            hidden = subtract(given["baseline"], result)
        if given["write_baseline"]:
            write_baseline(given["write_baseline"], result)
            self._say(f"Wrote {count(len(result.findings), 'finding')} to {given['write_baseline']}.")
            return self._end(result, [])
        if given["add_noqa"] is not None:
            added = add_noqa(result, given["add_noqa"])
            self._say(f"Added {count(added, 'noqa comment')}.")
            return self._end(result, [])
        # With fixes of the standard input, its text has the standard output for itself.
        text = self._text(result, hidden, unchanged)
        if given["output_file"]:
            try:
                atomic.write(given["output_file"], text.encode("utf-8", "backslashreplace"), result.trees)
            except OSError as error:
                raise Failure(f"--output-file {given['output_file']}: {error.strerror or error}") from None
        elif self.overlay and self.fixes:
            put_error(text)
        else:
            put(text)
        return self._end(result)

    def _text(self, result: Result, hidden: int, unchanged: int | None) -> str:
        style = self.settings.output_format
        if self.given["statistics"]:
            return statistics(result, self.settings, bool(self.given["verbose"]))
        parts: list[str] = []
        rest = result
        if self.printed:
            rest = msgspec.structs.replace(result, findings=[f for f in result.findings if f.order not in self.printed])
        load(style)(rest, self.settings, parts.append, color=self._color())
        if style in HUMAN and not self.given["quiet"]:
            parts.append(summary(result, self.settings, hidden, show_fixes=bool(self.given["show_fixes"])))
            if unchanged:
                parts.append(
                    f"{count(unchanged, 'finding')} in lines that {self.given['diff_base']} has too not shown.\n"
                )
        return "".join(parts)

    def _end(self, result: Result, findings: list | None = None) -> int:
        """Lines about the run, and its exit code."""
        for line in (*self.configurations.warnings, *result.notices):
            self._say(f"warning: {line}")
        failures = [*result.failures, *self.failures]
        for line in failures:
            fail(line)
        if failures:
            return 2
        counted = filter(self.settings.fails, result.findings) if findings is None else findings
        failed = any(counted) and not self.given["exit_zero"]
        return int(failed or bool(result.fixed and self.given["exit_non_zero_on_fix"]))

    def _end_diff(self, result: Result, patches: list[str]) -> int:
        # A patch on a terminal is for people; elsewhere it must be exact.
        lines = "".join(patches).split("\n")
        color = self._color()
        put("\n".join(patch(map(printable, lines), color) if color or sys.stdout.isatty() else lines))
        self._say(f"Would fix {count(len(result.fixed), 'finding')}." if patches else "Nothing to fix.")
        return self._end(result, patches)

    def _say(self, line: str) -> None:
        if not self.given["quiet"]:
            say(line)

    def _color(self) -> bool:
        when = self.given["color"]
        return when == "always" if self.given["output_file"] else wants_color(when)


def _standard_input(path: str) -> bytes:
    if sys.stdin is None:
        raise Failure("the standard input is closed")
    limit = limit_of(path)
    try:
        data = sys.stdin.buffer.read(limit + 1) or b""
        if len(data) > limit:
            raise too_large(limit)
        return data
    except OSError as error:
        raise Failure(f"the standard input cannot be read: {error.strerror or error}") from None


def _text_of(data: bytes) -> str:
    try:
        return decode(data)
    except NotText as error:
        raise Failure(f"the standard input is not text: {error}") from None
