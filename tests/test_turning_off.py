"""A rule turned off in the configuration: what is inserted, and when nothing is."""

import pytest
from lsp_client import LOSS, QUIET, capabilities, editor, same_editor, shared_servers_end  # noqa: F401

from torchlint.frontends.lsp.turning_off import ignoring

TABLE = "[tool.torchlint]\n"


@pytest.mark.parametrize(
    "before, after",
    [
        ("", '\n[tool.torchlint]\nignore = ["TL101"]\n'),
        ("[project]\nname = 'x'", "[project]\nname = 'x'\n\n[tool.torchlint]\nignore = [\"TL101\"]\n"),
        (f"{TABLE}select = ['ALL']\n", f"{TABLE}ignore = [\"TL101\"]\nselect = ['ALL']\n"),
        (f"{TABLE}ignore = []\n", f'{TABLE}ignore = ["TL101"]\n'),
        (f"{TABLE}# why\nignore = ['TL2']\n\n[tool.x]\nignore = []\n", f"{TABLE}# why\nignore = [\"TL101\", 'TL2']\n\n[tool.x]\nignore = []\n"),
        (f"{TABLE}ignore = [\n  'TL2',  # why\n]\n", f"{TABLE}ignore = [\"TL101\",\n  'TL2',  # why\n]\n"),
        (f"[tool.x]\nignore = ['a']\n{TABLE}preview = true\n", f"[tool.x]\nignore = ['a']\n{TABLE}ignore = [\"TL101\"]\npreview = true\n"),
    ],
)  # fmt: skip
def test_one_code_more_and_nothing_else_changes(before, after):
    offset, new = ignoring(before, "TL101", in_table=True)
    assert before[:offset] + new + before[offset:] == after


def test_a_file_of_its_own_has_no_table():
    offset, new = ignoring("preview = true\n", "TL101", in_table=False)
    assert (offset, new) == (0, 'ignore = ["TL101"]\n')


@pytest.mark.parametrize(
    "text",
    [
        "tool = 3\n",
        f"{TABLE}ignore = 'TL2'\n",
        "[tool]\ntorchlint.ignore = ['TL2']\n",
        '"""\n[tool.torchlint]\n"""\n',
        "x = '''\n[tool.torchlint]\n'''\n",
        "[tool.torchlint",
    ],
)
def test_what_is_written_otherwise_is_left_alone(text):
    assert ignoring(text, "TL101", in_table=True) is None


@pytest.mark.asyncio
async def test_the_light_bulb_turns_a_rule_off_and_shows_its_manual(tmp_path):
    (tmp_path / "pyproject.toml").write_text(f"{TABLE}ignore = ['TL706']\n")
    able = capabilities(window={"showDocument": {"support": True}})
    async with editor(tmp_path, able, settings=QUIET) as at:
        uri = at.open("a.py", LOSS)
        actions = {action.title: action for action in await at.actions(uri, await at.diagnostics(uri))}
        (edit,) = actions["Turn TL101 off in pyproject.toml"].edit.document_changes
        assert edit.text_document.uri == at.uri("pyproject.toml")
        assert [(e.new_text, e.range.start.line, e.range.start.character) for e in edit.edits] == [('"TL101", ', 1, 10)]
        assert "Show the manual of TL101" in actions


@pytest.mark.asyncio
async def test_without_a_project_there_is_nothing_to_turn_it_off_in(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS)
        titles = [action.title for action in await at.actions(uri, await at.diagnostics(uri))]
        assert titles and not any("Turn" in title or "manual" in title for title in titles)
