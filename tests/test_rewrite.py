"""Edits that keep what stands around them: comments, commas, line endings, columns, and the meaning."""

from __future__ import annotations

import ast

import libcst
import pytest
from asking import asked, module_of

from torchlint.edits import apply, between
from torchlint.finding import Fix
from torchlint.source.asking import rewrite
from torchlint.source.asking.views import Node, Place
from torchlint.source.flow.values import Value
from torchlint.source.text.index import statement_of


def edited(text: str, make) -> str | None:
    """The text after the edits that `make(module, node in ask(…))` gives, None if it declines."""
    value = asked(module_of(text))
    edits = make(value.module, value.node)
    if not edits:
        return None
    fixed = apply(text, edits)
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
        ("# why\nask(y)  # what\n", "# why\nnew()\nask(y)  # what\n"),
        ("ask(y)\r\n", "new()\r\nask(y)\r\n"),
        ("@ask(y)\ndef f(): ...\n", "new()\n@ask(y)\ndef f(): ...\n"),
        ("if a:\n    @b\n    @ask(y)\n    def f(): ...\n", "if a:\n    new()\n    @b\n    @ask(y)\n    def f(): ...\n"),
        ("if a:\n    b\nelse:\n    ask(y)\n", "if a:\n    b\nelse:\n    new()\n    ask(y)\n"),
        ("class A:\n    x = ask(y)\n", "class A:\n    new()\n    x = ask(y)\n"),
        ("match a:\n    case 1:\n        ask(y)\n", "match a:\n    case 1:\n        new()\n        ask(y)\n"),
        ("try: b\nexcept E: ask(y)\nfinally: c\n", "try: b\nexcept E: new(); ask(y)\nfinally: c\n"),
        ("if a: ask(y)  # why\n", "if a: new(); ask(y)  # why\n"),
        ("x = 1; ask(y)\n", "x = 1; new(); ask(y)\n"),
        ("x = 1;ask(y);  # why\n", "x = 1;new(); ask(y);  # why\n"),
        ("if a:\n    b\nelif ask(y):\n    c\n", None),
    ],
)
def test_a_statement_before(before, after):
    assert edited(before, lambda module, node: rewrite.insert_before(module, node, "new()")) == after


@pytest.mark.parametrize(
    "before, after",
    [
        ("ask(y)\nx = 1\n", "ask(y)\nnew()\nx = 1\n"),
        ("ask(y)", "ask(y)\nnew()"),
        ("if a:\n    ask(y)  # why\n", "if a:\n    ask(y)  # why\n    new()\n"),
        ("ask(y); x = 1\n", "ask(y); new(); x = 1\n"),
        ("if a: ask(y)", "if a: ask(y); new()"),
        ("ask(\r\n    y\r\n)\r\n", "ask(\r\n    y\r\n)\r\nnew()\r\n"),
        (
            "for a in ask(y):\n    b\n    # its end\n# next\nc\n",
            "for a in ask(y):\n    b\n    # its end\nnew()\n# next\nc\n",
        ),
    ],
)
def test_a_statement_after(before, after):
    assert edited(before, lambda module, node: rewrite.insert_after(module, node, "new()")) == after


@pytest.mark.parametrize(
    "before, after",
    [
        ("x = 1\nask(y)\n", "x = 1\nwith c:\n    ask(y)\n"),
        ("if a:\n\task(\n\t\ty)\n", "if a:\n\twith c:\n\t\task(\n\t\t\ty)\n"),
        ("def f():\n  # why\n  ask(y)  # what\n", "def f():\n  # why\n  with c:\n    ask(y)  # what\n"),
        ("ask('''\n''')\n", "with c:\n    ask('''\n''')\n"),
        (
            "for x in ask(y):\n    a\n\n    # b\n    c\n",
            "with c:\n    for x in ask(y):\n        a\n\n        # b\n        c\n",
        ),
        ("if a: ask(y)\n", "if a:\n    with c:\n        ask(y)\n"),
        ("x = 1; ask(y); z  # why\n", "x = 1\nwith c:\n    ask(y)\nz  # why\n"),
        ("ask(y)", "with c:\n    ask(y)"),
    ],
)
def test_a_block_under_a_header(before, after):
    def wrap(module, node):
        return rewrite.wrap(module, statement_of(node), statement_of(node), "with c:")

    assert edited(before, wrap) == after


@pytest.mark.parametrize(
    "before, after",
    [
        ("x\nask(y)\nz\n", "x\nz\n"),
        ("x\n# why\nask(\n    y\n)", "x\n# why\n"),
        ("if a:\n    ask(y)\n", None),
        ("if a: ask(y)\n", None),
        ("if a: ask(y); b\n", "if a: b\n"),
        ("ask(y);b\n", "b\n"),
        ("x\nask(y)  # its comment would be lost\n", None),
    ],
)
def test_a_statement_less(before, after):
    assert edited(before, lambda module, node: rewrite.delete(module, statement_of(node))) == after


