"""The code cells of a notebook as one module: findings go back to their cells, edits into the JSON text itself."""

from __future__ import annotations

import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from keyword import iskeyword

from msgspec import Struct
from msgspec.structs import replace

from torchlint.finding import Edit, Finding, Fix, ForwardHint, Hint, Note, Span
from torchlint.gaps import is_hollow
from torchlint.reading import SOURCE
from torchlint.source.text.announced import ANNOUNCED
from torchlint.source.text.magics import is_for_readers, is_foreign, mask
from torchlint.source.text.notebook_json import Cell, NotebookError, NotebookText, read, read_source, rewrite
from torchlint.source.text.parse import needed_by, reason
from torchlint.syntax import syntax_tree

LANGUAGE_KEYS = (("vscode", "languageId"), ("dotnet_interactive", "language"), ("polyglot_notebook", "kernelName"))

_DEFINED = re.compile(r"^(?:(?:async +)?def|class)[ \t]+([^\W\d]\w*)|^([^\W\d]\w*)[ \t]*=(?!=)", re.M)
_IMPORTING = re.compile(r"^(?:import|from)[ \t]+[\w.]+(?:[ \t,]+[\w.*]+)*[ \t]*$", re.M)  # in one line
_SET = re.compile(r"^([^\W\d]\w*(?:[ \t]*,[ \t]*[^\W\d]\w*)*)[ \t]*=(?!=)", re.M)
_SETS = re.compile(r"^[ \t]*([^\W\d][\w.\[\], \t'\"]*)[-+*/@]?=(?!=)", re.M)
_MAKES = re.compile(r"^[ \t]*(?:@|(?:async[ \t]+def|def|class|import|from|global)\b)", re.M)
_HALF_TYPED = re.compile(r"\s*[^\W\d][\w.]*\.\s*")  # `model.`
_GAP = re.compile(  # left for whoever does the exercise
    r"<[A-Z][^<>\n]*>|<>|\?\?\?|\bTODO\b|def \w+\([^)\n]{0,200}\.\.\."
    r"|=[ \t]*(?:#|$)|\.{4}|^[ \t]*\.{3}[ \t]*="
    r"|[(\[,]\s*\?\s*[)\],]|\(\s*,\s*,"  # nothing, or a question mark, where a value belongs
    r"|(?:your|fill|insert)[ _]+(?:[^\W_]+[ _]+){0,2}(?:code|value|in|here)\b|# *complete\b",
    re.IGNORECASE | re.MULTILINE,
)
_COMMENT = re.compile(r"#[^\n]*")
MOST_FORGOTTEN = 200_000  # names: each `%run` may give all of them other values
_NEWLINE = re.compile(r"\r\n|\r|\n")
_WORD = re.compile(r"\w+")
_USED = re.compile(r"(\bfor[ \t]+)?\b(\w+)([ \t]*=(?!=))?")


class Broken(Struct, frozen=True):
    """A cell that is not Python: the place in that cell and the parser's words."""

    cell: int
    line: int
    column: int
    message: str
    is_scratch: bool = False  # was it typed into a cell that had run, or is it half a name, and does no cell need it?


class CodeCell(Struct, frozen=True):
    """A code cell in the module. `number` counts all cells from 1, as ruff does, those with text too; `first` is the
    module line its text begins at.

    `hidden` are its lines (from 1) that the module does not show, `margin` the indentation that all its lines lost.
    """

    number: int
    text: str
    first: int
    lines: int
    hidden: frozenset[int] = frozenset()
    margin: int = 0


