"""`torchlint shapes`: tables, JSON and the page; what it assumes and what it refuses."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("torch")

from torchlint.frontends import cli

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
GOOD = (
    HEAD
    + """
class Block(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1), nn.ReLU())

    def forward(self, image):
        return self.net(image)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Block(3, 8)
        self.b = Block(8, 16)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        x = F.max_pool2d(self.a(x), 2)
        return self.head(self.b(x).mean((2, 3)))
"""
)
BAD = GOOD.replace("nn.Linear(16, 10)", "nn.Linear(32, 10)")
SCRIPT = GOOD + '\nif __name__ == "__main__":\n    print(Net()(torch.randn(5, 3, 20, 30)).shape)\n'


@pytest.fixture
def shapes(tree, alone, capsys):
    """Runs the command on files: exit code, output, errors."""

    def run(files, *arguments):
        tree(files)
        code = cli.main(["shapes", *arguments])
        return code, *capsys.readouterr()

    return run


def rows(text):
    """The rows of a table: line, label, the rest."""
    return [re.split(r" {2,}", line.strip()) for line in text.splitlines() if re.match(r" +\d+ {2}", line)]


def test_a_model_without_a_finding(shapes):
    code, out, err = shapes({"net.py": GOOD}, "net.py:Net")
    assert (code, err) == (0, "")
    assert "Net  net.py:15, 1,562 parameters" in out
    assert [r[1] for r in rows(out)] == [
        "a.net.0: Conv2d(3, 8, (3, 3), padding=(1, 1))",
        "a.net.1: ReLU()",
        "max_pool2d(2)",
        "b.net.0: Conv2d(8, 16, (3, 3), padding=(1, 1))",
        "b.net.1: ReLU()",
        "mean((2, 3))",
        "head: Linear(16, 10)",
    ]
    head = rows(out)[-1]
    assert head[0] == "24" and head[2:] == ["(2, 16)", "→ (2, 10)", "float32", "170"]
    assert "assumed: self.a.net.0 takes it in line 12" in out
    assert "✗" not in out


def test_every_class_of_a_file(shapes):
    code, out, _ = shapes({"net.py": GOOD}, "net.py")
    assert code == 0
    assert re.findall(r"^(\w+)  net\.py:\d+", out, re.M) == ["Block", "Net"]


def test_what_the_script_runs_is_not_assumed(shapes):
    _, out, _ = shapes({"net.py": SCRIPT}, "net.py:Net")
    assert "x: (5, 3, 20, 30) float32\n" in out and "assumed" not in out


def test_inputs_that_are_given(shapes):
    code, out, _ = shapes({"net.py": SCRIPT}, "net.py:Net", "--input", "x=7,3,32,48")
    assert code == 0 and "x: (7, 3, 32, 48) float32\n" in out and "→ (7, 10)" in out
    code, out, _ = shapes({"net.py": GOOD}, "net.py:Net", "--input", "x=B,4,32,32")
    assert code == 1 and "✗" in out and "3 channels" in out


LETTERS = (
    HEAD
    + """
class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.fc = nn.Linear(8 * 26 * 26, 10)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 24)
        self.fc = nn.Linear(24 + 7, 10)

    def forward(self, ids, extra):
        return self.fc(torch.cat([self.embed(ids), extra], dim=-1))