@pytest.mark.parametrize(
    "before, after",
    [
        ("here()\nx\nask(y)  # why\nz\n", "ask(y)  # why\nhere()\nx\nz\n"),
        ("if a:\n\there(\n\t)\n\task(\n\t\ty)", "if a:\n\task(\n\t\ty)\n\there(\n\t)\n"),
        ("here(); ask(y)\n", "ask(y); here()\n"),
        ("if a: x; here(); b; ask(y)  # of the line\n", "if a: x; ask(y); here(); b  # of the line\n"),
        ("here()\r\nask(y); z\r\n", "ask(y)\r\nhere()\r\nz\r\n"),
        ("here(); b\nask(y)  # has no place there\n", None),
        ("here()\nif a:\n    ask(y)\n    b\n", None),
        ("here()\nfor x in ask(y): b\n", None),
    ],
)
def test_a_statement_elsewhere(before, after):
    def move(module, node):
        here = module.index.callers("here")[0]
        return rewrite.move(module, statement_of(node), before=here)

    assert edited(before, move) == after


def test_a_statement_behind_another():
    def move(module, node):
        return rewrite.move(module, statement_of(node), after=module.index.callers("here")[0])

    assert edited("ask(y)  # why\nx\nhere()  # there\n", move) == "x\nhere()  # there\nask(y)  # why\n"
    assert edited("ask(y); x; here()\n", move) == "x; here(); ask(y)\n"


def fix(text: str, *edits, imports=()) -> Fix | None:
    place = Place(asked(module_of(text)))
    return place.fix("", *(make(place) for make in edits), imports=imports)


@pytest.mark.parametrize(
    "before, after",
    [
        ("ask(y)\n", "import torch\nask(y)\n"),
        ("# -*- coding: utf-8 -*-\nask(y)\n", "# -*- coding: utf-8 -*-\nimport torch\nask(y)\n"),
        ("'''Doc.'''\nask(y)\n", "'''Doc.'''\nimport torch\nask(y)\n"),
        ("from __future__ import annotations\nask(y)\n", "from __future__ import annotations\nimport torch\nask(y)\n"),
        ("import os\n\nimport re  # why\n\nask(y)\n", "import os\n\nimport re  # why\nimport torch\n\nask(y)\n"),
        ("import os; import re\nask(y)\n", "import os; import re\nimport torch\nask(y)\n"),
        ("import torch as t\nask(y)\n", "import torch as t\nimport torch\nask(y)\n"),
        ("import torch\nask(y)\n", "import torch\nask(y)\n"),
        ("import torch.utils.data\nask(y)\n", "import torch.utils.data\nask(y)\n"),
        ("def f():\n    import torch\n    ask(y)\n", "def f():\n    import torch\n    ask(y)\n"),
        ("def f(torch):\n    ask(y)\n", None),
        ("torch = None\nask(y)\n", None),
    ],
)
def test_an_import(before, after):
    made = fix(before, lambda place: place.replace(place.node, "y"), imports=("import torch",))
    assert (made and apply(before, made.edits)) == after


@pytest.mark.parametrize(
    "statement, before, is_there",
    [
        ("from torch import nn", "from torch import Tensor, nn, optim", True),
        ("from torch import nn", "from torch import Tensor, optim", False),
        ("from torch import nn", "import torch.nn as nn", True),
        ("import torch.nn.functional as F", "from torch.nn import functional as F", True),
        ("import copy", "import copy, os", True),
    ],
)
def test_what_is_imported_in_other_words_is_not_imported_again(statement, before, is_there):
    text = f"{before}\nask(y)\n"
    made = fix(text, lambda place: place.replace(place.node, "y"), imports=(statement,))
    assert apply(text, made.edits) == (text if is_there else f"{before}\n{statement}\nask(y)\n")


# Nodes of libcst


@pytest.mark.parametrize(
    "program",
    [
        "ask({})",
        "ask(({}))",
        "print(f(ask({})), {}, x={})",
        "if a:\n    b\nelif ask({}):\n    c\nelse:\n    ask({})",
        "@f({})\ndef g(a=ask({}), *b, c: d = 1) -> e: ask({})",
        "class A(B, metaclass=ask({})):\n\tx = {}",
        "try: a\nexcept ask({}) as e: b\nelse: c\nfinally: d",
        "match ask({}):\n    case [1, *_] if b: c",
        "with ask({}) as a, b: pass",
        "x = [ask({}) for a in b if c]; {}",
        "lambda a=1: ask({})",
        "x = ask({}) if a else {}",
        "async def f():\n    async for a in ask({}): await b",
        "for i in j:\n    while k:\n        x[ask({}):] += 1\n    else:\n        {}",
    ],
)
def test_a_place_knows_its_node(program):
    """Putting something around the node, and nothing else, is what happens to the text."""

    def around(module, node):
        inside = Node(Value(module, node)).cst
        return Place(Value(module, node)).rewrite(libcst.Call(libcst.Name("g"), [libcst.Arg(inside)]))

    simple = ["y", "'a' 'b'", "-1", "None", "(a, b)", "x[1, 2]", "a.b.c", "lambda: 0", "{**a, b: c}"]
    for expression in (*simple, "f(\n  y,  # why\n  z=1)"):
        text = program.replace("{}", expression) + "\n"
        fixed = edited(text, around)
        wanted = ast.parse(text)
        call = next(n for n in ast.walk(wanted) if isinstance(n, ast.Call) and ast.unparse(n.func) == "ask")
        call.args = [ast.Call(ast.Name("g"), call.args, [])]
        assert ast.unparse(ast.parse(fixed)) == ast.unparse(wanted), expression
        assert "# why" not in text or fixed.count("# why") == text.count("# why"), expression


