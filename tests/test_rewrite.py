"""Edits that keep what stands around them: comments, commas, line endings, columns, and the meaning."""

from __future__ import annotations

import ast

import pytest
from asking import asked, module_of

from torchlint.edits import apply
from torchlint.source.asking import rewrite
from torchlint.source.text.index import statement_of


def edited(text: str, make) -> str | None:
    """The text after the edits that `make(module, node in ask(…))` gives, None if it declines."""
    value = asked(module_of(text))
    edits = make(value.module, value.node)
    if not edits:
        return None
    fixed = apply(text, edits if isinstance(edits, tuple) else (edits,))
    ast.parse(fixed)
    return fixed


def keyword(module, call):
    return rewrite.with_keyword(module, call, "dim", "1")


@pytest.mark.parametrize(
    "before, after",
    [
        ("f(x)", "f(x, dim=1)"),
        ("f()", "f(dim=1)"),
        ("f(x,)", "f(x, dim=1,)"),
        ("f(x, dim=0)", "f(x, dim=1)"),
        ("f(x, dim = 0)", "f(x, dim = 1)"),
        ("f(g(x), y)", "f(g(x), y, dim=1)"),
        ("f(x for x in y)", None),
        ("f(*x)", None),
        ("f(x, **k)", None),
        ("f(\n    x,\n    y,\n)", "f(\n    x,\n    y,\n    dim=1,\n)"),
        ("f(\n    x,  # why\n    y,\n)", "f(\n    x,  # why\n    y,\n    dim=1,\n)"),
        ("f(x)(y)", "f(x)(y, dim=1)"),
        ("(f)(x)", "(f)(x, dim=1)"),
        ("f('''\n''')", "f('''\n''', dim=1)"),
    ],
)
@pytest.mark.parametrize(
    "frame",
    ["ask({})", "s = '\u00e9\U0001f600'; ask({})", "if a: ask({})", "if a:\n\task({})\n", "ask({})  # \u00e9\r\n"],
)
def test_a_keyword(before, after, frame):
    ending = "\r\n" if "\r\n" in frame else "\n"
    before, after = before.replace("\n", ending), after and after.replace("\n", ending)
    assert edited(frame.format(before), keyword) == (after and frame.format(after))


@pytest.mark.parametrize(
    "before, after",
    [
        ("x = 1\nask(y)\n", "x = 1\nnew()\nask(y)\n"),
        ("if a:\n\task(y)\n", "if a:\n\tnew()\n\task(y)\n"),
        ("if a: ask(y)\n", None),
        ("x = 1; ask(y)\n", None),
        ("ask(y)\r\n", "new()\r\nask(y)\r\n"),
        ("@ask(y)\ndef f(): ...\n", "new()\n@ask(y)\ndef f(): ...\n"),
        ("if a:\n    b\nelse:\n    ask(y)\n", "if a:\n    b\nelse:\n    new()\n    ask(y)\n"),
        ("class A:\n    x = ask(y)\n", "class A:\n    new()\n    x = ask(y)\n"),
        ("if a:\n    b\nelif ask(y):\n    c\n", None),
    ],
)
def test_a_line_before(before, after):
    assert edited(before, lambda module, node: rewrite.insert_before(module, node, "new()")) == after


@pytest.mark.parametrize(
    "before, after",
    [
        ("ask(y)\nx = 1\n", "ask(y)\nnew()\nx = 1\n"),
        ("ask(y)", "ask(y)\nnew()"),
        ("if a:\n    ask(y)  # why\n", "if a:\n    ask(y)  # why\n    new()\n"),
        ("ask(y); x = 1\n", None),
        ("if a: ask(y)\n", None),
        ("ask(\r\n    y\r\n)\r\n", "ask(\r\n    y\r\n)\r\nnew()\r\n"),
    ],
)
def test_a_line_after(before, after):
    assert edited(before, lambda module, node: rewrite.insert_after(module, node, "new()")) == after


@pytest.mark.parametrize(
    "before, after",
    [
        ("x = 1\nask(y)\n", "x = 1\nwith c:\n    ask(y)\n"),
        ("if a:\n\task(\n\t\ty)\n", "if a:\n\twith c:\n\t\task(\n\t\t\ty)\n"),
        ("ask('''\n''')\n", None),
        ("if a: ask(y)\n", None),
    ],
)
def test_a_block_under_a_header(before, after):
    def wrap(module, node):
        return rewrite.wrap(module, statement_of(node), statement_of(node), "with c:")

    assert edited(before, wrap) == after


@pytest.mark.parametrize(
    "before, after",
    [
        ("ask(y)\n", "import torch\nask(y)\n"),
        ("'''Doc.'''\nask(y)\n", "'''Doc.'''\nimport torch\nask(y)\n"),
        ("from __future__ import annotations\nask(y)\n", "from __future__ import annotations\nimport torch\nask(y)\n"),
        ("import os\n\nimport re\n\nask(y)\n", "import os\n\nimport re\nimport torch\n\nask(y)\n"),
        ("import torch\nask(y)\n", None),
        ("import torch as t\nask(y)\n", "import torch as t\nimport torch\nask(y)\n"),
    ],
)
def test_an_import(before, after):
    assert edited(before, lambda module, node: rewrite.add_import(module, "import torch")) == after