"""
)


@pytest.mark.parametrize(
    "target, given, shown",
    [
        ("Digits", ["x=B,C,H,W"], ["x: (2, 3, 28, 28) float32  (assumed: B = 2, C = 3, H = 28, W = 28)"]),
        ("Digits", ["x=5,C,H,H"], ["x: (5, 3, 28, 28)"]),
        ("Digits", ["x=B,3,H,W"], ["x: (2, 3, 28, 28)"]),
        ("Words", ["ids=B,T:long", "extra=B,T,F"], ["ids: (2, 12) int64", "extra: (2, 12, 7)"]),
        ("Words", ["ids=6,T:long", "extra=6,T,F"], ["ids: (6, 12) int64", "extra: (6, 12, 7)"]),
        ("Words", ["ids=B:long", "extra=B,F"], ["ids: (2,) int64", "extra: (2, 7)"]),
    ],
)
def test_letters_are_solved(shapes, target, given, shown):
    code, out, _ = shapes(
        {"net.py": LETTERS}, f"net.py:{target}", *(word for one in given for word in ("--input", one))
    )
    assert code == 0 and "✗" not in out
    assert [one for one in shown if not any(line.startswith(f"  {one}") for line in out.splitlines())] == []


@pytest.mark.parametrize("given", ["x=B,4,H,W", "x=B,3,32,32", "x=B,C"])
def test_what_no_letter_can_solve_fails_as_it_is_written(shapes, given):
    code, out, _ = shapes({"net.py": LETTERS}, "net.py:Digits", "--input", given)
    assert code == 1 and "✗" in out
    assert ("3 channels but gets 4" in out) == ("4" in given)


def test_a_failing_forward_says_why(shapes):
    code, out, _ = shapes({"net.py": BAD}, "net.py:Net")
    assert code == 1
    assert "✗" in out.splitlines()[-4] and "head: Linear(32, 10)" in out
    assert "self.head takes 32 features but gets 16" in out
    assert "torch says: mat1 and mat2 shapes cannot be multiplied (2x16 and 32x10)" in out


def test_json(shapes):
    code, out, _ = shapes({"net.py": BAD}, "net.py", "--output-format", "json")
    assert code == 1
    block, net = json.loads(out)
    assert (block["name"], block["error"], net["certain"]) == ("Block", "", True)
    last = net["steps"][-1]
    assert last["error"] and last["module"] == "head" and last["layer"] and last["span"]["line"] == 24
    assert last["inputs"] == [{"shape": [2, 16], "dtype": "float32", "device": "cpu"}]
    assert net["steps"][0]["sources"] == ["x"] and last["sources"] == [last["number"] - 1]
    assert [c["module"] for c in net["calls"]] == ["a", "b"]


class _Page(HTMLParser):
    """What a page shows and whether it fetches anything."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.links, self.classes = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "path", "rect", "br"):
            self.open.append(tag)
        found = dict(attributes)
        self.links += [found[n] for n in ("src", "href") if n in found]
        self.classes.append((tag, found.get("class")))

    def handle_endtag(self, tag):
        if tag not in ("path", "rect"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_stands_alone(shapes, tmp_path):
    source = BAD.replace("class Net", "# <script>alert(1)</script> & co\nclass Net")
    code, out, _ = shapes({"net.py": source}, "net.py", "--output-format", "html", "--output-file", "page.html")
    assert (code, out) == (1, "")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = _Page(text)
    assert not page.open and all(link.startswith("#") for link in page.links)
    assert ("script", None) not in page.classes and "url(http" not in text
    marked = {(tag, (classes or "").split(" ")[0]) for tag, classes in page.classes}
    assert {("path", "failed"), ("g", "failed"), ("tr", "bad")} <= marked
    shown = "".join(page.text)
    assert "→ (2, 8, 64, 64)" in shown and "✗ (2, 16)" in shown and "self.head takes 32 features" in shown


def deep(blocks: int) -> str:
    return f"""{HEAD}
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return F.relu(self.fc(x)) + x


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Part() for _ in range({blocks})])

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x
"""


def test_long_forwards_have_a_picture_of_their_modules(shapes):
    _, out, _ = shapes({"deep.py": deep(60)}, "deep.py:Deep", "--output-format", "html")
    page = _Page(out)
    whole = out[: out.index('class="opened"')]
    assert whole.count("<g ") == 61 and "180 steps" in "".join(page.text)


def test_a_module_in_a_picture_opens(shapes):
    _, out, _ = shapes({"deep.py": deep(30)}, "deep.py:Deep", "--output-format", "html")
    page = _Page(out)
    targets = {link[1:] for link in page.links}
    opened = re.findall(r'<div class="opened" id="([^"]*)"><h3>parts[.]\d+ [(]3 steps[)].*?</svg>', out)
    assert len(opened) == 30 and set(opened) <= targets
    assert all(f'id="{target}"' in out for target in targets)


def test_a_line_and_its_boxes_belong_together(shapes):
    _, out, _ = shapes({"net.py": GOOD}, "net.py:Net", "--output-format", "html")
    head = GOOD[: GOOD.index("return self.head")].count("\n") + 1
    name = f"forward-0-line-{head}"
    assert f'<tr class="{name}"' in out and f'<g class="layer {name}"' in out
    assert f".{name}:hover) .{name}" in out


def test_the_source_is_coloured_and_stays_itself(shapes):
    source = GOOD.replace("nn.Linear(16, 10)", 'nn.Linear(16, 10)  # "<b>" & co')
    _, out, _ = shapes({"net.py": source}, "net.py:Net", "--output-format", "html")
    assert '<span class="word">return</span>' in out and '<span class="digits">16</span>' in out
    assert "# &quot;&lt;b&gt;&quot; &amp; co</span>" in out
    shown = "".join(_Page(out).text)
    assert all(line in shown for line in source.split("\n")[14:23])


def test_no_edge_of_a_picture_crosses_a_box(shapes):
    branches = HEAD + (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a, self.b, self.c = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)\n"
        "    def forward(self, x):\n        a = self.a(x)\n        b = self.b(x)\n        c = self.c(a).relu()\n"
        "        return torch.cat([a, b, c, x]) + torch.cat([x, c, b, a])\n"
    )
    _, out, _ = shapes({"net.py": branches}, "net.py", "--output-format", "html")
    boxes = [tuple(map(int, r)) for r in re.findall(r'<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', out)]
    long = re.findall(r'<path d="M(\d+),\d+ Q(\d+),\d+ \d+,(\d+) V(\d+) Q\d+,(\d+) \d+,\d+ H(\d+)', out)
    assert long
    for _, gutter, top, bottom, gap, end in (map(int, edge) for edge in long):
        for x, y, width, height in boxes:
            assert not (x < gutter < x + width and y < bottom and top < y + height)
            assert not (y < gap < y + height and x < max(gutter, end) and min(gutter, end) < x + width)