class Notebook:
    """`text` is the module. Cells that are empty or of another language are no part of it, broken ones hardly."""

    def __init__(self, sources: Iterable[str | None]):
        """From the texts of all cells; None for one that is text, or not this notebook's Python."""
        self.sources = tuple(sources)
        self._lines: dict[int, list[str]] = {}
        self.cells: list[CodeCell] = []
        self.broken: list[Broken] = []
        self._json = ""
        self._reading: dict[str, set[int]] | None = None  # in which cells a word is used before it is set
        self._document: NotebookText | None = None
        self.newer = ""  # whose syntax a cell has that cannot be read: "Python 3.12"
        self.failing: set[int] = set()  # numbers of the code cells that are expected to fail
        self.reordered: set[int] = set()  # and of those that went well before cells above them ran
        self.ran: set[int] = set()  # and of those that went well at all
        parts: list[str] = []
        self._names: dict[str, None] = {}  # variables that the cells so far have set
        self._forgotten = 0  # how many of them lines that run another file have made unknown
        line = 1
        for number, source in enumerate(self.sources, 1):
            if source is None or not source.strip() or is_foreign(source):
                continue
            part, cell = self._part(number, source, line)
            if cell:
                parts.append(part)
                self.cells.append(cell)
                line += cell.lines
        self.text = "".join(parts)

    def ran_in_another_order(self, number: int) -> bool:
        """Whether a cell went well before one above it, or behind one below it that alone sets what it reads."""
        if number not in self.ran or number in self.reordered:
            return number in self.reordered
        cell = next((one for one in self.cells if one.number == number), None)
        if cell is None:
            return False
        lines = self.text.splitlines(keepends=True)
        above, below = "".join(lines[: cell.first - 1]), "".join(lines[cell.first + cell.lines - 1 :])
        words, set_below = set(re.findall(r"\w+", above)), {name for found in _DEFINED.findall(below) for name in found}
        return any(word in set_below and word not in words for word in _read_first(cell.text))

    @classmethod
    def parse(cls, text: str) -> Notebook:
        """From the JSON text of an .ipynb file; raises NotebookError."""
        document = read(text)
        language = document.metadata.get("language_info")
        language = language if isinstance(language, dict) else {}
        kernel = document.metadata.get("kernelspec")
        kernel = kernel if isinstance(kernel, dict) else {}
        name = language.get("name") or kernel.get("language") or "python"
        known = str(name).lower() in ("python", "ipython", "python3")
        code = [cell.kind == "code" for cell in document.cells]
        if (
            sum(
                len(token.value)
                for cell, is_code in zip(document.cells, code)
                if is_code
                for token in cell.source.tokens
            )
            > SOURCE
        ):
            raise NotebookError(f"the notebook has more than {SOURCE >> 20} MB of code")
        notebook = cls(
            cell.source.text if is_code and known and _is_python(cell.metadata) else None
            for cell, is_code in zip(document.cells, code)
        )
        is_old = str(language.get("version", "")).startswith("2.") and "3" not in str(kernel.get("name", ""))
        if notebook.broken and is_old:
            raise NotebookError("the notebook is written in Python 2")
        notebook._json = text
        notebook._document = document
        notebook.failing = _failing(document.cells)
        notebook.reordered = _reordered(document.cells)
        notebook.ran = {n for n, cell in enumerate(document.cells, 1) if cell.ran and not cell.failed}
        drafts = _drafts(document.cells)
        notebook.broken = [
            replace(b, is_scratch=notebook._is_scratch(b, document.cells[b.cell - 1].ran))
            for b in notebook.broken
            if b.cell not in notebook.failing and b.cell not in drafts
        ]
        return notebook

    def _is_scratch(self, broken: Broken, has_run: bool) -> bool:
        source = self.sources[broken.cell - 1] or ""
        if _HALF_TYPED.fullmatch(source):
            return True
        if not has_run or _MAKES.search(source):
            return False
        lines = _NEWLINE.split(source)
        at_most = min(broken.line, len(lines))  # the end of a text has a line of its own
        first = next((at for at in range(at_most - 1, 0, -1) if re.match(r"\w", lines[at])), 0)
        last = next((at for at in range(first + 1, len(lines)) if re.match(r"\w", lines[at])), len(lines))
        statement = "\n".join(lines[first : max(last, at_most)])
        words = {word for targets in _SETS.findall(statement) for word in _WORD.findall(targets)}
        return all(self._readers(word) <= {broken.cell} for word in words)

    def _readers(self, word: str) -> set[int]:
        """The numbers of the cells that use a name which they have not set before."""
        if self._reading is None:
            self._reading = {}
            for number, source in enumerate(self.sources, 1):
                for read in _read_first(source or ""):
                    self._reading.setdefault(read, set()).add(number)
        return self._reading.get(word, set())

    def _part(self, number: int, source: str, first: int) -> tuple[str, CodeCell | None]:
        """One cell's share of the module; a broken one only makes the names unknown that it would define."""
        text, hidden, margin = source, frozenset(), 0
        error = _syntax_error(text)
        if error:
            text, margin = _without_margin(text)
            self._forgotten += text.count("%run") * len(self._names)
            if self._forgotten > MOST_FORGOTTEN:
                raise NotebookError("the notebook runs other files again and again")
            text, hidden = mask(text, self._names)
            error = error if not margin and not hidden else _syntax_error(text)
        if error:
            line, column = error.lineno or 1, error.offset or 1
            empty = "expected an indented block" in (error.msg or "") and _COMMENT.search(text)  # steps in words
            if newer := needed_by(error):
                self.newer = newer
            elif not (
                _GAP.search(text) or is_hollow(text) or empty or is_for_readers(source) or _is_indented_in_part(source)
            ):
                self.broken.append(Broken(number, line, max(column, 1) + margin, reason(error)))
            return _forgotten(number, source, first)
        text = re.sub(r"[\ud800-\udfff]", "\ufffd", text)
        if not text.endswith(("\n", "\r")):
            text += "\n"
        for targets in _SET.findall(text):
            self._names.update(dict.fromkeys(name for name in re.split(r"[ \t,]+", targets) if not iskeyword(name)))
        cell = CodeCell(
            number, source, first, len(_NEWLINE.findall(text)), frozenset(line + 1 for line in hidden), margin
        )
        return text, cell

    def lines(self, number: int) -> list[str]:
        """The lines of a code cell as its author wrote them."""
        if number not in self._lines:  # asked at each finding
            source = self.sources[number - 1] if 0 < number <= len(self.sources) else None
            self._lines[number] = _NEWLINE.split(source or "")
        return self._lines[number]

    def cell_at(self, line: int) -> CodeCell | None:
        """The cell in which a line of the module stands."""
        at = bisect_right(self.cells, line, key=lambda cell: cell.first)
        return self.cells[at - 1] if at else None

    def to_cell(self, finding: Finding) -> Finding:
        """A finding about the module becomes one about a cell. A fix that no cell can take as it is gets lost."""
        cell = self.cell_at(finding.span.line)
        if cell is None:
            return finding
        return replace(
            finding,
            span=self._span(cell, finding.span),
            cell=cell.number,
            fix=finding.fix and self._fix(finding.fix, cell),
            notes=tuple(self._note(note) if note.path == finding.path else note for note in finding.notes),
        )

    def hint_to_cell(self, hint: Hint | ForwardHint) -> Hint | ForwardHint:
        """What was seen at a place of the module, at its place in a cell."""
        cell = self.cell_at(hint.span.line)
        return replace(hint, span=self._span(cell, hint.span), cell=cell.number) if cell else hint

    def _note(self, note: Note) -> Note:
        cell = self.cell_at(note.span.line)
        return replace(note, span=self._span(cell, note.span), cell=cell.number) if cell else note

    def _span(self, cell: CodeCell, span: Span) -> Span:
        line, end_line = span.line - cell.first + 1, span.end_line - cell.first + 1
        if end_line > cell.lines:
            last = self.lines(cell.number)[cell.lines - 1]
            return Span(line, span.column + cell.margin, cell.lines, len(last) + 1)
        return Span(line, span.column + cell.margin, end_line, span.end_column + cell.margin)

    def _fix(self, fix: Fix, of: CodeCell) -> Fix | None:
        edits = [self._edit(edit, of) for edit in fix.edits]
        return None if None in edits else replace(fix, edits=tuple(edits))

    def _edit(self, edit: Edit, of: CodeCell) -> Edit | None:
        """An edit of the module, made for a finding in the cell `of`, as an edit of one cell; None if there is none."""
        span, text = edit.span, edit.text
        cell = self.cell_at(span.line)
        if cell is None:
            return None
        if (span.line, span.column) == (span.end_line, span.end_column):
            before = self.cell_at(span.line - 1)
            if span.column == 1 and before not in (cell, None) and _belongs_before(text, of, cell):
                return self._at_end(before, text)
            if span.column == 1 and span.line == cell.first and cell.text.lstrip().startswith("%%"):
                after = cell.first + min(cell.hidden)
                span = Span(after, 1, after, 1)
        else:
            last = span.end_line if span.end_column > 1 else span.end_line - 1
            if last >= cell.first + cell.lines or any(span.line <= cell.first + n - 1 <= last for n in cell.hidden):
                return None
        lines = self.lines(cell.number)
        line, end_line = span.line - cell.first + 1, span.end_line - cell.first + 1
        if line > len(lines):
            return self._at_end(cell, text)
        column, end_column = span.column + cell.margin, span.end_column + cell.margin
        if end_line > len(lines):
            # The line ends where the cell does: the newline that the module has there is not in the notebook.
            if text and not text.endswith("\n"):
                return None
            text = text.removesuffix("\n")
            end_line, end_column = len(lines), len(lines[-1]) + 1
        elif end_line > cell.lines:
            end_column = 1
        if cell.margin:
            text = text.replace("\n", "\n" + re.match(r"\s*", cell.text).group()[-cell.margin :])
        return Edit(Span(line, column, end_line, end_column), text, cell.number)

    def _at_end(self, cell: CodeCell, text: str) -> Edit:
        lines = self.lines(cell.number)
        line, column = len(lines), len(lines[-1]) + 1
        if lines[-1]:
            text = "\n" + text.removesuffix("\n")
        return Edit(Span(line, column, line, column), text, cell.number)

    def apply(self, edits: Iterable[Edit]) -> str:
        """The notebook's JSON text after edits that do not overlap; only the lines they touch are different."""
        if self._document is None:
            raise ValueError("these cells do not come from a file")
        text = self._json
        for edit in sorted(edits, key=lambda edit: (edit.cell or 0, edit.span), reverse=True):
            start = self._document.cells[edit.cell - 1].source.start
            source = read_source(text, start)
            lines = _line_starts(source.text)
            span = edit.span
            begin = lines[span.line - 1] + span.column - 1
            end = lines[span.end_line - 1] + span.end_column - 1
            text = rewrite(text, source, begin, end, edit.text)
        return text


