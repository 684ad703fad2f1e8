"""The language server and notebooks: cells are documents of one module."""

import pytest
from lsp_client import PULLS, QUIET, Editor, applied, same_editor, shapes, shared_servers_end, span  # noqa: F401
from lsprotocol import types

pytestmark = pytest.mark.asyncio


def change_notebook(at: Editor, uri: str, **cells) -> None:
    change = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(**cells))
    at.client.notebook_document_did_change(
        types.DidChangeNotebookDocumentParams(types.VersionedNotebookDocumentIdentifier(2, uri), change)
    )


def cell_text(at: Editor, cell: str, new: str, start: tuple[int, int], end: tuple[int, int]):
    at.versions[cell] += 1
    document = types.VersionedTextDocumentIdentifier(at.versions[cell], cell)
    return types.NotebookDocumentCellContentChanges(
        document, [types.TextDocumentContentChangePartial(span(start, end), new)]
    )


CELLS = (
    "%matplotlib inline\nimport torch\nfrom torch.nn import functional as F",
    "p = F.softmax(x, 1)",
    "!ls\nF.cross_entropy(p, y)",
)


async def test_findings_of_a_notebook_stand_in_their_cells(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        _, (first, second, third) = at.open_notebook("n.ipynb", *CELLS)
        (found,) = await at.diagnostics(third)
        assert (found.code, found.range) == ("TL101", span((1, 0), (1, 21)))
        assert found.related_information[0].location.uri == second
        assert await at.diagnostics(first) == [] == await at.diagnostics(second)


async def test_cells_change_come_and_go(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri, (first, second, third) = at.open_notebook("n.ipynb", *CELLS)
        assert await at.codes(third) == [("TL101", 1)]
        change_notebook(at, uri, text_content=[cell_text(at, second, "p = x", (0, 0), (0, 18))])
        await at.until(lambda: at.shown(third) == [])
        array = types.NotebookCellArrayChange(2, 0, [types.NotebookCell(types.NotebookCellKind.Code, "cell:new")])
        new = types.TextDocumentItem("cell:new", "python", 1, "p = F.softmax(p, 1)")
        change_notebook(at, uri, structure=types.NotebookDocumentCellChangeStructure(array, did_open=[new]))
        await at.until(lambda: [d.code for d in at.shown(third)] == ["TL101"])
        assert at.shown(third)[0].related_information[0].location.uri == "cell:new"
        array = types.NotebookCellArrayChange(3, 1)
        gone = [types.TextDocumentIdentifier(third)]
        change_notebook(at, uri, structure=types.NotebookDocumentCellChangeStructure(array, did_close=gone))
        await at.until(lambda: at.shown(third) == [])
        at.notebooks[uri] = [first, second, "cell:new"]


async def test_a_notebook_is_closed_and_forgotten(tmp_path):
    async with same_editor(tmp_path, QUIET, **PULLS) as at:
        uri, cells = at.open_notebook("n.ipynb", *CELLS)
        await at.until(lambda: at.shown(cells[2]))  # pushed even to clients that pull: one cell is news for another
        assert await at.pull(cells[2]) == []
        at.close_notebook(uri)
        await at.until(lambda: at.shown(cells[2]) == [])


async def test_fixes_of_a_notebook(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        _, (first, second) = at.open_notebook("n.ipynb", "import torch", "!ls\nx = 1  # noqa: TL105")
        (quick,) = await at.actions(second, await at.diagnostics(second))
        (fix,) = await at.actions(first, [], only=["notebook.source.fixAll.torchlint"])
        for action in (quick, fix):
            (change,) = action.edit.document_changes
            assert change.text_document.uri == second
            assert applied("!ls\nx = 1  # noqa: TL105", change.edits) == "!ls\nx = 1"


async def test_shapes_in_a_notebook(tmp_path):
    pytest.importorskip("torch")
    async with same_editor(tmp_path, {}) as at:
        at.configure({"codeLens": False})
        _, (_, second) = at.open_notebook("n.ipynb", "import torch\nx = torch.ones(4, 3)", "%time\ny = x @ x.T")
        assert await shapes(at, second) == [(1, 1, ": (4, 4)")]
        at.configure({"shapeHints": False})
        await at.until_async(lambda: at.inlays(second), [])
        assert "(4, 4)" in await at.hover(second, 1, 7)
