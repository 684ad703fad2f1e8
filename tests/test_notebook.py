"""Notebooks: what of their cells becomes Python, where findings land, and how little of the file an edit changes."""

import json
import random

import pytest

from torchlint.config import Selection, Settings
from torchlint.finding import Edit, Finding, Fix, Note, Span
from torchlint.linter import Job, lint
from torchlint.reading import SOURCE
from torchlint.source.text import notebook_json
from torchlint.source.text.notebook import Notebook, NotebookError


def document(*cells, dump=lambda d: json.dumps(d, indent=1, ensure_ascii=False) + "\n", metadata=None, **facts):
    """The text of a notebook. A cell is its text, a list of lines, or a whole cell."""
    whole = []
    for cell in cells:
        if isinstance(cell, str):
            cell = cell.splitlines(keepends=True)
        if isinstance(cell, list):
            cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell}
        whole.append(cell)
    return dump({"cells": whole, "metadata": metadata or {}, "nbformat": 4, "nbformat_minor": 5, **facts})


def finding(*span, fix=(), path="n.ipynb", notes=()):
    edits = tuple(Edit(Span(*place), text) for *place, text in fix)
    return Finding("TL101", "x", path, Span(*span), "m", fix=Fix("f", edits) if fix else None, notes=tuple(notes))


def fixed(text, *edits, at=(1, 1, 1, 2)):
    """The notebook after a fix given as edits of its module."""
    notebook = Notebook.parse(text)
    found = notebook.to_cell(finding(*at, fix=edits))
    assert found.fix is not None
    return notebook.apply(found.fix.edits)


def sources(text):
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]


# Cells and the module


def test_cells_are_joined_and_lines_found_again():
    notebook = Notebook.parse(document("import torch\nx = 1", "", "y = 2\n", "z = 3"))
    assert notebook.text == "import torch\nx = 1\ny = 2\nz = 3\n"
    places = [
        (notebook.to_cell(finding(line, 1, line, 2)).cell, notebook.to_cell(finding(line, 1, line, 2)).span.line)
        for line in (1, 2, 3, 4)
    ]
    assert places == [(1, 1), (1, 2), (3, 1), (4, 1)]


def test_markdown_and_raw_cells_are_not_code_and_count_as_they_do_in_ruff():
    markdown = {"cell_type": "markdown", "metadata": {}, "source": ["# import this\n"]}
    raw = {"cell_type": "raw", "metadata": {}, "source": "x ="}
    notebook = Notebook.parse(document(markdown, "a = 1", raw, "b = 2"))
    assert notebook.text == "a = 1\nb = 2\n"
    assert notebook.to_cell(finding(2, 1, 2, 2)).cell == 4
    edit = Edit(Span(1, 5, 1, 6), "3", 4)
    assert json.loads(notebook.apply([edit]))["cells"][3]["source"] in (["b = 3"], "b = 3")


def test_source_may_be_one_string():
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": "a = 1\nb = 2"}
    assert Notebook.parse(document(cell)).text == "a = 1\nb = 2\n"