@pytest.mark.parametrize(
    "before, after",
    [
        ("ask(a * 2)", "ask((b + c) * 2)"),
        ("ask((a) * 2)", "ask((b + c) * 2)"),
        ("ask(a.shape)", "ask((b + c).shape)"),
        ("ask(a[0])", "ask((b + c)[0])"),
        ("ask(f(a))", "ask(f(b + c))"),
        ("ask(x[a])", "ask(x[b + c])"),
        ("ask(-a)", "ask(-(b + c))"),
    ],
)
def test_a_node_gets_the_parentheses_it_needs(before, after):
    def put(module, node):
        return Place(Value(module, module.index.names("a")[0])).rewrite(libcst.parse_expression("b + c"))

    assert edited(before, put) == after


@pytest.mark.parametrize(
    "before, new, after",
    [
        ("# a\nx = ask(y)  # b\n", lambda old: old.with_changes(value=libcst.Name("z")), "# a\nx = z  # b\n"),
        (
            "if a:\n\tx = ask(y)  # b\n",
            lambda old: libcst.FlattenSentinel([libcst.parse_statement("new()"), old]),
            "if a:\n\tnew()\n\tx = ask(y)  # b\n",
        ),
        ("x = ask(y)  # b\n", lambda old: libcst.parse_statement("if a: b"), "# b\nif a: b\n"),
        ("x\ny = ask(y)\n", lambda old: libcst.RemoveFromParent(), "x\n"),
        ("x\ny = ask(y)  # b\n", lambda old: libcst.RemoveFromParent(), None),
        ("a; b = ask(y); c\n", lambda old: old.with_changes(value=libcst.Name("z")), "a; b = z; c\n"),
        (
            "@a  # b\ndef f():\n    return ask(y)\n",
            lambda old: old.with_changes(value=libcst.Name("z")),
            "@a  # b\ndef f():\n    return z\n",
        ),
    ],
)
def test_a_statement_as_a_node(before, new, after):
    def put(module, node):
        place = Node(Value(module, statement_of(node)))
        return place.rewrite(new(place.cst))

    assert edited(before, put) == after


def test_what_is_too_deep_for_libcst_gets_no_fix_and_what_stands_beside_it_does():
    deep = "a" + ".b()" * 300
    assert edited(f"ask({deep})\n", lambda module, node: rewrite.insert_before(module, node, "new()")) is None
    assert asked_cst(f"ask({deep})\n") is None
    text = f"x = {deep}\nask(y)\n"
    assert edited(text, lambda module, node: rewrite.insert_before(module, node, "new()")) == text.replace(
        "ask", "new()\nask"
    )


def test_a_long_chain_of_conditions_does_not_end_the_process():
    assert asked_cst(f"ask(y) if {' and '.join(['a'] * 20_000)} else z\n") is None


def asked_cst(text: str):
    return Place(asked(module_of(text))).cst


def test_a_place_of_another_file_is_not_changed():
    here, there = module_of("ask(y)\n"), asked(module_of("ask(z)\n"))
    assert Place(Value(here, there.node)).rewrite(libcst.Name("w")) is None


def test_edits_touch_only_what_changes():
    def edits(before, after, column=1):
        return [
            (e.span.line, e.span.column, e.span.end_line, e.span.end_column, e.text)
            for e in between(before, after, 5, column)
        ]

    assert edits("a\nb\n", "a\nc\nb\n") == [(6, 1, 6, 1, "c\n")]
    assert edits("a\nb\nc\n", "a\nc\n") == [(6, 1, 7, 1, "")]
    assert edits("a\n\n  b\n", "x\n    a\n\n      b\n") == [(5, 1, 5, 1, "x\n    "), (7, 1, 7, 1, "    ")]
    assert edits("f(x)", "f(x, y)", 9) == [(5, 12, 5, 12, ", y")]
    assert edits("a\nb", "a") == [(5, 2, 6, 2, "")]
    assert edits("a", "a") == []
