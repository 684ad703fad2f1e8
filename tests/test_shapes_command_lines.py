"""How a script is started: by the command lines in the READMEs and shell scripts around it."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("torch")

from dry import faults_of

from torchlint.project import Project
from torchlint.shapes.libraries.command_lines import command_lines
from torchlint.shapes.search.check import dry_run

HEAD = """
import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
"""
SHAPES = """
parser.add_argument("dataset", type=str)
parser.add_argument("--width", "-w", type=int, default=8)
parser.add_argument("--sizes", type=int, nargs="+", default=[4])
parser.add_argument("--deep", action="store_true")
args = parser.parse_args()
shape = {"digits": 64, "pictures": 192}[args.dataset]
net = nn.Sequential(nn.Linear(shape, args.width), nn.Linear(8, 3))
print(net(torch.zeros(2, shape)))
if args.deep:
    print(nn.Linear(args.sizes[-1], 3)(torch.zeros(2, 4)))
"""


def found(tmp_path, text: str, documents: dict[str, str], script: str = "train.py") -> list[str]:
    """The lines at which something is found, with what is said in help."""
    for name, content in {**documents, script: text}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    path = tmp_path / script
    faults = dry_run(text, str(path), Project(tmp_path).view(path)).faults
    return [f"{text.splitlines()[f.span.line - 1].strip()} | {f.help}" for f in faults]


NET, DEEP = (
    "net = nn.Sequential(nn.Linear(shape, args.width), nn.Linear(8, 3))",
    "print(nn.Linear(args.sizes[-1], 3)(torch.zeros(2, 4)))",
)


@pytest.mark.parametrize(
    ("document", "line", "words"),
    [
        ({"README.md": "```\npython train.py digits --width 9\n```"}, NET, "train.py digits --width 9"),
        ({"README.md": "Run `python3 -u ./train.py digits -w=9 > log.txt`."}, NET, "train.py digits"),
        ({"train.sh": "python train.py \\\n  pictures \\\n  --wid 16 | tee log"}, NET, "train.py pictures --wid 16"),
        ({"scripts/train.sh": "cd ..\npython train.py digits --deep --sizes 4 5 # five"}, DEEP, "--sizes 4 5"),
        ({"Makefile": "all:\n\tCUDA_VISIBLE_DEVICES=0 python train.py digits --width 7 && echo"}, NET, "--width 7"),
        ({"README.md": "python train.py <name> --width 8\npython train.py digits -w 9"}, NET, "train.py digits -w 9"),
    ],
)
def test_what_a_document_says_is_given(tmp_path, document, line, words):
    said = found(tmp_path, HEAD + SHAPES, document)
    assert any(one.startswith(line) and words in one for one in said)


@pytest.mark.parametrize(
    "document",
    [
        {"README.md": "python train.py digits --width 8\npython train.py pictures --deep --sizes 5 4"},
        {"README.md": "python train.py digits --width=eight\npython train.py digits --heads 9 --width 9"},
        {"README.md": "python other/train.py digits --width 9\npython retrain.py digits --width 9"},
        {"README.md": "python train.py digits --width $WIDTH\npython train.py digits --width '9"},
        {"other/README.md": "python train.py digits --width 9", "other/train.py": ""},
    ],
)
def test_what_fits_or_is_for_another_program_is_not(tmp_path, document):
    assert found(tmp_path, HEAD + SHAPES, document) == []


def test_a_script_runs_with_and_without_its_options(tmp_path):
    text = HEAD + (
        'parser.add_argument("--conditional", action="store_true")\nargs = parser.parse_args()\n'
        "net = nn.Linear(12 if args.conditional else 4, 3)\n"
        "if args.conditional:\n    net(torch.zeros(2, 10))\nelse:\n    net(torch.zeros(2, 5))\n"
    )
    said = found(tmp_path, text, {"README.md": "    $ python train.py --conditional"})
    assert [one.partition(" | ")[0] for one in said] == ["net(torch.zeros(2, 10))", "net(torch.zeros(2, 5))"]
    assert "--conditional" in said[0] and "--conditional" not in said[1]


@pytest.mark.parametrize(
    ("lines", "is_said"),
    [
        ("python train.py --model wide\npython train.py --model deep --epochs 3", False),
        ("python train.py --model wide\npython train.py --epochs 3", True),
        ("python train.py --model wide\npython train.py --model old", True),
        ("python train.py --epochs 3", True),
        ("", True),
    ],
)
def test_nobody_starts_it_without_what_all_command_lines_give(tmp_path, lines, is_said):
    text = HEAD + (
        'parser.add_argument("--model", default="old")\nparser.add_argument("--epochs", type=int, default=9)\n'
        "args = parser.parse_args()\n"
        'net = {"wide": nn.Linear(4, 9), "deep": nn.Linear(4, 3)}[args.model]\n'
        "net(torch.zeros(2, 4))\n"
    )
    said = found(tmp_path, text, {"scripts/all_models.sh": lines})
    assert bool(said) is is_said


def test_an_option_may_be_shortened(tmp_path):
    text = HEAD + (
        'parser.add_argument("--optimizer", choices=["adam", "sgd"], default="adam")\n'
        'parser.add_argument("--width", type=int, default=8)\nargs = parser.parse_args()\n'
        "nn.Linear(args.width, 3)(torch.zeros(2, 8))\n"
    )
    assert found(tmp_path, text, {"README.md": "    python train.py --opt sgd"}) == []
    (said,) = found(tmp_path, text, {"README.md": "    python train.py --opt sgd --wid 9"})
    assert said.startswith("nn.Linear(args.width, 3)")


def test_a_script_in_a_folder_is_started_there_or_above(tmp_path):
    for name in ("a/b/train.py", "train.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "README.md").write_text("python a/b/train.py one\ncd a/b\npython train.py two\n" + "." * 500)
    (tmp_path / "a" / "README.md").write_text("python train.py three\npython b/train.py four")
    script = str(tmp_path / "a/b/train.py")
    assert list(command_lines(Project(tmp_path).view(script), script)) == [["four"], ["one"], ["two"]]


def test_a_document_behind_a_link_is_not_read(tmp_path):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    (outside / "README.md").write_text("python train.py digits --width 9")
    inside.mkdir()
    (inside / ".git").mkdir()
    os.symlink(outside / "README.md", inside / "README.md")
    os.symlink(outside, inside / "scripts")
    os.mkfifo(inside / "Makefile")
    assert found(inside, HEAD + SHAPES, {}) == []


def test_what_was_read_is_remembered(tmp_path):
    """The findings depend on the documents, and on those that are not there; on no program that names the script."""
    (tmp_path / "README.md").write_text("python train.py digits")
    (tmp_path / "other.py").write_text("# train.py does it better\n")
    (tmp_path / "all.sh").write_text("python train.py digits")
    path = tmp_path / "train.py"
    view = Project(tmp_path).view(path)
    dry_run(HEAD + SHAPES, str(path), view)
    assert {str(tmp_path / name) for name in ("README.md", "Makefile", "all.sh")} <= view.consulted.keys()
    assert str(tmp_path / "other.py") not in view.consulted


@pytest.mark.parametrize(("word", "known"), [("task_name", False), ("DATASET", False), ("digit-s", True)])
def test_a_word_that_the_program_does_not_know_is_to_be_put_in(tmp_path, word, known):
    """`python train.py --task task_name` names what a reader chooses."""
    text = HEAD + (
        'parser.add_argument("--task", default="digits")\nargs = parser.parse_args()\n'
        'width = {"digits": 4, "pictures": 2}.get(args.task, 3)  # not digit-s\n'
        "nn.Linear(width, 3)(torch.zeros(2, 4))\n"
    )
    assert len(found(tmp_path, text, {"README.md": f"`python train.py --task {word}`"})) == known


@pytest.mark.parametrize(
    ("add", "given", "fails"),
    [
        ('"runs", nargs="+", default=[]', "", False),
        ('"runs", nargs="*", default=[]', "", True),
        ('"--runs", default=None, type=lambda s: [s.split(";")]', "['--runs', 'a;b']", False),
        ('"--runs", default=None, type=lambda s: s.split(";")[1:]', "['--runs', 'a']", True),
        ('"--runs", default=[], type=lambda s: s.split(";")', "['--runs', unheard_of]", False),
        ('"--runs", default=[]', "args=['--other', 'a']", False),
    ],
)
def test_an_argument_is_what_the_parser_makes_of_its_words(tmp_path, add, given, fails):
    text = f"{HEAD}parser.add_argument({add})\nargs = parser.parse_args({given})\n"
    text += "nn.Linear(4, 3)(torch.zeros(2, 5 - len(args.runs)))\n"
    assert bool(found(tmp_path, text, {})) == fails


@pytest.mark.parametrize(
    ("option", "move", "started"),
    [
        ('"--cuda", action="store_true"', 'model.to("cuda" if args.cuda else "cpu")', "train.py --cuda"),
        ('"--use-gpu", action="store_true"', "model.cuda() if args.use_gpu else model", "train.py --use-gpu"),
        ('"--device", default="cpu"', "model.to(args.device)", "train.py --device cuda"),
        ('"--device", default="cpu", choices=["cpu", "mps"]', "model.to(args.device)", None),
        ('"--no-cuda", action="store_true"', "model.cuda() if args.no_cuda is None else model", None),
    ],
)
def test_a_gpu_is_asked_for_where_an_option_does(tmp_path, option, move, started):
    text = HEAD + (
        f"parser.add_argument({option})\nargs = parser.parse_args()\nmodel = nn.Linear(4, 2)\nmodel = {move}\n"
        "x = torch.rand(3, 4)\nprint(model(x))\n"
    )
    assert [started in one for one in found(tmp_path, text, {})] == [True] * bool(started)
    assert found(tmp_path, text.replace("model(x)", "model(x.to(model.weight.device))"), {}) == []


@pytest.mark.parametrize("use", ["print(len(rest))", "load(rest[1])", "for word in rest: print(word)", "rest.pop(0)"])
def test_words_that_the_parser_does_not_know_are_known_to_nobody(tmp_path, use):
    text = HEAD + (
        'parser.add_argument("--width", type=int, default=4)\nargs, rest = parser.parse_known_args()\n'
        f"def load(path):\n    return open(path)\n\n{use}\nargs = parser.parse_args(rest)\n"
        "nn.Linear(args.width, 3)(torch.zeros(2, 5))\n"
    )
    said = found(tmp_path, text, {})
    assert [one.partition(" | ")[0] for one in said] == ["nn.Linear(args.width, 3)(torch.zeros(2, 5))"]


GIVEN = """
    import argparse
    import torch
    from model.parts import Net

    def convert(path):
        torch.save(Net().state_dict(){where})

    parser = argparse.ArgumentParser()
    parser.add_argument("--path", default=None, type=str, required={required})
    args = parser.parse_args()
    parts = args.path.split()
    convert(args.path)
