"""The language server and the dry run: shapes in the text, findings a moment later."""

import asyncio

import pytest
from lsp_client import PULLS, capabilities, editor, same_editor, shapes, shared_servers_end  # noqa: F401
from lsprotocol import types

pytestmark = pytest.mark.asyncio

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        x = self.conv(x)
        flat = x.flatten(2)
        y = torch.relu(flat).mean(-1)
        return self.fc(y)
"""


async def test_shapes_are_shown_and_stay(tmp_path):
    pytest.importorskip("torch")
    async with same_editor(tmp_path, {}) as at:
        uri = at.open("net.py", NET)
        found = await shapes(at, uri)
        sides = found[0][2].removeprefix(": ~(B, 16, ").removesuffix(")").split(", ")
        product = int(sides[0]) * int(sides[1])
        assert found == [
            (11, 9, f": ~(B, 16, {sides[0]}, {sides[1]})"),
            (12, 12, f": ~(B, 16, {product})"),
            (13, 9, ": ~(B, 16)"),
        ]
        await at.until(
            lambda: {types.WORKSPACE_INLAY_HINT_REFRESH, types.WORKSPACE_CODE_LENS_REFRESH} <= set(at.refreshed)
        )
        assert await at.inlays(uri, 13, 13) == found[2:]
        assert await at.hover(uri, 14, 23) == "```text\n(B, 16) float32 cpu\n```"  # y in self.fc(y)
        assert await at.hover(uri, 14, 16) == "```text\n(B, 10) float32 cpu\n```"  # the call
        assert await at.hover(uri, 12, 9) == f"```text\nflat: (B, 16, {product}) float32 cpu\n```"
        ((line, lens),) = await at.lenses(uri)
        assert (line, lens.split(" → ")[1]) == (10, "(B, 10) · 618 parameters · sizes are guessed")
        at.type(uri, "        z = foo(\n", (13, 0))
        assert [code for code, _ in await at.codes(uri)] == ["TL001"]
        await asyncio.sleep(0.8)
        assert await at.inlays(uri) == [*found[:2], (14, *found[2][1:])]
        at.type(uri, "# nothing is left\n", (0, 0), (20, 0))
        await at.until_async(lambda: at.inlays(uri), [])


async def test_sizes_that_a_script_gives_are_not_marked_as_guesses(tmp_path):
    pytest.importorskip("torch")
    async with same_editor(tmp_path, {}) as at:
        found = await shapes(at, at.open("net.py", NET + "\n\nNet()(torch.zeros(4, 3, 8, 8))\n"))
        assert [text for _, _, text in found] == [": (B, 16, 4, 4)", ": (B, 16, 16)", ": (B, 16)"]


async def test_the_dry_run_finds_more_a_moment_later_and_says_that_it_takes_long(tmp_path):
    """The first one takes long: it imports torch."""
    pytest.importorskip("torch")
    async with editor(tmp_path, capabilities(**PULLS, window={"workDoneProgress": True})) as at:
        uri = at.open("net.py", NET.replace("Linear(16, 10)", "Linear(15, 10)"))

        async def pulled() -> list[tuple[str, int]]:
            return [(d.code, d.range.start.line) for d in await at.pull(uri)]

        assert await pulled() == []
        await at.until_async(pulled, [("TL901", 14)])
        await at.until(lambda: any(len(said) == 2 for said in at.progress.values()))
        (begin, end), *_ = at.progress.values()
        assert (begin["kind"], begin["title"], begin["message"]) == ("begin", "torchlint", "dry run of net.py")
        assert end["kind"] == "end"
        at.type(uri, "\n", (0, 0))
        assert await pulled() == [("TL901", 15)]  # long before it is found again
        at.refreshed.clear()
        at.type(uri, "6", (9, 29), (9, 30))
        await at.until_async(pulled, [])
        await at.until(lambda: types.WORKSPACE_DIAGNOSTIC_REFRESH in at.refreshed)


async def test_a_client_that_cannot_be_told_of_new_shapes_gets_them_with_its_answer(tmp_path):
    pytest.importorskip("torch")
    async with editor(tmp_path, capabilities(workspace={"inlayHint": {}, "codeLens": {}})) as at:
        uri = at.open("net.py", NET)
        await shapes(at, uri)
        for attempt in range(20):  # on a busy machine the server may lose patience, but not each time
            features = 30 + attempt
            at.type(uri, f"{features}", (8, 32), (8, 34))
            if f", {features})" in (await at.lenses(uri))[0][1]:
                assert (await at.inlays(uri))[-1] == (13, 9, ": ~(B, 16)")
                return
        raise AssertionError("new shapes never came with the answer to the first question")


async def test_a_panel_gets_the_page_of_the_text_as_it_is(tmp_path):
    pytest.importorskip("torch")
    async with same_editor(tmp_path, {}) as at:
        uri = at.open("net.py", NET)
        assert "Linear(16, 10)" in (await at.page(uri))["page"]
        at.type(uri, "12", (8, 32), (8, 34))
        assert "Linear(16, 12)" in (await at.page(uri))["page"]
        at.type(uri, "(", (8, 32))
        answer = await at.page(uri)
        assert answer["page"] == "" and answer["reason"]


async def test_a_file_without_a_page_says_why(tmp_path):
    pytest.importorskip("torch")
    async with same_editor(tmp_path, {}) as at:
        plain = at.open("plain.py", "print(1)\n")
        assert "does not mention torch" in (await at.page(plain))["reason"]
        assert "no Python file" in (await at.page("file:///nowhere.py"))["reason"]
        empty = at.open("empty.py", "import torch\n")
        assert "no class with a forward" in (await at.page(empty))["reason"]
