"""JUnit's XML: one suite for each file, one failed test case for each finding."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from torchlint.config import Settings
from torchlint.printable import printable
from torchlint.reports.places import place
from torchlint.result import Result, shown


def render(result: Result, settings: Settings, write: Callable[[str], object], color: bool = False) -> None:
    total = len(result.findings)
    write('<?xml version="1.0" encoding="UTF-8"?>\n')
    write(f'<testsuites name="torchlint" tests="{max(total, 1)}" failures="{total}" errors="0">\n')
    for path, group in groupby(result.findings, key=lambda finding: finding.path):
        findings = list(group)
        name, count = shown(path), len(findings)
        write(
            f'  <testsuite name={_attribute(name)} tests="{count}" disabled="0" errors="0" '
            f'failures="{count}" package="torchlint">\n'
        )
        for finding in findings:
            line, column = finding.span.line, finding.span.column
            cell = f"cell {finding.cell}, " if finding.cell else ""
            said = [f"{cell}line {line}, col {column}, {finding.message}"]
            said += [f"{place(note)}: {note.message}" for note in finding.notes]
            said += [f"help: {finding.help}"] if finding.help else []
            told = _ascii(escape("\n".join(map(_text, said))))
            write(
                f"    <testcase name={_attribute(f'torchlint.{finding.code}')} "
                f'classname={_attribute(os.path.splitext(name)[0])} line="{line}" column="{column}">\n'
                f"      <failure message={_attribute(finding.message)} type={_attribute(finding.severity)}>"
                f"{told}</failure>\n"
                "    </testcase>\n"
            )
        write("  </testsuite>\n")
    if not total:
        # A file without any test case counts as a broken upload in most readers.
        write('  <testsuite name="torchlint" tests="1" disabled="0" errors="0" failures="0" package="torchlint">\n')
        write('    <testcase name="No findings" classname="torchlint"/>\n  </testsuite>\n')
    write("</testsuites>\n")


def _text(text: str) -> str:
    """XML 1.0 has no way to write most control characters, lone surrogates and two more, not even escaped."""
    return printable(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def _attribute(text: str) -> str:
    return _ascii(quoteattr(_text(text)))


def _ascii(text: str) -> str:
    """The declaration says UTF-8, and the terminal or file this goes to may be anything."""
    return text.encode("ascii", "xmlcharrefreplace").decode()