def _forgotten(number: int, source: str, first: int) -> tuple[str, CodeCell | None]:
    """The share of a broken cell: what it imports, for it is mended before the next ones run, and that what earlier
    cells gave its names is not what later cells find there.
    """
    names = dict.fromkeys(name for found in _DEFINED.findall(source) for name in found if name and not iskeyword(name))
    lines = [line for line in _IMPORTING.findall(source) if _syntax_error(line) is None]
    lines += [f"del {', '.join(names)}"] if names else []
    if not lines:
        return "", None
    return f"{'; '.join(lines)}\n", CodeCell(number, source, first, 1, frozenset({1}))


def _read_first(source: str) -> Iterator[str]:
    """The words that a cell uses and has not set before."""
    seen = set()
    for taken, word, given in _USED.findall(source):
        if word not in seen and not (taken or given):
            yield word
        seen.add(word)


def _failing(cells: list[Cell]) -> set[int]:
    """The numbers of the code cells that failed when they ran last, are said to fail, or have gaps to be filled."""
    found, announced = set(), False
    for number, cell in enumerate(cells, 1):
        text = cell.source.text
        if cell.kind == "code":
            comments = _COMMENT.findall(text)
            said = text.lstrip().startswith("%%expect_exception") or any(map(ANNOUNCED.search, comments))
            if cell.failed or announced or said or any(map(_GAP.search, comments)):
                found.add(number)
        announced = cell.kind == "markdown" and ANNOUNCED.search(text) is not None
    return found


