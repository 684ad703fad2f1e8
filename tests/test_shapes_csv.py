"""CSV: what a program has in a text is read; of a file nobody knows the rows, and each has what it is asked for."""

import pytest
from dry import faults_of, line_of

HEAD = """
import collections, csv, io, random
import numpy as np

with open("flats.csv", newline="") as file:
    reader = csv.KIND(file)
    head = next(reader)
    rows = list(reader)
"""
TEXT = '''
import csv, io

file = io.StringIO("""name,length,kind
a,1,0
b,2,1
c,3,0
""")
'''


def failing(tmp_path, program):
    return [line_of(tmp_path, fault) for fault in faults_of(tmp_path, program)]


@pytest.mark.parametrize("kind", ["reader", "DictReader"])
@pytest.mark.parametrize(
    "made",
    [
        "torch.tensor([[float(row[c]) for c in ('3', '1', '2')] for row in rows])",
        "torch.tensor([[float(row['3']), float(row['1']), 1.0] for row in rows])",
        "torch.from_numpy(np.array([[float(row[c]) for c in ('3', '1', '2')] for row in rows], dtype=np.float32))",
    ],
)
def test_the_columns_that_are_read_have_their_number(tmp_path, kind, made):
    made = made.replace("'3'", "3").replace("'1'", "1").replace("'2'", "2") if kind == "reader" else made
    program = HEAD.replace("KIND", kind) + f"x = {made}\nnn.Linear(WIDTH, 2)(x)\n"
    assert failing(tmp_path, program.replace("WIDTH", "4")) == ["nn.Linear(4, 2)(x)"]
    assert failing(tmp_path, program.replace("WIDTH", "3")) == []


def test_whole_numbers_that_are_read_are_no_targets_of_a_loss_that_wants_floats(tmp_path):
    program = HEAD.replace("KIND", "DictReader") + "y = torch.tensor([[CAST(row[c]) for c in 'abc'] for row in rows])\n"
    program += "nn.functional.binary_cross_entropy_with_logits(torch.rand(len(rows), 3), y)\n"
    assert len(failing(tmp_path, program.replace("CAST", "int"))) == 1
    assert failing(tmp_path, program.replace("CAST", "float")) == []


@pytest.mark.parametrize("kind, key", [("reader", "2"), ("DictReader", "'u'")])
@pytest.mark.parametrize(
    "program",
    [
        "nn.Linear(4, len({row[KEY] for row in rows}))(torch.zeros(2, 4)) + torch.zeros(2, 10)",
        "nn.Linear(4, len(collections.Counter(row[KEY] for row in rows)))(torch.zeros(2, 4)) + torch.zeros(2, 10)",
        "torch.tensor([[float(part) for part in row] for row in rows]) @ torch.zeros(7, 2)",
        "torch.tensor([list(map(float, row)) for row in rows]) @ torch.zeros(7, 2)",
        "torch.tensor([[float(part) for part in column] for column in zip(*rows)]) @ torch.zeros(7, 2)",
        "torch.tensor([[float(part) for _, part in zip(head, row)] for row in rows]) @ torch.zeros(7, 2)",
        "torch.tensor([float(part) for part in rows[3]]) + torch.zeros(9)",
        "torch.tensor([float(row[KEY]) for row in rows if row[KEY] != '?']) + torch.zeros(9)",
        "random.shuffle(rows); torch.tensor([float(r[KEY]) for r in rows[int(len(rows) * 0.8):]]) + torch.zeros(9)",
        "ids = {row[KEY]: i for i, row in enumerate(rows)}; nn.Embedding(len(ids), 2)(torch.tensor([40]))",
        "nn.Linear(len(rows[0]) - 1, 3)(torch.zeros(2, 8))",
        "row = rows[0]; row[KEY] = '3'; assert len(rows) > 3 and 5 in row or rows[7][KEY]; print(reader.line_num + 1)",
    ],
)
def test_nobody_knows_how_much_a_file_holds(tmp_path, kind, key, program):
    assert failing(tmp_path, HEAD.replace("KIND", kind) + program.replace("KEY", key)) == []


@pytest.mark.parametrize(
    "read, rows",
    [
        ("list(csv.DictReader(file))", 3),
        ("list(csv.reader(file))[1:]", 3),
        ("next(file); rows = list(csv.reader(file))", 3),
        ("[row for row in csv.DictReader(file) if row['kind'] == '0']", 2),
        ("list(csv.DictReader(file, fieldnames=['a', 'b']))", 4),
        ("list(csv.DictReader(file)); rows = [*rows, *csv.reader(file)]", 3),
        ("file.read(); rows = list(csv.reader(file)); file.seek(0); rows += csv.reader(file)", 4),
        ("list(csv.reader('a,b;c,d;e,f'.split(';'), delimiter=','))", 3),
    ],
)
def test_a_text_of_the_program_is_read(tmp_path, read, rows):
    program = TEXT + f"rows = {read}\ntorch.zeros(len(rows)) + torch.zeros(HOLDS)\n"
    assert failing(tmp_path, program.replace("HOLDS", str(rows))) == []
    assert len(failing(tmp_path, program.replace("HOLDS", str(rows + 3)))) == 1


@pytest.mark.parametrize("made", ["io.StringIO()", "io.StringIO(newline='')"])
def test_what_is_written_to_a_text_nobody_knows(tmp_path, made):
    program = f"file = {made}\ncsv.writer(file).writerow([1, 2])\nfile.seek(0)\nrows = list(csv.reader(file))\n"
    assert failing(tmp_path, TEXT + program + "torch.zeros(len(rows)) + torch.zeros(7)\n") == []
    assert failing(tmp_path, TEXT + "file.write('d,4,1')\nrows = list(csv.reader(file))\nrows[0][2]\n") == []


@pytest.mark.parametrize("names", ["names", "kept.names", "found['names']", "kept.found['names']", "found[place]"])
def test_what_is_filled_but_for_the_head_line_holds_what_nobody_knows(tmp_path, names):
    program = f"""
import csv, types

names, place, found = [], "names", {{"names": [], "places": ["a"]}}
kept = types.SimpleNamespace(names=names, found=found)
labels = []
for i, row in enumerate(csv.reader(open("flats.csv"))):
    if i == 0:
        continue
    {names}.append(row[0])
    labels.append(row[1])
for i, label in enumerate(labels):
    print(label, {names}[i])
print(["a"][1])
"""
    assert failing(tmp_path, program) == ['print(["a"][1])']