@pytest.mark.parametrize(
    "source, module",
    [
        ("%matplotlib inline\nx = 1", "#\nx = 1\n"),
        ("!pip install torch  # it's\nx = 1", "#\nx = 1\n"),
        ("!pip install \\\n  torch 'oops\nx = 1", "#\n#\nx = 1\n"),
        ("for a in b:\n    !wget {a}\nx = 1", "for a in b:\n    pass\nx = 1\n"),
        ("files = !ls\nx = 1", "files = get_ipython()\nx = 1\n"),
        ("a, b = %sx ls", "a, b = get_ipython()\n"),
        ("torch.nn?\n?torch\ntorch.nn??", "#\n#\n#\n"),
        ("%%time\nx = 1", "#\nx = 1\n"),
        ("%%capture out\nx = 1", "##%\nx = 1\n"),
        ("%%bash\nx = $(ls", ""),
        ("%%writefile a.py\nimport torch", ""),
        ("%%html\n<b>", ""),
        ("%%!\nls", ""),
        ("%sql\nSELECT *", ""),
        ("\n\n%%bash\nls", ""),
        ("# CI\n%%shell\nrm -rf runs", ""),
        ("x = (1\n% 2)\n!ls", "x = (1\n% 2)\n#\n"),
        ("x = '''\n%d\n!s\n'''\n!ls", "x = '''\n%d\n!s\n'''\n#\n"),
        ("x = 7 \\\n  % 2\n!ls", "x = 7 \\\n  % 2\n#\n"),
        ('x = "a=%d" % 3\n!ls', 'x = "a=%d" % 3\n#\n'),
        ("x = 'why?'\n%time f()", "x = 'why?'\n#\n"),
        ("x = 1  # why?\n%time f()", "x = 1  # why?\n#\n"),
        ("plt.show();", "plt.show();\n"),
        ("await load()\nasync with a as b:\n    pass", "await load()\nasync with a as b:\n    pass\n"),
        ("  x = 1\n  y = 2", "x = 1\ny = 2\n"),
        ("x = '\ud800'", "x = '\ufffd'\n"),
    ],
)
def test_what_is_not_python_gets_out_of_the_way(source, module):
    notebook = Notebook([source])
    assert notebook.text == module
    assert not notebook.broken


@pytest.mark.parametrize("metadata", [{"vscode": {"languageId": "r"}}, {"polyglot_notebook": {"kernelName": "csharp"}}])
def test_cells_in_other_languages_are_skipped(metadata):
    cell = {"cell_type": "code", "metadata": metadata, "outputs": [], "source": "x <- 1"}
    notebook = Notebook.parse(document(cell, "y = 2"))
    assert (notebook.text, notebook.broken) == ("y = 2\n", [])


def test_a_notebook_in_another_language_has_no_python():
    notebook = Notebook.parse(document("x <- 1", metadata={"kernelspec": {"language": "R"}}))
    assert (notebook.text, notebook.broken) == ("", [])


def test_a_broken_cell_is_reported_and_the_others_are_read():
    notebook = Notebook.parse(document("x = 1", "print()\nfor in z", "w = 3"))
    assert notebook.text == "x = 1\nw = 3\n"
    (broken,) = notebook.broken
    assert (broken.cell, broken.line, broken.message) == (2, 2, "invalid syntax")


def test_what_a_broken_cell_imports_is_there():
    broken = "import torch\nfrom torch import nn\nfrom x import (\nloss = # YOUR CODE\n"
    text = document(broken, "print(torch.zeros(2), nn.Linear(2, 3)(torch.zeros(4, 5)))")
    found = lint(text, Job.of("n.ipynb", Settings())).findings
    assert [(f.code, f.cell) for f in found] == [("TL901", 2)]


def test_what_a_broken_cell_would_define_is_unknown():
    notebook = Notebook.parse(
        document("x = 1", "class A:\n    def f(self):\n        # YOUR CODE\nx = 2\nx == 3", "w = 3")
    )
    assert notebook.text == "x = 1\ndel A, x\nw = 3\n"
    assert [(cell.number, cell.first) for cell in notebook.cells] == [(1, 1), (2, 2), (3, 3)]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "the notebook is empty"),
        (" \n", "the notebook is empty"),
        ("{", "not valid JSON"),
        ('{"cells": [', "not valid JSON"),
        ('{"cells": [{"cell_type": "code", "source": ["a', "not valid JSON: unterminated string"),
        ('{"cells": [],}', "not valid JSON: expecting property name"),
        ('{"cells": []} x', "not valid JSON: extra data"),
        ("[1, 2]", "is not an object"),
        ("{}", "no list of cells"),
        ('{"cells": {}}', "no list of cells"),
        ('{"cells": [1]}', "one of its cells is not an object"),
        ('{"cells": [{"source": 1}]}', "neither text nor a list"),
        ('{"cells": [{"source": [1]}]}', "something else than text"),
        ('{"nbformat": 3, "worksheets": [{"cells": []}]}', "format 3 are too old"),
        ('{"metadata": ' + "[" * 100_000, "nested too deeply"),
        (document("print 'x'", metadata={"language_info": {"name": "python", "version": "2.7.14"}}), "in Python 2"),
    ],
)
def test_what_is_no_notebook_is_refused_in_one_line(text, message):
    with pytest.raises(NotebookError) as caught:
        Notebook.parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_kernel_of_python_3_says_more_than_an_editor_that_names_python_2():
    metadata = {"language_info": {"name": "python", "version": "2.7.6"}, "kernelspec": {"name": "python3"}}
    notebook = Notebook.parse(document("x = 1", "y = (", "z = 2", metadata=metadata))
    assert [broken.cell for broken in notebook.broken] == [2]


