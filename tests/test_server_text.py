"""Texts in an editor's units, and places that move while somebody types."""

import random
import re
import tracemalloc

import pytest

pytest.importorskip("pygls")

from lsprotocol import types

from tests.effort import calls_of
from torchlint.finding import Finding, Span
from torchlint.frontends.lsp.documents import Document
from torchlint.frontends.lsp.text import Replacement, Text, from_units, moved, to_units

LINE = "aé€𝄞b"


@pytest.mark.parametrize(
    "encoding, units", [("utf-8", [0, 1, 3, 6, 10, 11]), ("utf-16", [0, 1, 2, 3, 5, 6]), ("utf-32", [0, 1, 2, 3, 4, 5])]
)
def test_columns_in_units_and_back(encoding, units):
    assert [to_units(LINE, column, encoding) for column in range(6)] == units
    assert [from_units(LINE, unit, encoding) for unit in units] == list(range(6))
    assert from_units(LINE, 99, encoding) == 5


def test_a_position_inside_of_a_character_is_before_it():
    assert from_units(LINE, 4, "utf-16") == 3
    assert from_units(LINE, 8, "utf-8") == 3


def span_of(text: Text, start: int, end: int) -> Span:
    return Span(*text.place(start), *text.place(end))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_any_edit_does_what_it_says(encoding):
    rng = random.Random(11)
    alphabet = ["a", "é", "𝄞", "\n", "\r\n", "\u2028", "\x0c", "\t"]
    for _ in range(300):
        plain = "".join(rng.choices(alphabet, k=rng.randrange(12)))
        start, end = sorted(
            rng.choice([m.start() for m in re.finditer(r"(?<!\r)(?=.|\Z|\r|\n)", plain, re.DOTALL)]) for _ in "12"
        )
        new = "".join(rng.choices(alphabet, k=rng.randrange(4)))
        text = Text(plain, encoding)
        ends = text.range(span_of(text, start, end))
        text.replace(ends, new)
        assert text.text == plain[:start] + new + plain[end:]


def test_places_move_with_the_text_around_them():
    rng = random.Random(12)
    for _ in range(500):
        plain = "".join(rng.choices("ab\n", k=20))
        start, end = sorted(rng.sample(range(21), 2))
        before, after = sorted(rng.sample(range(21), 2))
        new = "".join(rng.choices("xy\n", k=rng.randrange(4)))
        text = Text(plain)
        span = span_of(text, start, end)
        whole = rng.random() < 0.5
        result = plain[:before] + new + plain[after:]
        change = text.replace(None if whole else text.range(span_of(text, before, after)), result if whole else new)
        now = moved(span, change)
        if end <= before or start >= after:
            length = len(result) - len(plain)
            shift = length if start >= after else 0
            if not whole:
                assert now == span_of(text, start + shift, end + shift)
            else:
                assert now is None or text.text[offset(text, now, 0) : offset(text, now, 1)] == plain[start:end]


def offset(text: Text, span: Span, which: int) -> int:
    line, column = ((span.line, span.column), (span.end_line, span.end_column))[which]
    return text.starts[line - 1] + column - 1


def test_what_a_change_cuts_into_is_gone():
    assert moved(Span(1, 3, 1, 8), Replacement((1, 5), (1, 12), (1, 5))) is None
    assert moved(Span(1, 3, 1, 8), Replacement((1, 4), (1, 6), (1, 9))) == Span(1, 3, 1, 11)


def test_positions_beyond_the_text_are_at_its_end():
    text = Text("ab\ncd")
    assert text.place_of(types.Position(9, 9)) == (2, 3)
    assert text.place_of(types.Position(0, 9)) == (1, 3)
    assert text.position(7, 3) == types.Position(1, 2)


def test_lines_are_the_same_however_a_text_was_changed():
    chance = random.Random(7)
    for _ in range(1500):
        text = Text("".join(chance.choice("ab\r\n\n") for _ in range(chance.randint(0, 14))))
        for _ in range(4):
            start, end = (types.Position(chance.randint(0, 8), chance.randint(0, 4)) for _ in range(2))
            text.replace(types.Range(start, end), "".join(chance.choice("ab\r\n") for _ in range(chance.randint(0, 4))))
            assert text.starts == Text(text.text).starts


def test_a_change_finds_only_the_lines_anew_that_are_near():
    def changed(lines: int) -> int:
        text = Text("x = 1\n" * lines)
        at = types.Position(lines // 2, 0)
        text.replace(types.Range(at, at), "x")  # all are found once
        return calls_of(lambda: [text.replace(types.Range(at, at), "y") for _ in range(50)], 10**7)

    assert changed(8000) < 1.2 * changed(500)


def test_a_change_copies_nothing_of_a_long_text():
    text = Text("x = torch.zeros(2)\n" * 40_000)
    at = types.Position(20_000, 0)
    text.replace(types.Range(at, at), "y\n")  # all lines are found once, and there is room for more
    tracemalloc.start()
    for _ in range(100):
        text.replace(types.Range(at, at), "y\n")
        text.replace(types.Range(at, types.Position(20_001, 0)), "")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20_000
    assert text.text.count("\n") == 40_001


def test_a_column_far_to_the_right_takes_few_steps():
    line = "é𝄞" * 100_000
    assert from_units(line, 200_002, "utf-16") == 133_335
    assert calls_of(lambda: from_units(line, 200_002, "utf-16"), 10**6) < 200


def test_of_very_many_changes_at_once_it_is_said_once_what_moved():
    document = Document(types.TextDocumentItem("file:///a.py", "python", 1, "x = 1\n" * 6000), "utf-16")
    document.findings = [
        Finding("TL101", "x", "a.py", Span(line, 1, line, 2), "") for line in [1, *range(2000, 2400), 6000]
    ]
    changes = [
        types.TextDocumentContentChangePartial(types.Range(at, at), "y\n")
        for at in (types.Position(1000 + 2 * index, 0) for index in range(2000))
    ]
    with document.recorded() as recorded:
        assert calls_of(lambda: document.edit(changes, 2), 10**7) < 100 * len(changes)
    assert [finding.span.line for finding in document.findings] == [1, 8000]
    assert len(recorded) == len(document.edits) == 1
    assert document.text.count("y") == len(changes)
