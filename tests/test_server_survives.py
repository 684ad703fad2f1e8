"""What does not end the language server: half typed lines, nonsense, dying workers, files that go."""

import asyncio
import json
import os
import signal
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from lsp_client import LOSS, QUIET, Editor, capabilities, editor, same_editor, shared_servers_end  # noqa: F401
from lsprotocol import types

from torchlint.frontends.lsp.documents import OpenFiles
from torchlint.frontends.lsp.session import LATE, Session
from torchlint.frontends.lsp.settings import EditorSettings, Workspace

pytestmark = pytest.mark.asyncio


async def test_a_half_typed_line_is_said_and_forgotten(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri) == [("TL101", 6)]
        at.type(uri, "    foo(\n", (6, 0))
        assert sorted(await at.codes(uri)) == [("TL001", 6), ("TL101", 7)]
        at.type(uri, "", (6, 0), (7, 0))
        assert await at.codes(uri) == [("TL101", 6)]


async def test_a_closed_file_has_no_diagnostics_and_can_be_opened_again(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri)
        at.close(uri)
        await at.until(lambda: not at.shown(uri))
        renamed = at.open("b.py", LOSS)
        assert await at.codes(renamed) == [("TL101", 6)]
        at.published.clear()
        assert await at.codes(at.open("a.py", "\n" + LOSS)) == [("TL101", 7)]


async def test_a_file_that_was_never_saved(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        assert await at.codes(at.open("untitled:Untitled-1", LOSS)) == [("TL101", 6)]


async def test_nonsense_is_answered_and_survived(tmp_path):
    async with editor(tmp_path, settings=QUIET) as at:
        nowhere = at.uri("nowhere.py")
        at.versions[nowhere] = 1
        at.type(nowhere, "x", (0, 0))
        at.close(nowhere)
        assert await at.hover(nowhere, 3, 3) == ""
        assert await at.inlays(nowhere) == [] == await at.lenses(nowhere)
        assert await at.actions(nowhere, []) == []
        uri = at.open("a.py", LOSS)
        at.type(uri, "# far beyond the end", (500, 900), (600, 3))
        assert await at.codes(uri) == [("TL101", 6)]
        assert await at.hover(uri, 10_000, 10_000) == ""
        answers = await raw(at, {"method": "textDocument/hover", "params": {"textDocument": 5}}, {"method": "no/such"})
        assert all("error" in answer for answer in answers)
        at.client._server.stdin.write(b"Content-Length: 9\r\n\r\n{not json")
        at.client._server.stdin.write(b"garbage\r\nContent-Length: 2\r\n\r\n{}")
        at.type(uri, "\n", (0, 0))
        assert await at.codes(uri) == [("TL101", 7)]


async def raw(at: Editor, *requests: dict) -> list[dict]:
    """Sends requests as they are, and gives the answers as they are."""
    answers = {}
    handle = at.client.protocol.structure_message

    def listen(data):
        if isinstance(data, dict) and str(data.get("id", "")).startswith("raw"):
            answers[data["id"]] = data
        return handle(data)

    at.client.protocol.structure_message = listen
    for number, request in enumerate(requests):
        body = json.dumps({"jsonrpc": "2.0", "id": f"raw{number}", **request}).encode()
        at.client._server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    await at.until(lambda: len(answers) == len(requests))
    return [answers[f"raw{number}"] for number in range(len(requests))]


async def test_half_a_character_is_survived(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS + "# \ud83d\n")
        assert await at.codes(uri) == [("TL101", 6)]


def children(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(child) for child in text.split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found through /proc")
async def test_a_worker_may_die(tmp_path):
    async with editor(tmp_path, settings=QUIET) as at:
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri) == [("TL101", 6)]
        for worker in children(at.client._server.pid):
            os.kill(worker, signal.SIGKILL)
        await asyncio.sleep(0.05)
        at.type(uri, "\n", (0, 0))
        assert await at.codes(uri) == [("TL101", 7)]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found through /proc")
async def test_the_end_of_the_server_is_the_end_of_its_workers(tmp_path):
    async with editor(tmp_path, settings=QUIET) as at:
        await at.codes(at.open("a.py", LOSS))
        server = at.client._server.pid
        workers = children(server)
        assert workers
        maps = Path(f"/proc/{server}/maps").read_text()
        assert "libtorch" not in maps
    await at.until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


SLEEPS = """\"\"\"A rule that sleeps.\"\"\"

import time

from torchlint import on_call


@on_call("torch.sleeps")
def check(call):
    time.sleep(600)
    yield
"""
HANGS = "import torch\n\ntorch.sleeps()\n"


IDLE = '''"""Idles.

```python bad
torch.idles()  # TL992
```
"""
from torchlint import on_call


@on_call("torch.idles")
def check(call):
    edit = call.replace(call.node, "0") if call.node.args else call.insert_before(call.node, "pass")
    yield call.finding("idle", fix=call.fix("idle more", edit))
'''


async def test_a_quick_fix_that_mends_nothing_is_not_offered(tmp_path, tree):
    rules = str(tree({"idle/TL992_idles.py": IDLE}) / "idle")
    async with editor(tmp_path, settings=QUIET, arguments=["--rule-path", rules]) as at:
        uri = at.open("a.py", "import torch\n\nx = torch.idles()\ny = torch.idles(1)\n")
        found = await at.diagnostics(uri)
        assert [d.code for d in found] == ["TL992", "TL992"]
        offered = [[a.title for a in await at.actions(uri, [one])] for one in found]
        silence = "Silence TL992 on this line (# noqa)"
        assert offered == [[silence], ["Idle more (TL992)", silence]]


async def test_who_selects_everything_gets_quick_fixes_of_the_first_findings(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS + "F.cross_entropy(F.softmax(x, dim=1), y)\n" * 250)
        found = await at.diagnostics(uri)
        assert len(found) == 251
        told = [action.diagnostics[0].range.start.line for action in await at.actions(uri, found) if action.diagnostics]
        assert set(told) == {one.range.start.line for one in found[:200]}


@pytest.fixture
def rules(tree) -> str:
    """A folder with a rule that hangs."""
    return str(tree({"rules/TL991_sleeps.py": SLEEPS}) / "rules")


async def test_documents_that_hang_keep_nobody_waiting(tmp_path, rules):
    async with editor(tmp_path, settings=QUIET, arguments=["--rule-path", rules]) as at:
        hanging = [at.open(name, HANGS) for name in ("one.py", "two.py")]
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri) == [("TL101", 6)]
        assert not any(map(at.shown, hanging))
        at.type(uri, "\n", (0, 0))
        assert await at.codes(uri) == [("TL101", 7)]
        assert await at.actions(uri, [], only=["source.fixAll"]) == []
        if Path("/proc/self/task").exists():
            assert len(children(at.client._server.pid)) <= 2