def test_the_place_of_broken_json_is_known():
    with pytest.raises(NotebookError) as caught:
        Notebook.parse('{\n "cells": [}\n')
    assert (caught.value.line, caught.value.column) == (2, 12)


def test_an_empty_list_of_cells_is_fine():
    assert Notebook.parse(document()).text == ""


# Findings


def test_notes_and_edits_go_to_their_own_cells():
    notebook = Notebook.parse(document("import torch", "x = 1\ny = 2"))
    found = notebook.to_cell(
        finding(
            3,
            1,
            3,
            2,
            fix=[(3, 1, 3, 2, "z"), (2, 1, 2, 2, "w")],
            notes=[Note("here", "n.ipynb", Span(1, 8, 1, 13)), Note("there", "m.py", Span(9, 1, 9, 2))],
        )
    )
    assert (found.cell, found.span) == (2, Span(2, 1, 2, 2))
    assert found.fix.edits == (Edit(Span(2, 1, 2, 2), "z", 2), Edit(Span(1, 1, 1, 2), "w", 2))
    assert found.notes == (Note("here", "n.ipynb", Span(1, 8, 1, 13), 1), Note("there", "m.py", Span(9, 1, 9, 2)))


def test_a_span_over_two_cells_ends_with_the_first():
    found = Notebook.parse(document("x = 1", "y = 2")).to_cell(finding(1, 1, 2, 3))
    assert (found.cell, found.span) == (1, Span(1, 1, 1, 6))


def test_the_margin_of_an_indented_cell_counts():
    text = document("  x = 1\n  y = 2")
    assert Notebook.parse(text).to_cell(finding(2, 1, 2, 2)).span == Span(2, 3, 2, 4)
    assert sources(fixed(text, (2, 1, 2, 2, "z"), (1, 1, 1, 1, "import a\n"))) == ["  import a\n  x = 1\n  z = 2"]


def test_a_fix_never_touches_a_magic_or_two_cells():
    notebook = Notebook.parse(document("x = 1\n%time f()\ny = 2", "z = 3"))
    assert notebook.to_cell(finding(1, 1, 1, 2, fix=[(1, 1, 3, 2, "q")])).fix is None
    assert notebook.to_cell(finding(3, 1, 3, 2, fix=[(3, 1, 4, 2, "q")])).fix is None


# Edits


def test_an_import_goes_to_the_end_of_the_cell_of_imports():
    text = document("import os\nimport torch", "x = 1")
    assert sources(fixed(text, (3, 1, 3, 1, "import math\n"), at=(3, 1, 3, 2))) == [
        "import os\nimport torch\nimport math",
        "x = 1",
    ]


def test_a_line_before_the_first_of_a_cell_stays_in_that_cell():
    assert sources(fixed(document("a = 1", "b = 2"), (2, 1, 2, 1, "c = 3\n"), at=(2, 1, 2, 2))) == [
        "a = 1",
        "c = 3\nb = 2",
    ]