def _reordered(cells: list[Cell]) -> set[int]:
    """The numbers of the cells that ran before one above them, and did not fail."""
    found, last = set(), 0
    for number, cell in enumerate(cells, 1):
        if cell.count is not None and cell.count < last and not cell.failed:
            found.add(number)
        last = max(last, cell.count or 0)
    return found


def _drafts(cells: list[Cell]) -> set[int]:
    """The numbers of the cells that nobody has run yet, of a notebook that was run."""
    if not any(cell.ran for cell in cells):
        return set()
    return {number for number, cell in enumerate(cells, 1) if not cell.ran}


def _is_python(metadata: dict) -> bool:
    """Editors that mix languages write the language of a cell into its metadata."""
    for editor, key in LANGUAGE_KEYS:
        facts = metadata.get(editor)
        if isinstance(facts, dict) and facts.get(key, "python") != "python":
            return False
    return True


def _syntax_error(text: str) -> SyntaxError | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            syntax_tree(re.sub(r"[\ud800-\udfff]", "\ufffd", text))
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error) or "too complex for Python's own parser")
    return None


def _without_margin(text: str) -> tuple[str, int]:
    """IPython accepts a cell whose lines are all indented."""
    lines = [line for line in _NEWLINE.split(text) if line.strip()]
    margin = re.match(r"[ \t]*", lines[0]).group()
    if margin and all(line.startswith(margin) for line in lines):
        return re.sub(rf"^{margin}", "", text, flags=re.MULTILINE), len(margin)
    return text, 0


def _is_indented_in_part(text: str) -> bool:
    """Is it Python without the margin of its first line, which IPython takes from all lines that have it?"""
    margin = re.match(r"\s*?([ \t]*)(?=\S)", text).group(1)
    return bool(margin) and _syntax_error(mask(re.sub(rf"^{margin}", "", text, flags=re.MULTILINE)).text) is None


def _line_starts(text: str) -> Sequence[int]:
    return [0, *(match.end() for match in _NEWLINE.finditer(text))]


def _belongs_before(text: str, of: CodeCell, cell: CodeCell) -> bool:
    """Whether a line inserted between two cells is the end of the first one: it is, unless it prepares the second."""
    return text.endswith("\n") and (of != cell or text[0].isspace() or text.startswith(("import ", "from ")))
