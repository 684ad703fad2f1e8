"""The one pass over a file: scopes, what binds a name, which loop a jump leaves, what cannot be parsed."""

from __future__ import annotations

import ast

import pytest

from torchlint.source.text.index import Index, enclosing_class, enclosing_function, standing_in
from torchlint.source.text.parse import CannotParse, parse, reason
from torchlint.syntax import as_older, syntax_tree


def scope_of(text: str) -> str:
    """What opens the scope that binds the `x` of `use(x)`."""
    index = Index(text, "a.py")
    use = next(c.args[0] for c in index.calls if isinstance(c.func, ast.Name) and c.func.id == "use")
    scope = use.at.lookup("x")
    return "nothing" if scope is None else getattr(scope.node, "name", type(scope.node).__name__)


@pytest.mark.parametrize(
    "text, scope",
    [
        ("use(x)", "nothing"),
        ("x = 1\ndef f(): use(x)", "Module"),
        ("def f(x): use(x)", "f"),
        ("def f(): use(x); x = 1", "f"),
        ("x = 1\ndef f(a=use(x), x=2): ...", "Module"),
        ("x = 1\nclass A:\n    x = 2\n    def f(self): use(x)", "Module"),
        ("class A:\n    x = 2\n    use(x)", "A"),
        ("x = 1\n@use(x)\ndef f(x): ...", "Module"),
        ("[use(x) for x in y]", "ListComp"),
        ("[x := 1 for _ in y]\nuse(x)", "Module"),
        ("lambda x: use(x)", "Lambda"),
        ("def f():\n    global x\n    x = 1\nuse(x)", "Module"),
        ("def f():\n    x = 1\n    def g():\n        nonlocal x\n        use(x)", "f"),
        ("try: ...\nexcept E as x: use(x)", "Module"),
        ("import x.y\nuse(x)", "Module"),
        ("match y:\n    case [*x]: use(x)", "Module"),
    ],
)
def test_scopes(text, scope):
    assert scope_of(text) == scope


def test_jumps_belong_to_their_loop():
    index = Index(
        "for a in r:\n    for b in r:\n        break\n    else:\n        continue\n    while c:\n        if d:"
        " continue\n",
        "a.py",
    )
    jumps = {loop.lineno: [jump.lineno for jump in loop.jumps] for loop in index.nodes(ast.For, ast.While)}
    assert jumps == {1: [5], 2: [3], 6: [7]}


def test_what_a_node_stands_in():
    index = Index("class A:\n    if c:\n        def f(self, a=one()): return two()\n", "a.py")
    one, two = sorted(index.calls, key=lambda c: c.col_offset)
    assert enclosing_function(two).name == "f" and enclosing_function(one) is None
    assert enclosing_class(index.functions[0]).name == "A"


def test_what_stands_in_an_import_with_another_name_is_nothing():
    index = Index("import os.path as osp\nosp.join('a')\n", "a.py")
    assert list(index.inside(index.tree.body[0].names[0], ast.Call, ast.Name)) == []


@pytest.mark.parametrize(
    "text, line",
    [("x = 1\ndef f(:\n", 2), ("\x00", 1), ("(" * 100_000, 1), ("x = '\ud800'", 1)],
    ids=lambda v: repr(v)[:20],
)
def test_what_cannot_be_parsed_is_said_in_one_line(text, line):
    with pytest.raises(CannotParse) as caught:
        parse(text)
    assert caught.value.line == line and str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "line, needs",
    [
        ("def unwrap[T](x: T) -> T:", "3.12"),
        ("class Box[T]:", "3.12"),
        ("    async def f[*Ts](x):", "3.12"),
        ("type Pair[T] = tuple[T, T]", "3.12"),
        ("class Box[T = int]:", "3.13"),
        ("except* ValueError:", "3.11"),
        ("def f(:", ""),
        ("type(x) = 3", ""),
    ],
)
def test_newer_syntax_is_called_so(line, needs):
    said = reason(SyntaxError("invalid syntax", ("a.py", 1, 1, line)), (3, 10))
    assert said == (
        "invalid syntax" if not needs else f"invalid syntax (this is Python {needs} syntax, and torchlint runs on 3.10)"
    )
    assert reason(SyntaxError("invalid syntax", ("a.py", 1, 1, line)), (3, 13)) == "invalid syntax"


@pytest.mark.parametrize(
    "newer, older",
    [
        ("""f"{d["a"]} b {e["c"]:>{w["n"]}}\"""", """f"{d['a']} b {e['c']:>{w['n']}}\""""),
        ("""f'{", ".join(x)} {'-'.join(y)}'""", """f'{", ".join(x)} {"-".join(y)}'"""),
        ('f"{"\\n".join(x)}"', "f\"{'  '.join(x)}\""),  # no backslash may stand there
        ('f"{f"{d["k"]}"}"', 'f"{___________}"'),
        ('f"{x:%H:%M} {{no}} {y["a"]!r:.2f}"', "f\"{x:%H:%M} {{no}} {y['a']!r:.2f}\""),
        ('f"""{d["a"]} {e[\'b\']}"""', 'f"""{d[\'a\']} {e[\'b\']}"""'),
        ("print('}') or '{' # f\"{d[\"a\"]}\"", "print('}') or '{' # f\"{d[\"a\"]}\""),
    ],
)
def test_f_strings_of_newer_syntax_are_read(newer, older):
    assert as_older(newer) == older and len(newer) == len(older)
    assert ast.unparse(syntax_tree(f"y = 1\n{newer}\n").body[0]) == "y = 1"


def test_an_f_string_that_is_wrong_everywhere_is_refused():
    for wrong in ('f"{d["a"]', 'f"{d["a" b]}"', 'f"{}"', 'x = f"{d["a"]}" )'):
        with pytest.raises(SyntaxError):
            syntax_tree(wrong)


def test_quotes_in_an_f_string_may_be_newer_syntax():
    error = SyntaxError("f-string: expecting '}'", ("a.py", 1, 1, 'f"{x["a"]}"'))
    assert "3.12" in reason(error, (3, 11)) and "3.12" not in reason(error, (3, 12))


def test_a_function_goes_on_after_it_returns():
    index = Index("def f(x):\n    if x:\n        return first(x)\n    second(x)\n    third(x)\n\n\nfourth()\n", "a.py")
    function = index.by_kind[ast.FunctionDef][0]
    assert [ast.unparse(call) for call in standing_in(function, index.calls)] == ["first(x)", "second(x)", "third(x)"]


def test_what_a_function_is_said_to_return_stays_in_the_tree():
    text = "def f(x) -> Tensor:\n    return g(x)"
    index = Index(text, "a.py")
    assert ast.unparse(index.tree) == text
    assert [name.id for name in index.by_kind[ast.Name]] == ["g", "x", "Tensor"]


def test_what_holds_a_word_is_found_by_the_word():
    index = Index("a = b.grad\nfor c in d:\n    e = f(g, grad=1) + 2\nh = i\ngrad *= j / k", "a.py")

    def said(nodes):
        return sorted(map(ast.unparse, nodes))

    assert said(index.holding(["grad"], (ast.Assign, ast.For))) == ["a = b.grad", "e = f(g, grad=1) + 2"]
    assert said(index.holding(["grad"], (ast.BinOp, ast.Call))) == ["f(g, grad=1)", "f(g, grad=1) + 2"]
    assert said(index.nodes(ast.Div, ast.Add)) == ["f(g, grad=1) + 2", "j / k"]