def test_an_indented_line_after_the_last_of_a_cell_stays_in_that_cell():
    text = document("for a in b:\n    f()", "c = 2")
    assert sources(fixed(text, (3, 1, 3, 1, "    g()\n"), at=(2, 5, 2, 8))) == [
        "for a in b:\n    f()\n    g()",
        "c = 2",
    ]


def test_a_line_at_the_end_of_the_notebook():
    assert sources(fixed(document("a = 1"), (2, 1, 2, 1, "b = 2\n"))) == ["a = 1\nb = 2"]
    assert sources(fixed(document("a = 1\n"), (2, 1, 2, 1, "b = 2\n"))) == ["a = 1\nb = 2\n"]


def test_nothing_comes_before_a_cell_magic():
    assert sources(fixed(document("%%time\nx = 1"), (1, 1, 1, 1, "import a\n"))) == ["%%time\nimport a\nx = 1"]


@pytest.mark.parametrize("source", ["a = 1\nb = 2\nc = 3", ["a = 1\n", "b = 2\n", "c = 3"]])
@pytest.mark.parametrize("line, left", [(1, "b = 2\nc = 3"), (2, "a = 1\nc = 3"), (3, "a = 1\nb = 2\n")])
def test_a_whole_line_can_go(source, line, left):
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": source}
    text = fixed(document(cell, "d = 4"), (line, 1, line + 1, 1, ""))
    assert sources(text) == [left, "d = 4"]
    assert isinstance(source, str) or "" not in json.loads(text)["cells"][0]["source"]


def test_a_cell_can_become_empty():
    text = fixed(document("a = 1"), (1, 1, 2, 1, ""))
    assert json.loads(text)["cells"][0]["source"] == []


DUMPS = {
    "nbformat": lambda d: json.dumps(d, indent=1, ensure_ascii=False) + "\n",
    "no newline": lambda d: json.dumps(d, indent=1, ensure_ascii=False),
    "ascii": lambda d: json.dumps(d, indent=2),
    "tabs": lambda d: json.dumps(d, indent="\t", ensure_ascii=False),
    "one line": lambda d: json.dumps(d),
    "tight": lambda d: json.dumps(d, separators=(",", ":"), ensure_ascii=False),
    "crlf": lambda d: json.dumps(d, indent=1, ensure_ascii=False).replace("\n", "\r\n"),
    "byte order mark": lambda d: "\ufeff" + json.dumps(d, indent=1),
}


@pytest.mark.parametrize("style", DUMPS)
def test_only_the_edited_lines_of_the_file_change(style):
    lines = ["é = '𝄞\\n\\\\n'\n", 'b = é  # "quoted"\n', "c = '\t'"]
    text = document(lines, "d = 4", dump=DUMPS[style])
    new = fixed(text, (2, 1, 2, 2, "ü"))
    assert new.count("\n") == text.count("\n")
    body = text.lstrip("\ufeff")
    want = json.loads(body)
    want["cells"][0]["source"][1] = 'ü = é  # "quoted"\n'
    assert json.loads(new.lstrip("\ufeff")) == want
    assert new == DUMPS[style](want)


def test_a_new_line_becomes_a_new_item_in_the_style_of_the_list():
    text = document(["a = 1\n", "b = 2"])
    want = document(["a = 1\n", "x = 0\n", "y = 0\n", "b = 2"])
    assert fixed(text, (2, 1, 2, 1, "x = 0\ny = 0\n")) == want
    assert fixed(document(["a = 1"]), (1, 1, 1, 1, "x = 0\n")) == document(["x = 0\n", "a = 1"])


def test_unusual_escapes_outside_the_edit_stay():
    line = "a\\u0020= '\\/\\u00e9\\ud834\\udd1e' ; b = 2\\u000a"
    text = f'{{"cells":[{{"source":["{line}"],"cell_type":"code"}}],"nbformat":4}}'
    assert fixed(text, (1, 13, 1, 14, "c")) == text.replace("b = 2", "c = 2")