"""


@pytest.mark.parametrize(
    ("required", "where", "said"),
    [(True, ", path", []), (True, "", ["save() missing 1 required positional argument: 'f'"])],
)
def test_nobody_sees_the_default_of_what_has_to_be_given(tmp_path, required, where, said):
    found = faults_of(tmp_path, GIVEN.format(required=required, where=where))
    assert [fault.message for fault in found] == said


def test_what_is_saved_nowhere_is_not_saved_without_a_place(tmp_path):
    assert not faults_of(
        tmp_path, "def keep(path=None):\n    torch.save(nn.Linear(2, 3).state_dict(), path)\n\nkeep()\n"
    )


ADDED = """
from unheard import table

for name, default in table.items():
    parser.add_argument("--" + name, type=type(default), default=default)
parser.add_argument("--width", type=int, default=4)
args = parser.parse_args()
"""


@pytest.mark.parametrize("use", ["args.debug", 'vars(args)["debug"]', 'vars(Held())["debug"]', "Held().debug"])
@pytest.mark.parametrize("held", ["setattr(self, name, value)", "self.__setattr__(name, value)"])
def test_arguments_of_names_that_nobody_knows_may_have_any(tmp_path, use, held):
    """What is known of a named one is known all the same."""
    text = f"""{HEAD}{ADDED}