@pytest.mark.parametrize("dry_run", [True, False])
async def test_a_document_that_hangs_says_so_once(tmp_path, rules, dry_run):
    class Client:
        """What a session needs of one that is pushed to."""

        pulls, shown = False, {}

        def publish(self, uri, diagnostics, version=None):
            self.shown[uri] = [found.message for found in diagnostics]

        def refresh_shapes(self):
            pass

        @asynccontextmanager
        async def working(self, on):
            yield

    workspace = Workspace([str(tmp_path)], str(tmp_path), (rules,))
    workspace.everywhere = EditorSettings(dry_run=dry_run)
    files = OpenFiles("utf-16", str(tmp_path))
    session = Session(Client(), files, workspace, (rules,))
    session.has_settings.set()
    for stage in (session.text, session.dry):
        stage.lanes.patience, stage.lanes.limit = 0.2, 0.5
    try:
        unit = files.open(types.TextDocumentItem((tmp_path / "one.py").as_uri(), "python", 1, HANGS))
        session.opened(unit)
        await asyncio.gather(session.text.result(unit), session.dry.result(unit))
        assert Client.shown == {unit.uri: [LATE]}
    finally:
        session.stop()
        await asyncio.sleep(0.2)  # the loop hears that the processes have ended


async def test_half_a_character_in_an_address_is_survived(tmp_path):
    async with editor(tmp_path, settings=QUIET) as at:
        half = at.open(at.uri("half") + "\ud800.py", LOSS)
        assert await at.codes(half) == [("TL101", 6)] == await at.codes(at.open("a.py", LOSS))


async def test_addresses_that_cannot_be_read_hide_no_others(tmp_path):
    able = capabilities(workspace={"configuration": False})
    async with editor(tmp_path, able, broken="file://[", dryRun=False) as at:
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri) == [("TL101", 6)]
        (tmp_path / "torchlint.toml").write_text('ignore = ["TL101"]\n')
        changes = [types.FileEvent(one, types.FileChangeType.Created) for one in ("file://[", at.uri("torchlint.toml"))]
        at.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))
        await at.until(lambda: not at.shown(uri))
        added = types.WorkspaceFoldersChangeEvent(added=[types.WorkspaceFolder("file://[", "broken")], removed=[])
        at.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(added))
        (tmp_path / "torchlint.toml").unlink()
        at.configure({"changed": 1})
        await at.until(lambda: at.shown(uri))


async def test_a_session_begins_once(tmp_path):
    async with editor(tmp_path, settings=QUIET) as at:
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri) == [("TL101", 6)]
        (answer,) = await raw(at, {"method": "initialize", "params": {"processId": None, "capabilities": {}}})
        assert "already" in answer["error"]["message"]
        at.type(uri, "\n", (0, 0))
        assert await at.codes(uri) == [("TL101", 7)]


async def test_a_document_larger_than_any_file_may_be_says_so(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS + "x = 1\n" * 400_000)
        (said,) = await at.diagnostics(uri)
        assert (said.code, said.message) == ("TL001", "cannot read: the file is larger than 2 MB")
        assert await at.codes(at.open("b.py", "import a\n" + LOSS)) == [("TL101", 7)]
        at.replace_all(uri, LOSS)
        assert await at.codes(uri) == [("TL101", 6)]