def test_any_edits_of_any_notebook_do_what_they_do_to_the_text():
    rng = random.Random(7)
    alphabet = ["a", "é", "𝄞", '"', "\\", "\n", "n", "\t", "\u2028", "#"]
    for trial in range(400):
        lines = ["#" + "".join(rng.choices(alphabet, k=rng.randrange(8))) for _ in range(rng.randrange(1, 6))]
        text = "\n".join("#" + line for line in "\n".join(lines).split("\n"))
        source = text if trial % 2 else list(text.splitlines(keepends=True))
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": source}
        file = document(cell, "last = 1", dump=rng.choice(list(DUMPS.values())))
        notebook = Notebook.parse(file)
        start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        new = "".join(rng.choices(alphabet, k=rng.randrange(5)))
        span = Span(*position(text, start), *position(text, end))
        changed = notebook.apply([Edit(span, new, 1)])
        assert sources(changed.lstrip("\ufeff")) == [text[:start] + new + text[end:], "last = 1"]


def position(text, offset):
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


def test_cells_that_are_not_python_are_said_of_notebooks_about_torch_only():
    blank = "policy = solve(1, 2"
    assert lint(document("import numpy", blank), Job.of("n.ipynb", Settings(dry_run=False))).findings == ()
    (found,) = lint(document("import torch", blank), Job.of("n.ipynb", Settings(dry_run=False))).findings
    assert (found.code, found.cell, found.span.line) == ("TL001", 2, 1)


@pytest.mark.parametrize(
    "typed, found",
    [
        ("# in a new environment\nconda create -n lint python=3.11\ngit clone https://host/lint\n\ncd lint/", 0),
        ("pip3 install --user lint", 0),
        ("$ docker run \\\n    --standalone\n    train.py", 0),
        ("docker-compose up", 0),
        ("@article{Intro4,\n  title={An Introduction},\n  year={2021},\n}", 0),
        ("mv *.pt ../models", 0),
        ("mkdir '/kaggle/working/predictions'", 0),
        ("git clone https://host/lint\nfor x in range(3) print(x)", 1),
        ("python = 3 3", 1),
    ],
)
def test_a_cell_that_says_what_to_type_in_a_terminal_is_none_of_the_program(typed, found):
    assert len(lint(document("import torch", typed), Job.of("n.ipynb", Settings(dry_run=False))).findings) == found


@pytest.mark.parametrize("last, found", [("print(x.grad, y.grad)", 0), ("y.grad", 0), ("x = x - 0.1 * y.grad", 1)])
def test_a_lesson_may_show_that_a_result_has_no_gradient(last, found):
    lesson = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 2\ny.sum().backward()\n"
    said = lint(document(lesson, last), Job.of("n.ipynb", Settings(dry_run=False))).findings
    assert [f.code for f in said] == ["TL210"] * found


MADE = "import torch\nx, other = torch.zeros(4, 5), 1\nnet = torch.nn.Linear(3, 2)\n"
CALLED = "import torch\ndef f(x):\n    return torch.nn.Linear(3, 2)(x)\n"
WRONG = "import torch\ntorch.nn.Linear(3, 2)(torch.zeros(4, 5))\n"


def cell(text, kind="code", outputs=(), **metadata):
    return {"cell_type": kind, "execution_count": None, "metadata": metadata, "outputs": list(outputs), "source": text}


@pytest.mark.parametrize(("first", "second", "found"), [(None, None, 1), (4, 5, 1), (4, None, 0)])
def test_a_cell_that_nobody_ran_is_a_draft(first, second, found):
    cells = [cell("import torch") | {"execution_count": first}, cell("x = (1") | {"execution_count": second}]
    said = lint(document(*cells, cell("print(x)")), Job.of("n.ipynb", Settings(dry_run=False))).findings
    assert [f.code for f in said] == ["TL001"] * found


