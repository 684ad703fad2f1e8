"""The baseline: what it hides and what it does not."""

import json

import pytest

from torchlint import baseline
from torchlint.config import ConfigError
from torchlint.finding import Finding, Span
from torchlint.result import Result


def result(path, text: str, *lines: int) -> Result:
    path.write_text(text)
    found = [Finding("TL101", "name", str(path), Span(line, 1, line, 2), "message") for line in lines]
    return Result(findings=found, texts={str(path): text})


def left(tmp_path, text: str, *lines: int) -> list[int]:
    now = result(tmp_path / "a.py", text, *lines)
    baseline.subtract(str(tmp_path / "base.json"), now)
    return [f.span.line for f in now.findings]


@pytest.fixture
def written(tmp_path):
    baseline.write(str(tmp_path / "base.json"), result(tmp_path / "a.py", "bad(1)\nok\n  bad(1)\nbad(2)\n", 1, 3, 4))
    return tmp_path


def test_findings_of_the_baseline_are_not_reported(written):
    assert left(written, "bad(1)\nok\n  bad(1)\nbad(2)\n", 1, 3, 4) == []


def test_lines_may_move_and_be_indented(written):
    assert left(written, "new\n\nbad(1)\nbad(2)\nif x:\n    bad(1)\n", 3, 4, 6) == []


def test_new_findings_are_reported(written):
    assert left(written, "bad(1)\nbad(1)\nbad(2)\nbad(3)\n", 1, 2, 3, 4) == [4]


def test_one_more_of_the_same_is_new(written):
    assert left(written, "bad(1)\nbad(1)\nbad(1)\n", 1, 2, 3) == [3]


def test_other_files_are_not_meant(written):
    now = result(written / "b.py", "bad(1)\n", 1)
    assert baseline.subtract(str(written / "base.json"), now) == 0


def test_the_working_folder_does_not_matter(written, monkeypatch):
    monkeypatch.chdir("/")
    assert left(written, "bad(1)\n", 1) == []


def test_the_file_names_what_it_hides(written):
    table = json.loads((written / "base.json").read_text())
    assert [entry["code"] for entry in table["findings"]] == ["TL101"] * 3
    assert len({entry["fingerprint"] for entry in table["findings"]}) == 3


@pytest.mark.parametrize("text", ["", "[]", '{"version": 99, "findings": []}', '{"version": 1, "findings": [3]}'])
def test_what_is_no_baseline_is_one_clear_line(tmp_path, text):
    (tmp_path / "base.json").write_text(text)
    with pytest.raises(ConfigError, match="base.json"):
        left(tmp_path, "x\n", 1)


def test_a_missing_baseline_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="cannot read"):
        left(tmp_path, "x\n", 1)
