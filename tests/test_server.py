"""The language server as an editor sees it: what is published, offered and shown, and that nothing ends it."""

import pytest
from lsp_client import LOSS, PULLS, QUIET, applied, same_editor, shared_servers_end, span  # noqa: F401
from lsprotocol import types

pytestmark = pytest.mark.asyncio
SIMPLE_ENCODING = "utf-32"
SIMPLE = {  # what a simple client is able to do: the tests of its parts share a server
    "general": {"positionEncodings": [SIMPLE_ENCODING]},
    "textDocument": {"diagnostic": {}},
    "workspace": {"workspaceEdit": {}},
}
UNUSED = "import torch\n\nx = torch.ones(2)  # noqa: TL105\n"


# Diagnostics


async def test_a_diagnostic_says_what_where_and_why(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS)
        (found,) = await at.diagnostics(uri)
        assert (found.code, found.source, found.severity) == ("TL101", "torchlint", types.DiagnosticSeverity.Warning)
        assert found.range == span((6, 11), (6, 32))
        assert "probabilities" in found.message
        assert found.code_description.href.endswith("/rules/TL101/")
        (related,) = found.related_information
        assert (related.location.uri, related.location.range) == (uri, span((5, 8), (5, 27)))


async def test_diagnostics_follow_the_typing(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri) == [("TL101", 6)]
        at.type(uri, "\n\n", (0, 0))
        assert await at.codes(uri) == [("TL101", 8)]
        at.type(uri, "x", (7, 8), (7, 27))
        assert await at.codes(uri) == []
        at.replace_all(uri, LOSS)
        assert await at.codes(uri) == [("TL101", 6)]


async def test_only_the_last_of_many_changes_counts(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS)
        for _ in range(50):
            at.type(uri, "# \n", (0, 0))
        assert await at.codes(uri) == [("TL101", 56)]


