"""The language server on a long file: after a key only the part that has changed is judged, the rest a moment later."""

import pytest
from lsp_client import LOSS, QUIET, same_editor, shared_servers_end  # noqa: F401
from lsprotocol import types

from torchlint.config import Selection, Settings
from torchlint.examples import PRELUDE, cases
from torchlint.frontends.lsp.documents import OpenFiles
from torchlint.frontends.lsp.lanes import Lanes
from torchlint.frontends.lsp.session import Session
from torchlint.frontends.lsp.settings import EditorSettings, Workspace
from torchlint.frontends.lsp.work import Desk
from torchlint.linter import Job, lint
from torchlint.project import Project
from torchlint.rule import load_rules

PADDING = "\n\n# a long file\n" * 150
LONG = f"""\
{LOSS}{PADDING}

def train(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
"""
TRAIN = LONG.count("\n") - 6
RULES = load_rules()


@pytest.mark.asyncio
async def test_what_is_typed_is_seen_and_the_rest_stays(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LONG)
        assert await at.codes(uri) == [("TL101", 6)]
        at.type(uri, "        loss = F.cross_entropy(x.softmax(1), y)\n", (TRAIN + 4, 0))
        assert await at.codes(uri) == [("TL101", 6), ("TL101", TRAIN + 4)]
        at.type(uri, "", (TRAIN + 4, 32), (TRAIN + 4, 43))
        assert await at.codes(uri) == [("TL101", 6)]
        at.type(uri, "    p = x\n", (6, 0))
        assert await at.codes(uri) == []


@pytest.mark.asyncio
async def test_what_a_change_means_elsewhere_is_seen_a_moment_later(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open(
            "a.py", LONG.replace("    p = F.softmax(x, dim=1)", "    p = head(x)") + "\n\ndef head(x):\n    return x\n"
        )
        assert await at.codes(uri) == []
        at.type(uri, "F.softmax(x, dim=1)", (TRAIN + 9, 11), (TRAIN + 9, 12))
        await at.until(lambda: [str(d.code) for d in at.shown(uri)] == ["TL101"])


@pytest.mark.asyncio
async def test_a_half_typed_statement_hides_nothing(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LONG)
        assert await at.codes(uri) == [("TL101", 6)]
        at.type(uri, "        y = (\n", (TRAIN + 2, 0))
        assert sorted(await at.codes(uri)) == [("TL001", TRAIN + 2), ("TL101", 6)]
        at.type(uri, ")", (TRAIN + 2, 13))
        assert await at.codes(uri) == [("TL101", 6)]


class HereAndNow(Lanes):
    """Answers in this process, and remembers about which lines it was asked."""

    def __init__(self):
        super().__init__(is_dry=False, patience=2, limit=30)
        self.desk = Desk()
        self.asked = []

    async def run(self, unit, files, begin):
        request = begin()
        self.asked.append(request.changed)
        return self.desk.do(request)


class Nobody:
    """What a session needs of a client that is pushed to."""

    pulls = False

    def publish(self, uri, diagnostics, version=None):
        pass


@pytest.mark.asyncio
async def test_who_goes_on_elsewhere_is_not_told_again_of_what_was_judged(tmp_path):
    workspace, files = Workspace([str(tmp_path)], str(tmp_path)), OpenFiles("utf-16", str(tmp_path))
    workspace.everywhere = EditorSettings(dry_run=False)
    session, lanes = Session(Nobody(), files, workspace), HereAndNow()
    session.has_settings.set()
    session.text.lanes, session.whole.quiet = lanes, 3600
    item = types.TextDocumentItem((tmp_path / "a.py").as_uri(), "python", 1, LONG)
    unit = files.open(item)

    async def insert(text: str, line: int) -> None:
        place = types.Range(types.Position(line, 0), types.Position(line, 0))
        document = types.VersionedTextDocumentIdentifier(unit.revision + 2, item.uri)
        change = types.TextDocumentContentChangePartial(place, text)
        session.changed(files.change(types.DidChangeTextDocumentParams(document, [change])))
        await session.text.result(unit)

    try:
        await session.text.result(unit)
        await insert("    p = p\n", 6)
        await insert("        y = (\n", TRAIN + 3)  # cannot be read: nothing is judged
        await insert("        )\n", TRAIN + 5)
        await insert("    q = p\n", 6)
    finally:
        session.stop()
    assert lanes.asked == [None, (7, 8), (TRAIN + 4, TRAIN + 5), (TRAIN + 4, TRAIN + 7), (7, 8)]


@pytest.mark.parametrize("code", [code for code, rule in RULES.items() if rule.triggers and not rule.dry])
def test_a_part_is_judged_as_the_whole_file_is(code, tmp_path):
    settings = Settings(selections=(Selection(extend_select=(code,)),), dry_run=False, target_torch="2.13")
    case = min((case for case in cases(RULES[code]) if case.kind == "bad"), key=lambda case: len(case.blocks))
    for block in reversed(case.blocks):
        path, text = tmp_path / (block.file or "example.py"), PRELUDE + block.text
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    whole = lint(text, Job.of(path, settings, Project(tmp_path)))
    lines = [finding.span.line for finding in whole.findings if finding.code == code]
    assert lines
    for line in lines:
        part = lint(text, Job.of(path, settings, Project(tmp_path), changed=(line, line)))
        first, last = part.judged or (0, 0)
        here = {finding for finding in whole.findings if first <= finding.span.line <= last}
        assert {finding for finding in here if finding.code not in whole.afar} <= set(part.findings) <= here