def test_a_folder_is_shown_with_an_index(shapes, tmp_path):
    files = {"pkg/a.py": GOOD, "pkg/b.py": deep(2), "pkg/plain.py": "x = 1\n", "pkg/broken.py": "def forward(:\n"}
    code, out, err = shapes(files, "pkg", "--output-format", "html")
    page = _Page(out)
    assert code == 0 and err.count("\n") == 1 and "broken.py cannot be parsed" in err
    assert "Shapes in 2 files" in out and [tag for tag, _ in page.classes].count("section") == 4
    code, out, _ = shapes(files, "pkg", "--output-format", "json")
    assert [t["name"] for t in json.loads(out)] == ["Block", "Net", "Part", "Deep"]


def test_a_script_shows_the_models_that_it_calls(shapes):
    script = HEAD + "from net import Net\nnet, head = Net(), nn.Sequential(nn.Linear(10, 4), nn.ReLU())\n"
    script += "head(net(torch.zeros(2, 3, 32, 32)))\nnn.MSELoss()(torch.zeros(2), torch.zeros(2))\n"
    code, out, _ = shapes({"pkg/net.py": GOOD, "pkg/train.py": script}, "pkg/train.py")
    assert code == 0
    assert [line.split(",")[0] for line in out.splitlines() if line[:1].isalpha()] == [
        f"Net  {os.path.join('pkg', 'net.py')}:15",
        f"Sequential  {os.path.join('pkg', 'train.py')}:7",
    ]
    assert "Block" not in shapes({}, "pkg/train.py:Net")[1].split("\n")[0]
    assert "Net" not in shapes({}, "pkg/train.py:Sequential")[1]
    assert "line 15 of pkg/net.py" in shapes({}, "pkg/train.py", "--output-format", "html")[1]