async def test_files_without_torch_are_not_looked_at(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        assert await at.codes(at.open("a.py", "def broken(:\n")) == []


async def test_other_languages_are_ignored(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        other = at.open("a.md", LOSS, language="markdown")
        assert await at.codes(at.open("a.py", LOSS))
        assert other not in at.published


async def test_what_is_unused_is_faded(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        (found,) = await at.diagnostics(at.open("a.py", UNUSED))
        assert (found.code, list(found.tags)) == ("TL002", [types.DiagnosticTag.Unnecessary])


async def test_a_client_that_pulls_is_not_pushed_to(tmp_path):
    async with same_editor(tmp_path, QUIET, **PULLS) as at:
        assert at.capabilities.diagnostic_provider.inter_file_dependencies
        uri = at.open("a.py", LOSS)
        assert [d.code for d in await at.pull(uri)] == ["TL101"]
        at.type(uri, "\n", (0, 0))
        assert [d.range.start.line for d in await at.pull(uri)] == [7]
        assert at.published == {}
        assert await at.pull(at.uri("never_opened.py")) == []


async def test_a_client_that_cannot_be_told_to_pull_again_is_pushed_to(tmp_path):
    async with same_editor(tmp_path, QUIET, **SIMPLE) as at:
        assert at.capabilities.diagnostic_provider is None
        assert await at.codes(at.open("a.py", LOSS)) == [("TL101", 6)]


@pytest.mark.parametrize("encoding, width", [("utf-8", 2 + 4), ("utf-16", 1 + 2), (SIMPLE_ENCODING, 1 + 1)])
async def test_columns_are_counted_as_the_client_does(tmp_path, encoding, width):
    able = SIMPLE if encoding == SIMPLE_ENCODING else {"general": {"positionEncodings": [encoding]}}
    text = LOSS.replace("    return F", '    é = "𝄞"; return F')
    async with same_editor(tmp_path, QUIET, **able) as at:
        assert at.capabilities.position_encoding == encoding
        uri = at.open("a.py", text)
        (found,) = await at.diagnostics(uri)
        start = 4 + width + len(' = ""; return ')
        assert found.range == span((6, start), (6, start + 21))
        at.type(uri, "logits", (6, start + 16), (6, start + 17))  # exactly the `p`
        at.type(uri, "    logits = F.softmax(x, 1)\n", (6, 0))
        (found,) = await at.diagnostics(uri)
        assert found.range == span((7, start), (7, start + 26))


async def test_only_newlines_end_lines(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", "# \u2028 \x0c \x85\r\n" + LOSS)
        assert await at.codes(uri) == [("TL101", 7)]
        at.type(uri, "x", (6, 8), (6, 27))
        assert await at.codes(uri) == []


# Actions


async def test_a_quick_fix_says_that_it_is_unsafe(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        text = "import torch\nfrom torch.nn import functional as F\nl = F.cross_entropy(F.softmax(x, 1), y)\n"
        uri = at.open("a.py", text)
        found = await at.diagnostics(uri)
        assert found[0].data["fix"]["applicability"] == "unsafe"
        fix, silence = await at.actions(uri, found)
        assert (fix.kind, bool(fix.is_preferred)) == ("quickfix.unsafe", False)
        assert fix.title.endswith("(TL101, unsafe)")
        (change,) = fix.edit.document_changes
        assert change.text_document.version == 1
        assert applied(text, change.edits) == text.replace("F.softmax(x, 1)", "x")
        assert silence.title == "Silence TL101 on this line (# noqa)"


async def test_a_safe_fix_is_preferred(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", UNUSED)
        (fix,) = await at.actions(uri, await at.diagnostics(uri))
        assert (fix.kind, fix.is_preferred) == ("quickfix", True)
        assert applied(UNUSED, fix.edit.document_changes[0].edits) == "import torch\n\nx = torch.ones(2)\n"


async def test_a_fix_is_for_the_text_as_it_is_now(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", UNUSED)
        old = await at.diagnostics(uri)
        at.type(uri, "y = 1; ", (2, 0))
        (fix,) = await at.actions(uri, old)
        assert applied(UNUSED.replace("x =", "y = 1; x ="), fix.edit.document_changes[0].edits).endswith("ones(2)\n")
        assert fix.edit.document_changes[0].text_document.version == 2


async def test_a_client_without_versions_gets_plain_changes(tmp_path):
    async with same_editor(tmp_path, QUIET, **SIMPLE) as at:
        uri = at.open("a.py", UNUSED)
        (fix,) = await at.actions(uri, await at.diagnostics(uri))
        assert fix.edit.document_changes is None
        assert list(fix.edit.changes) == [uri]


async def test_everything_safe_is_fixed_at_once(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        text = UNUSED + "y = 2  # noqa: TL201\nz = 3\n"
        uri = at.open("a.py", text)
        for only in ("source.fixAll.torchlint", "source.fixAll", "source"):
            (fix,) = await at.actions(uri, [], only=[only])
            assert fix.kind == "source.fixAll.torchlint"
            assert applied(text, fix.edit.document_changes[0].edits) == text.replace("  # noqa: TL105", "").replace(
                "  # noqa: TL201", ""
            )
        assert await at.actions(uri, [], only=["source.organizeImports"]) == []
        assert await at.actions(uri, []) == []


async def test_a_finding_can_be_silenced(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS)
        *_, silence = await at.actions(uri, await at.diagnostics(uri))
        text = applied(LOSS, silence.edit.document_changes[0].edits)
        assert text.endswith("return F.cross_entropy(p, y)  # noqa: TL101\n")
        at.replace_all(uri, text)
        assert await at.codes(uri) == []


# Hover


async def test_hover_explains_a_finding_and_a_code(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS + "a = 1  # noqa: TL105\n")
        await at.diagnostics(uri)
        manual = await at.hover(uri, 6, 15)
        assert manual.startswith("**[TL101 softmax_before_cross_entropy](")
        assert "```python\n" in manual and "```python bad" not in manual
        assert "TL105 log" in await at.hover(uri, 7, 17)
        assert await at.hover(uri, 0, 3) == ""
