"""Comments that silence findings: `# noqa`, `# torchlint: ignore[...]` and their forms for a whole file."""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from torchlint.finding import Edit, Finding, Fix, Span

# Each character of these patterns can be read in one way only: a comment may be long, and is then tried once and not in
# all divisions.
_ONE = r"[A-Z][A-Z0-9]*(?<=[0-9])(?!\w)"
_CODES = rf"{_ONE}(?:(?:\s+(?:,\s*)?|,\s*){_ONE})*"
_DIRECTIVE = re.compile(
    rf"""\#\s*(?:
        (?:(?P<whole>flake8|ruff)\s*:\s*)?(?P<noqa>noqa)\b(?:\s*:\s*(?P<codes>{_CODES}))?
      | torchlint\s*:\s*ignore(?P<file>-file)?\b(?:\s*\[(?P<list>[^\]\#]*)\](?P<reason>[^\#]*))?
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_CODE = re.compile(r"[\w-]+")
_BLANKS, _JOINTS = re.compile(r"\s*"), re.compile(r"[:,\- ]*")

_EVERYWHERE = 0  # the row of what speaks about the whole file
_OF_OURS = re.compile(rb"noqa[ \t]*:[^\n]*\btl")  # in small letters: so it is looked for by its first word


def may_name_rules(text: str) -> bool:
    """May a comment of a text name rules of ours? Only then it can be of no use where nothing is found."""
    small = text.encode(errors="replace").lower()
    return b"torchlint" in small or _OF_OURS.search(small) is not None


def says_something(text: str) -> bool:
    """Whether a text would mean something in a comment."""
    return bool(_DIRECTIVE.search(f"# {text}"))


class Directive:
    """One suppression comment: which codes (None for all), on which logical line (None for the whole file)."""

    def __init__(self, match: re.Match, comment: str, row: int, column: int, is_alone: bool):
        self.is_noqa = bool(match["noqa"])
        self.row, self.column, self.comment, self.match = row, column, comment, match
        self.is_alone = is_alone  # on its line
        listed = match["codes"] or match["list"]
        codes = () if listed is None else (c if "_" in c else c.upper() for c in _CODE.findall(listed))
        self.codes = None if listed is None else dict.fromkeys(codes)
        self.whole_file = bool(match["whole"] or match["file"])
        self.used: set[str] = set()
        self._answers: dict[tuple[str, str], bool] = {}

    def silences(self, finding: Finding) -> bool:
        """Whether the finding's code or name is listed; remembers what was of use."""
        if self.codes is None:
            return True
        rule = finding.code, finding.name
        if rule not in self._answers:
            hits = self.codes.keys() & _called(*rule)
            self.used |= hits
            self._answers[rule] = bool(hits)
        return self._answers[rule]

    def unused(self, called: set[str]) -> list[str]:
        """Our codes that silenced nothing although a rule they mean did run: `called` is what those are called."""
        return [listed for listed in self.codes or () if listed not in self.used and listed in called]

    def without(self, codes: list[str]) -> Edit:
        """The edit that takes these codes out of the comment, and the comment away when nothing of it is left."""
        gone = set(codes)
        left = [c for c in self.codes if c not in gone]
        group = "codes" if self.is_noqa else "list"
        if left:
            return self._edit(*self.match.span(group), ", ".join(left))
        # Only what goes is named, and nothing copied: a comment may have thousands of these.
        first, start = self.match.span()
        while first and self.comment[first - 1].isspace():
            first -= 1
        last = _BLANKS.match(self.comment, start).end()
        if last == len(self.comment):
            return self._edit(first, last, "")
        mark = ""
        if self.is_noqa and self.comment[last] != "#":
            mark, last = "# ", _JOINTS.match(self.comment, last).end()
        return self._edit(first, last, ("  " if first else "") + mark)

    def _edit(self, start: int, end: int, text: str) -> Edit:
        return Edit(Span(self.row, self.column + start, self.row, self.column + end), text)


def _called(code: str, name: str) -> set[str]:
    """What may be listed for a rule. A listed code also stands for the codes it begins, as in flake8."""
    return {name, *(code[:end] for end in range(2, len(code) + 1) if code.startswith("TL"))}


class Suppressions:
    """All suppression comments of one text."""

    def __init__(self, text: str):
        self.lines: list[str] = []
        self.directives: list[Directive] = []
        self._starts: list[int] = []  # first and last rows of the logical lines, in order
        self._ends: list[int] = []
        self._open_ends: set[int] = set()  # rows at whose end a comment can be put
        lowered = text.lower()
        self._any = "noqa" in lowered or "torchlint" in lowered
        if self._any:
            self._read(text)

    def filter(self, findings: Iterable[Finding], active: Mapping[str, str], path: str = ""):
        """The findings that stay, how many do not, and TL002 findings.

        `active` are the rules that ran: code to name.
        """
        findings = list(findings)
        if not self.directives:
            return findings, 0, []
        rows: dict[int, list[Directive]] = {}
        for directive in self.directives:
            for row in (_EVERYWHERE,) if directive.whole_file else self._rows_of(directive):
                rows.setdefault(row, []).append(directive)
        kept, answers = [], {}
        for finding in findings:
            silent = False
            for row in {_EVERYWHERE, *self._lines_of(finding)}:
                asked = (row, finding.code, finding.name)
                if asked not in answers:
                    # Every comment is asked, so that each one that applies counts as used.
                    answers[asked] = sum(d.silences(finding) for d in rows.get(row, ())) > 0
                silent = silent or answers[asked]
            if not silent:
                kept.append(finding)
        unused = self._unused(active, path) if "TL002" in active else []
        return kept, len(findings) - len(kept), unused

    def add_noqa(self, findings: Iterable[Finding], reason: str = "") -> list[Edit]:
        """Edits that silence the findings with `# noqa` comments, joining the ones that are there; with a reason."""
        wanted: dict[int, list[str]] = {}
        for finding in findings:
            row = finding.span.line
            if row not in self._open_ends:
                row = self._logical(row)[1]
            if finding.code not in wanted.setdefault(row, []):
                wanted[row].append(finding.code)
        edits = []
        for row, codes in sorted(wanted.items()):
            there = [d for d in self.directives if d.row == row and d.is_noqa and d.codes and not d.whole_file]
            if there:
                _, end = there[0].match.span("codes")
                comment, more = there[0].comment.rstrip(), "".join(f", {c}" for c in sorted(codes))
                if reason and len(comment) > end:
                    edits.append(there[0]._edit(len(comment), len(there[0].comment), f"; {reason}"))
                elif reason:
                    more += f" - {reason}"
                edits.append(there[0]._edit(end, end, more))
            else:
                line = self.lines[row - 1].rstrip("\r\n")
                column = len(line.rstrip()) + 1
                edits.append(
                    Edit(
                        Span(row, column, row, len(line) + 1),
                        f"  # noqa: {', '.join(sorted(codes))}{f' - {reason}' * bool(reason)}",
                    )
                )
        return edits

    @classmethod
    def to_extend(cls, text: str) -> Suppressions:
        """The comments of a text that is to get more of them."""
        made = cls(text)
        if not made._any:
            made._read(text)
        return made

    def _read(self, text: str) -> None:
        self.lines = io.StringIO(text, newline=None).read().split("\n")
        start = None
        try:
            for token in tokenize.generate_tokens(io.StringIO("\n".join(self.lines)).readline):
                kind = token.type
                if kind == tokenize.COMMENT:
                    self._comment(token.string, *token.start)
                elif kind == tokenize.NEWLINE:
                    self._starts.append(start or token.start[0])
                    self._ends.append(token.end[0])
                    self._open_ends.add(token.start[0])
                    start = None
                elif kind == tokenize.NL:
                    self._open_ends.add(token.start[0])
                elif start is None and kind not in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                    start = token.start[0]
        except (tokenize.TokenError, SyntaxError):
            # Not Python to the end: what was read so far counts, and so does everything that looks like a comment after
            # it.
            done = max(self._open_ends, default=0)
            for row, line in enumerate(self.lines[done:], done + 1):
                if "#" in line:
                    self._comment(line[line.index("#") :], row, line.index("#"))

    def _comment(self, comment: str, row: int, column: int) -> None:
        is_alone = not self.lines[row - 1][:column].strip()
        for match in _DIRECTIVE.finditer(comment):
            self.directives.append(Directive(match, comment, row, column + 1, is_alone))

    def _logical(self, row: int) -> tuple[int, int]:
        """First and last row of the logical line a row belongs to."""
        index = bisect_left(self._ends, row)
        if index < len(self._ends) and self._starts[index] <= row:
            return self._starts[index], self._ends[index]
        return row, row

    def _rows_of(self, directive: Directive) -> tuple[int, ...]:
        """Rows a comment speaks about: its own, or, for `torchlint: ignore` alone on a line, the next logical line."""
        index = bisect_left(self._starts, directive.row)
        if (
            directive.is_noqa
            or not directive.is_alone
            or self._logical(directive.row) != (directive.row, directive.row)
        ):
            return (directive.row,)
        return (directive.row, *self._starts[index : index + 1])

    def _lines_of(self, finding: Finding) -> set[int]:
        first, last = self._logical(finding.span.line)
        return {first, finding.span.line, min(finding.span.end_line, last), last}

    def _unused(self, active: Mapping[str, str], path: str) -> list[Finding]:
        silent = {d.row for d in self.directives if d.codes and "TL002" in d.codes}
        called = set().union(*(_called(*rule) for rule in active.items()))
        found = []
        for directive in self.directives:
            codes = [c for c in directive.unused(called) if c != "TL002"]
            if not codes or directive.row in silent:
                continue
            start, end = directive.match.span()
            column = directive.column
            found.append(
                Finding(
                    "TL002",
                    active["TL002"],
                    path,
                    Span(directive.row, column + start, directive.row, column + end),
                    f"nothing to suppress: {', '.join(codes)} is not reported here",
                    help="remove what is not needed",
                    fix=Fix("remove the unused suppression", (self._tidy(directive.without(codes)),), "safe"),
                )
            )
        return found

    def _tidy(self, edit: Edit) -> Edit:
        """A comment that goes takes the blanks before it along, and its whole line if it stood alone."""
        row, line = edit.span.line, self.lines[edit.span.line - 1]
        if edit.text or edit.span.end_column <= len(line.rstrip()):
            return edit
        code = line[: edit.span.column - 1].rstrip()
        if code or row == len(self.lines):
            return Edit(Span(row, len(code) + 1, row, len(line) + 1), "")
        return Edit(Span(row, 1, row + 1, 1), "")