def test_sizes_that_are_assumed_are_no_finding(shapes):
    relation = (
        HEAD + "class Residual(nn.Module):\n    def __init__(self, inplanes, planes):\n        super().__init__()\n"
        "        self.conv = nn.Conv2d(inplanes, planes * 4, 1)\n"
        "    def forward(self, x):\n        return x + self.conv(x)\n"
    )
    code, out, _ = shapes({"net.py": relation}, "net.py")
    assert "made with inplanes" in out and "planes" in out
    assert code == 0


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "name one file"),
        (["missing.py"], "missing.py cannot be read: no such file"),
        (["empty"], "empty has no file with a class that has a forward"),
        ([".", "--input", "x=2,3"], "--input: name the file whose forward it is for"),
        (["net.py:Nope"], "net.py has no class `Nope`; it has Block, Net"),
        (["broken.py"], "broken.py cannot be parsed"),
        (["plain.py"], "has no class with a forward, and calls no model"),
        (["net.py", "--input", "x"], "--input x: write the name of an argument"),
        (["net.py", "--input", "x=2,?"], "`?` is not a size"),
        (["net.py", "--input", "x=2,3:complex"], "`complex` is not a dtype here"),
        (["net.py", "--input", "nothing=2,3"], "no forward in net.py takes nothing"),
        (["net.py", "--import", "net:Net"], "name one file"),
        (["--import", "net"], "write it as package.module:Net"),
        (["--import", "nowhere_at_all:Net"], "ModuleNotFoundError"),
        (["--import", "net:Nope"], "Nope"),
        (["net.py", "--output-format", "png"], "png"),
        (["net.py", "--annotate", "--input", "x=1,3,8,8"], "--annotate takes one Python file"),
        (["net.py", "--annotate", "--report"], "--annotate takes one Python file and no other option"),
        (["empty", "--annotate"], "--annotate takes one Python file"),
        (["latin.py", "--annotate"], "latin.py is not UTF-8"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_line(shapes, arguments, words):
    files = {"net.py": GOOD, "broken.py": "def f(:\n", "plain.py": "x = 1\n", "empty/plain.py": "x = 1\n"}
    Path("latin.py").write_bytes(b"# coding: latin-1\nname = '\xe9'\n")
    code, out, err = shapes(files, *arguments)
    assert (code, out) == (2, "") and err.count("\n") == 1 and words in err


def test_shapes_are_written_behind_assignments(shapes, tmp_path):
    source = SCRIPT.replace(
        "        return self.head(", "        y, z = x, x.sum(1)  # mine\n        return self.head("
    )
    code, out, err = shapes({"net.py": source}, "net.py", "--annotate")
    assert (code, out, err) == (0, "New shapes in 1 line of net.py.\n", "")
    text = (tmp_path / "net.py").read_text()
    assert "x = F.max_pool2d(self.a(x), 2)  # (B, 8, 10, 15)\n" in text and "x.sum(1)  # mine\n" in text
    (tmp_path / "net.py").write_text(text.replace("Block(3, 8)", "Block(3, 9)").replace("Block(8,", "Block(9,"))
    assert shapes({}, "net.py", "--annotate")[0] == 0
    assert "x = F.max_pool2d(self.a(x), 2)  # (B, 9, 10, 15)\n" in (tmp_path / "net.py").read_text()
    assert shapes({}, "net.py", "--annotate")[1] == "Nothing to change.\n"


def test_shapes_of_several_names_and_of_guesses_say_so(shapes, tmp_path):
    source = GOOD.replace(
        "        return self.head(",
        "        y, z = (\n            x,\n            x.sum(1),\n        )\n        return self.head(",
    )
    shapes({"net.py": source}, "net.py", "--annotate")
    text = (tmp_path / "net.py").read_text()
    found = re.search(r"\n        \)  # y: ~\(B, 8, (\d+), \1\), z: ~\(B, \1, \1\)\n", text)
    assert found, text


def test_what_is_annotated_keeps_its_ends_of_lines(shapes, tmp_path):
    (tmp_path / "net.py").write_bytes(SCRIPT.replace("\n", "\r\n").encode())
    shapes({}, "net.py", "--annotate")
    data = (tmp_path / "net.py").read_bytes()
    assert b", 2)  # (B, 8, 10, 15)\r\n" in data and data.count(b"\n") == data.count(b"\r\n")


def test_without_torch(shapes, monkeypatch):
    from torchlint.frontends import shapes as frontend

    monkeypatch.setattr(frontend, "find_spec", lambda name: None)
    code, out, err = shapes({"net.py": GOOD}, "net.py")
    assert (code, out) == (2, "") and "needs torch" in err and err.count("\n") == 1


def test_a_file_is_never_run(shapes, tmp_path):
    code, _, _ = shapes({"net.py": "open('trace', 'w').close()\n" + GOOD}, "net.py")
    assert code == 0 and not (tmp_path / "trace").exists()


def test_an_imported_model(shapes, tmp_path):
    files = {"pkg/__init__.py": "", "pkg/model.py": GOOD + "\nprint('imported')\n\ndef small():\n    return Net()\n"}
    code, out, err = shapes(files, "--import", "pkg.model:Net", "--input", "x=4,3,16,16")
    assert (code, err) == (0, "") and "→ (4, 10)" in out and "imported" not in out
    assert rows(out)[-1][0] == "24" and "pkg/model.py:15" in out.replace("\\", "/")
    code, out, _ = shapes(files, "--import", "pkg.model:small", "--output-format", "json")
    (net,) = json.loads(out)
    assert code == 0 and net["name"] == "Net" and net["assumed"] and net["inputs"]["x"].startswith("(2, 3, ")
    code, out, _ = shapes({"pkg/model.py": BAD}, "--import", "pkg.model:Net")  # it was edited
    assert code == 1 and "✗ mat1 and mat2 shapes cannot be multiplied" in out
    assert not list(tmp_path.rglob("*.pyc"))  # they would also outlive the edit


def test_other_terminals(shapes, monkeypatch):
    import sys

    class Latin:
        encoding = "latin-1"

        def __getattr__(self, name):
            return getattr(before, name)

    before = sys.stdout
    monkeypatch.setattr(sys, "stdout", Latin())
    _, out, _ = shapes({"net.py": GOOD}, "net.py:Net")
    assert "(2, 16) -> (2, 10)" in " ".join(out.split()) and out.isascii()


def test_the_batch_of_a_loader_is_shown_and_not_its_last_smaller_one(shapes):
    loader = (
        "from torch.utils.data import DataLoader, TensorDataset\n"
        "for (x,) in DataLoader(TensorDataset(torch.randn(100, 3, 20, 20)), batch_size=16):\n    Net()(x)\n"
    )
    code, out, _ = shapes({"net.py": GOOD + loader}, "net.py:Net")
    assert code == 0 and "x: (16, 3, 20, 20) float32\n" in out


@pytest.mark.usefixtures("alone")
def test_why_a_file_could_not_be_run_names_it(tree, capsys, monkeypatch):
    from types import SimpleNamespace

    tree({"net.py": GOOD})
    gave_up = SimpleNamespace(notices=("the dry run gave up at <this file>:3: too much work",), faults=())
    monkeypatch.setattr("torchlint.shapes.search.check.dry_run", lambda *_, **__: gave_up)
    assert cli.main(["shapes", "net.py"]) == 2
    assert "net.py could not be run: the dry run gave up at net.py:3" in capsys.readouterr().err


def test_json_holds_no_name_that_a_terminal_or_a_build_server_would_obey(shapes):
    text = (
        BAD.replace("\n\n\n", "\n# \u202e\n\n", 1)
        + "\n\nclass Odd(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    )
    text += '        self.parts = nn.ModuleDict({"a\u202e##vso[task x]": nn.Linear(2, 2)})\n\n'
    text += '    def forward(self, x):\n        return self.parts["a\u202e##vso[task x]"](x)\n'
    _, out, _ = shapes({"net.py": text}, "net.py", "--output-format", "json")
    assert "a\u202e##vso[task x]" in json.dumps(json.loads(out), ensure_ascii=False)
    assert out.isascii() and "##vso[" not in out