class Held:
    def __init__(self):
        for name, value in vars(args).items():
            {held}

if {use}:
    print("debug")
print(nn.Linear(args.width, 3)(torch.zeros(2, 5)))
"""
    assert [line.split(" | ")[0] for line in found(tmp_path, text, {})] == [
        "print(nn.Linear(args.width, 3)(torch.zeros(2, 5)))"
    ]


LEFT_OUT = """
parser.add_argument("--width", {options})
parser.add_argument("--depth", type=int, default=2)
args = parser.parse_args()
net = nn.Sequential(nn.Linear(4, args.width), nn.Linear(args.width, 8), nn.Linear({given}, 3))
print(net(torch.zeros(2, 4)))
"""


@pytest.mark.parametrize(
    ("options", "given", "document", "lines"),
    [
        ("type=int", "8", "", 0),  # nobody starts it without
        ("type=int, help='of a layer'", "8", "python train.py --width 40", 0),
        ("type=int", "9", "python train.py --width 40", 1),
        ("default=None, type=int", "8", "python train.py --width 40 --depth 3\npython train.py --width 8", 0),
        ("default=None, type=int", "8", "python train.py --width 40\npython train.py", 1),
        ("default=None, type=int", "8", "", 1),
    ],
)
def test_what_must_be_given_although_nothing_says_so(tmp_path, options, given, document, lines):
    text = HEAD + LEFT_OUT.format(options=options, given=given)
    assert len(found(tmp_path, text, {"README.md": f"```\n{document}\n```"})) == lines


@pytest.mark.parametrize(("default", "lines"), [("", 0), ("net_batch_", 1), ("net_batch9_", 0)])
def test_an_empty_text_is_of_an_option_that_everybody_gives(tmp_path, default, lines):
    text = f"""
parser.add_argument("--model", type=str, default="{default}", help="path of a model")
name = parser.parse_args().model
batch = int(name[name.find("batch") + 5 : name.rfind("_")])
"""
    assert len(found(tmp_path, HEAD + text, {})) == lines


@pytest.mark.parametrize(("document", "lines"), [("python train.py --data a b", 0), ("python train.py", 1)])
def test_a_list_that_every_command_line_gives_is_not_empty(tmp_path, document, lines):
    text = """
parser.add_argument("--data", nargs="+", default=[])
folders = parser.parse_args().data
first = folders[0]
"""
    assert len(found(tmp_path, HEAD + text, {"README.md": f"```\n{document}\n```"})) == lines
