"""The language server and notebooks: cells are documents of one module."""

import pytest
from lsp_client import PULLS, QUIET, Editor, applied, capabilities, editor, shapes, span
from lsprotocol import types

pytestmark = pytest.mark.asyncio


def notebook(at: Editor, name: str, *cells: str) -> tuple[str, list[str]]:
    """Opens a notebook; gives its address and those of its cells."""
    uri = at.uri(name)
    uris = [f"{uri.replace('file', 'vscode-notebook-cell')}#{number}" for number in range(len(cells))]
    at.versions.update(dict.fromkeys(uris, 1))
    at.client.notebook_document_did_open(
        types.DidOpenNotebookDocumentParams(
            types.NotebookDocument(
                uri, "jupyter-notebook", 1, [types.NotebookCell(types.NotebookCellKind.Code, one) for one in uris]
            ),
            [types.TextDocumentItem(one, "python", 1, text) for one, text in zip(uris, cells)],
        )
    )
    return uri, uris


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
    async with editor(tmp_path, settings=QUIET) as at:
        _, (first, second, third) = notebook(at, "n.ipynb", *CELLS)
        (found,) = await at.diagnostics(third)
        assert (found.code, found.range) == ("TL101", span((1, 0), (1, 21)))
        assert found.related_information[0].location.uri == second
        assert await at.diagnostics(first) == [] == await at.diagnostics(second)


async def test_cells_change_come_and_go(tmp_path):
    async with editor(tmp_path, settings=QUIET) as at:
        uri, (first, second, third) = notebook(at, "n.ipynb", *CELLS)
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


async def test_a_notebook_is_closed_and_forgotten(tmp_path):
    async with editor(tmp_path, capabilities(**PULLS), settings=QUIET) as at:
        uri, cells = notebook(at, "n.ipynb", *CELLS)
        await at.until(lambda: at.shown(cells[2]))  # pushed even to clients that pull: one cell is news for another
        assert await at.pull(cells[2]) == []
        gone = [types.TextDocumentIdentifier(cell) for cell in cells]
        at.client.notebook_document_did_close(
            types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(uri), gone)
        )
        await at.until(lambda: at.shown(cells[2]) == [])


async def test_fixes_of_a_notebook(tmp_path):
    async with editor(tmp_path, settings=QUIET) as at:
        _, (first, second) = notebook(at, "n.ipynb", "import torch", "!ls\nx = 1  # noqa: TL101")
        (quick,) = await at.actions(second, await at.diagnostics(second))
        (fix,) = await at.actions(first, [], only=["notebook.source.fixAll.torchlint"])
        for action in (quick, fix):
            (change,) = action.edit.document_changes
            assert change.text_document.uri == second
            assert applied("!ls\nx = 1  # noqa: TL101", change.edits) == "!ls\nx = 1"


async def test_shapes_in_a_notebook(tmp_path):
    pytest.importorskip("torch")
    async with editor(tmp_path, settings={"codeLens": False}) as at:
        _, (_, second) = notebook(at, "n.ipynb", "import torch\nx = torch.ones(4, 3)", "%time\ny = x @ x.T")
        assert await shapes(at, second) == [(1, 1, ": (4, 4)")]
        at.settings[""] = {"shapeHints": False}
        at.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await at.until_async(lambda: at.inlays(second), [])
        assert "(4, 4)" in await at.hover(second, 1, 7)
