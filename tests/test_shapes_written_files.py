"""Files that a program writes and reads again: as much is known of them as was known of what was written."""

import pytest
from dry import faults_of, line_of

HEAD = """
import csv, io, json, os, pickle, random, shutil, tempfile
from pathlib import Path

folder = tempfile.mkdtemp()
path = os.path.join(folder, "a.txt")
"""


def failing(tmp_path, program):
    return [line_of(tmp_path, fault) for fault in faults_of(tmp_path, HEAD + program)]


@pytest.mark.parametrize(
    "program",
    [
        "with open(path, 'w') as f:\n    f.write('3')\nn = int(open(path).read())",
        "open(path, 'w').write('3')\nn = int(next(open(path)))",
        "with open(path, 'w') as f:\n    print(1, 2, 3, sep='\\n', file=f)\nn = len(open(path).readlines())",
        "with open(path, 'x') as f:\n    f.writelines(['1\\n', '2\\n', '3'])\nn = sum(1 for line in open(path))",
        "for k in range(3):\n    with open(path, 'a') as f:\n        f.write(f'{k}\\n')\nn = len(open(path).read().split())",
        "with open(path, 'wb') as f:\n    f.write(b'123')\nn = len(open(path, 'rb').read())",
        "with open(path, 'wb') as f:\n    f.write(b'123')\nn = len(open(path, 'r').read())",
        "Path(path).write_text('3')\nn = int(Path(folder).joinpath('a.txt').read_text())",
        "Path(path).write_text('3')\nos.replace(path, path + '.b')\nn = int(open(path + '.b').read())",
        "Path(path).write_text('3')\nshutil.copy(path, path + '.b')\nopen(path, 'a').write('4')\n"
        "n = int(open(path + '.b').read())",
        "json.dump({'n': 3, 'x': random.random()}, open(path, 'w'))\nn = json.load(open(path))['n']",
        "Path(path).write_text(json.dumps({'n': [1, random.random(), 3]}))\nn = len(json.loads(Path(path).read_text())['n'])",
        "n = len(json.loads(json.dumps((1, random.random(), 3))))",
        "n = len(pickle.loads(pickle.dumps({1: 2, 2: 3, 4: random.random()})))",
        "f = io.BytesIO()\npickle.dump([1], f)\npickle.dump([1, 2, 3], f)\nf.seek(0)\npickle.load(f)\nn = len(pickle.load(f))",
        "f = io.StringIO()\ncsv.writer(f).writerow([1, random.random(), 2])\nf.seek(0)\nn = len(next(csv.reader(f)))",
        "f = io.StringIO()\nw = csv.DictWriter(f, ['a', 'b', 'c'])\nw.writeheader()\nw.writerow({'a': 1})\n"
        "n = len(next(csv.DictReader(io.StringIO(f.getvalue()))))",
    ],
)
def test_what_is_written_is_read(tmp_path, program):
    ends = "\nnn.Linear(WIDTH, 2)(torch.zeros(2, n))\n"
    assert failing(tmp_path, program + ends.replace("WIDTH", "4")) == ["nn.Linear(4, 2)(torch.zeros(2, n))"]
    assert failing(tmp_path, program + ends.replace("WIDTH", "3")) == []


@pytest.mark.parametrize(
    "program",
    [
        "f = open(path, 'w')\nf.write('3')",
        "with open(path, 'a') as f:\n    f.write('3')\nopen(path, 'w').write(str(random.random()))",
        "with open(path, 'w') as f:\n    f.write('3')\nsomebody(path)",
        "with open(path, 'w') as f:\n    f.write('3')\n    somebody(f)",
        "with open(path, 'w') as f:\n    f.write('3')\nsomebody([{'at': path}])",
        "with open(path, 'w') as f:\n    f.write('3')\nsomebody(folder)",
        "with open(path, 'w') as f:\n    f.write('3')\nos.system(f'echo 4 > {path}')",
        "with open(path, 'w') as f:\n    f.write('3')\nos.remove(path)",
        "with open(path, 'w') as f:\n    f.write('3')\n    f.seek(0)\n    f.write('4')",
        "with open(path, 'w') as f:\n    if somebody():\n        f.write('3')\n    else:\n        f.write('4')",
        "with open(path, 'w') as f:\n    for k in range(somebody()):\n        f.write('3')",
        "with open(path, 'w', encoding='utf-16') as f:\n    f.write('3')",
        "open('elsewhere.txt', 'w').write('3')\nos.chdir(folder)\npath = 'elsewhere.txt'",
        "class Tee(io.StringIO):\n    def write(self, text):\n        return super().write(text * 4)\n"
        "f = Tee()\nf.write('3')\nopen(path, 'w').write(f.getvalue())",
        "class Rows(csv.DictWriter):\n    def more(self):\n        self.writerow({'a': 1})\n"
        "with open(path, 'w') as f:\n    Rows(f, ['a']).more()",
        "with open('old.txt', 'a') as f:\n    f.write('3')\npath = 'old.txt'",
    ],
)
def test_what_others_may_have_written_is_not_known(tmp_path, program):
    program = f"from nowhere import somebody\n{program}\nn = len(open(path).read())\n"
    assert failing(tmp_path, program + "nn.Linear(4, 2)(torch.zeros(2, n))\n") == []


def test_a_text_is_no_number_whatever_stands_in_it(tmp_path):
    program = "a = f'{random.random():.2f}'\nx = torch.tensor([[CAST(a), 1.0]])\n"
    assert failing(tmp_path, program.replace("CAST", "")) == ["x = torch.tensor([[(a), 1.0]])"]
    assert failing(tmp_path, program.replace("CAST", "float")) == []


def test_lines_are_not_paid_for_again_and_again(tmp_path):
    """Twenty thousand of them, each in an `open` of its own."""
    program = "for k in range(20_000):\n    with open(path, 'a') as f:\n        f.write('some words in a line\\n')\n"
    program += "nn.Linear(4, 2)(torch.zeros(2, 3))\n"
    assert failing(tmp_path, program) == ["nn.Linear(4, 2)(torch.zeros(2, 3))"]