@pytest.mark.parametrize(
    ("source", "count", "severity"),
    [
        ("x.sum()\n\nx.", 5, "info"),
        ("y = x[]", 5, "info"),
        ("with torch.no_grad():\n    ", 5, "info"),
        ("x.shape.", None, "info"),
        ("x.sum()\n\nx.", None, "error"),  # of a notebook that nobody ran
        ("z = x[]", 5, "error"),  # the next cell prints it
        ("z = torch.stack([\n    x[0]\n    x[1],\n])", 5, "error"),
        ("x.z = x[]", 5, "error"),
        ("def f(x)\n    return x", 5, "error"),
        ("from torch import nn,\nnn.Linear(2, 3)", 5, "error"),
    ],
)
def test_what_is_typed_into_a_cell_that_ran_and_that_no_other_needs_is_a_remark(source, count, severity):
    sources = ("import torch", source, "print(z)\nfor y in z:\n    print(y)")
    cells = [cell(text) | {"execution_count": count} for text in sources]
    told = Settings(dry_run=False, selections=(Selection(None, (), ("TL001",)),))
    assert [f.severity for f in lint(document(*cells), Job.of("n.ipynb", told)).findings] == [severity]
    usual = lint(document(*cells), Job.of("n.ipynb", Settings(dry_run=False))).findings
    assert [f.severity for f in usual] == [severity] * (severity == "error")


@pytest.mark.parametrize(
    ("broken", "outputs", "found"),
    [
        ("x = (1, 2", [], 1),
        ("x = (1, 2", [{"output_type": "error", "ename": "SyntaxError", "evalue": "", "traceback": []}], 0),
        ("\n    import os\n\nx = 1", [], 0),  # IPython takes the first line's margin away
        ("\n    import os\n\nx = (1", [], 1),
        ("if True:\n    import os\n\n  x = 1", [], 1),
    ],
)
def test_a_cell_that_python_refuses(broken, outputs, found):
    text = document(cell("import torch"), cell(broken, outputs=outputs))
    assert [f.code for f in lint(text, Job.of("n.ipynb", Settings(dry_run=False))).findings] == ["TL001"] * found


@pytest.mark.parametrize(
    ("counts", "severity"), [((1, 3, 2), "info"), ((1, 2, 3), "error"), ((None, 3, None), "error")]
)
def test_what_went_well_in_another_order_is_a_remark(counts, severity):
    sources = ["import torch\nx = torch.zeros(4, 5)", "x = 'a picture'", "print(x.mean())"]
    cells = [cell(source) | {"execution_count": count} for source, count in zip(sources, counts, strict=True)]
    settings = Settings(selections=(Selection(None, (), ("ALL",)),))
    found = lint(document(*cells), Job.of("n.ipynb", settings)).findings
    assert [(f.code, f.cell, f.severity) for f in found if f.code == "TL907"] == [("TL907", 3, severity)]


BELOW = ["import torch\nrows = torch.zeros(3, 2)", "print(rows @ {name})", "wide = torch.zeros(2, 4)"]


@pytest.mark.parametrize(
    ("name", "counts", "severity"),
    [
        ("wide", (None, None, None), "error"),
        ("wide", (1, None, 2), "error"),
        ("wide", (1, 7, None), "info"),  # it was there when the cell ran
        ("torch.zeros(2, 4)", (None, None, None), None),
        ("other", (None, None, None), None),  # nobody says whose it is
    ],
)
def test_a_name_that_only_a_later_cell_gives_a_value(name, counts, severity):
    cells = [cell(text.format(name=name)) | {"execution_count": n} for text, n in zip(BELOW, counts, strict=True)]
    settings = Settings(selections=(Selection(None, (), ("TL907",)),))
    found = lint(document(*cells), Job.of("n.ipynb", settings)).findings
    assert [(f.cell, f.severity) for f in found] == [(2, severity)] * (severity is not None)


@pytest.mark.parametrize(
    "line", ["%run helpers.py", "%store -r wide", "from helpers import *", "exec(open('x').read())"]
)
def test_a_name_that_may_come_from_elsewhere_is_not_missed(line):
    first, second, third = BELOW
    cells = [cell(text) for text in (first + "\n" + line, second.format(name="wide"), third)]
    assert not lint(document(*cells), Job.of("n.ipynb", Settings())).findings


def test_a_name_of_which_the_program_asks_whether_it_is_there_is_not_missed():
    first, second, third = BELOW
    cells = [first, f"try:\n    {second.format(name='wide')}\nexcept NameError:\n    pass", third]
    assert not lint(document(*map(cell, cells)), Job.of("n.ipynb", Settings())).findings


@pytest.mark.parametrize(
    "cells, found",
    [
        ([cell(WRONG)], 1),
        ([cell(WRONG, outputs=[{"output_type": "stream", "text": "an error"}])], 1),
        ([cell(WRONG, outputs=[{"output_type": "error", "ename": "RuntimeError", "evalue": "", "traceback": []}])], 0),
        ([cell(WRONG, tags=["raises-exception"])], 0),
        ([cell(WRONG + "# this will fail\n")], 0),
        ([cell(WRONG + "# this will produce an error\n")], 0),
        ([cell("%%expect_exception RuntimeError\n" + WRONG)], 0),
        ([cell("This raises an error, since the sizes differ:", "markdown"), cell(WRONG)], 0),
        ([cell("This gives the mean squared error of the net:", "markdown"), cell(WRONG)], 1),
        ([cell("This raises an error:", "markdown"), cell("print(1)"), cell(WRONG)], 1),
        ([cell(f"{CALLED}# called below\n"), cell("f(torch.zeros(4, 5))")], 1),
        ([cell(f"{CALLED}# called below\n"), cell("f(torch.zeros(4, 5))", tags=["raises-exception"])], 0),
        ([cell(CALLED), cell("def g(x):\n    return f(x)\n"), cell("g(torch.zeros(4, 5))")], 1),
        ([cell(CALLED), cell("def g(x):\n    return f(x)\n"), cell("# this will fail\ng(torch.zeros(4, 5))")], 0),
        ([cell("import torch\ntorch.optim.Adam(#TODO,\n    lr=0.1)\n")], 0),
        ([cell("%run -i prepare.py\n"), cell(WRONG)], 1),
        ([cell(MADE), cell("net(x)\n")], 1),
        ([cell(MADE), cell("%run -i prepare.py\n"), cell("net(x)\n")], 0),
        ([cell(MADE), cell("if True:\n    %run -i prepare.py\n"), cell("net(x)\n")], 0),
    ],
)
def test_a_cell_that_is_expected_to_fail_or_runs_a_script(cells, found):
    pytest.importorskip("torch")
    assert [f.code for f in lint(document(*cells), "n.ipynb").findings] == ["TL901"] * found


@pytest.mark.parametrize("device, found", [("cpu", []), ("cuda", ["TL605"])])
def test_a_notebook_that_never_leaves_the_cpu_needs_no_buffers(tmp_path, device, found):
    module = """
import torch
class Shift(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.by = torch.ones(4)
    def forward(self, x):
        return x + self.by
"""
    used = f"net = Shift().to('{device}')\nfor name in net.state_dict():\n    print(name)\n"
    said = lint(document(cell(module), cell(used)), tmp_path / "n.ipynb").findings
    assert [f.code for f in said if f.code == "TL605"] == found


@pytest.mark.parametrize(
    "name, found", [("Nets.ipynb", 1), ("Nets_Exercise.ipynb", 0), ("2 (Exercises).ipynb", 0), ("Exercised.ipynb", 1)]
)
def test_a_notebook_that_is_called_an_exercise_is_not_done_yet(name, found):
    pytest.importorskip("torch")
    assert [f.code for f in lint(document(cell(WRONG)), name).findings] == ["TL901"] * found


@pytest.mark.parametrize(
    "text, words",
    [
        ('{"cells": [], "metadata": {"n": ' + "9" * 5000 + '}, "nbformat": 4}', "digits"),
        (
            '{"cells": [{"cell_type": "code", "source": "' + "#" * (SOURCE + 1) + '"}], "nbformat": 4}',
            "more than 2 MB of code",
        ),
    ],
)
def test_a_notebook_that_python_would_not_take(text, words):
    with pytest.raises(NotebookError, match=words):
        Notebook.parse(text)


@pytest.mark.parametrize(
    "cell, gap",
    [
        ("x = <YOUR CODE>", True),
        ("... = train(net, start=0)", True),
        ("optimizer = SGD(model.parameters(), lr=???)", True),
        ("val_acc = # YOUR CODE", True),
        ("best = torch.optim.<name>(net.parameters())", True),
        ("best = torch.optim.<3>(net.parameters())", False),
        ("def standardize(df, ...):\n    return df", True),
        ("net = # complete here", True),
        ("net = Net(# fill this out)\nnet = net.cuda()", True),
        ("net = Net(\n    Block(# Fill this out),\n    # optional: dropout\n)", True),
        ("net = Net(  # add the sizes (in, out)\n    3 4)", False),
        ("for i in range(3):\n    # make a batch\n    # train", True),
        ("for i in range(3):\nprint(i)", False),
        ("loss = ", True),
        ("EPOCHS = \nLR = 0.1", True),
        ("x = torch.cat([?, ?], dim=1)", True),
        ("layer = Dense( , , initial)", True),
        ("normed = ....", True),
        (
            "class Rows(Dataset):\n\n    def __init__(self, x):\n\n\n    def __len__(self):\n\n\n    def get(self, i):\n",
            True,
        ),
        ("class Rows(Dataset):\n\n    def __init__(self, x):\n\n    def __len__(self):\n        return 3\n", False),
        ("if a < B and c > D\n    pass", False),
        ("x = y > > z", False),
    ],
)
def test_the_gaps_of_an_exercise_are_left_to_who_does_it(cell, gap):
    found = lint(document("import torch", cell), Job.of("n.ipynb", Settings(dry_run=False))).findings
    assert [f.code for f in found] == ([] if gap else ["TL001"])


def test_a_message_names_no_line_of_the_whole_notebook():
    first = "import torch\nnet = torch.nn.Linear(3, 2).cuda()\nx = torch.zeros(4, 3)"
    (found,) = lint(document(first, "out = net(x)"), Job.of("n.ipynb", Settings())).findings
    assert (found.cell, "line" in found.message) == (2, False)
    assert [(note.cell, note.span.line) for note in found.notes if "made here, on the CPU" in note.message] == [(1, 3)]


def test_a_none_that_an_exercise_wants_filled_in_is_not_said_to_be_called(tmp_path):
    cells = ("import torch\n''' Todo: a network '''\nmodel = None", "model(torch.zeros(3))")

    def said(name, text):
        return [finding.code for finding in lint(text, Job.of(str(tmp_path / name), Settings())).findings]

    assert said("sheet.ipynb", document(*cells)) == []
    assert said("script.py", "\n".join(cells)) == ["TL907"]


def test_the_sources_of_a_notebook_have_a_largest_number_of_lines(monkeypatch):
    """Each of them is found by itself, and may be empty."""
    monkeypatch.setattr(notebook_json, "MOST_LINES", 10)
    cells = ['{"cell_type": "code", "source": [%s]}' % ", ".join(['""'] * 4)] * 3
    with pytest.raises(NotebookError, match="the cells of the notebook have more than 10 lines"):
        Notebook.parse('{"cells": [%s], "nbformat": 4}' % ", ".join(cells))
    assert Notebook.parse('{"cells": [%s], "nbformat": 4}' % ", ".join(cells[:2])).broken == []
