"""Configuration files beside the program: what the dry run reads of them, and what it leaves alone."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.core.values import Unknown
from torchlint.shapes.libraries import plain_yaml
from torchlint.shapes.search.check import dry_run

HEAD = "import json, os, argparse, tempfile\nfrom pathlib import Path\nimport torch\nimport yaml\nfrom torch import nn\nfrom omegaconf import OmegaConf\n"
YAML = (
    "model:\n  width: 8   # of the first layer\n  sizes: [4, 6]\n  layers:\n    - kind: linear\n      out: 3\nlr: 0.1\n"
)
JSON = '{"model": {"width": 8, "sizes": [4, 6], "layers": [{"kind": "linear", "out": 3}]}, "lr": 0.1}'


def found(tmp_path, program: str, files: dict[str, str], script: str = "train.py") -> list[str]:
    """The lines at which something is found."""
    text = HEAD + program
    for name, content in {**files, script: text}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    path = tmp_path / script
    faults = dry_run(text, str(path), Project(tmp_path).view(path)).faults
    return [text.splitlines()[f.span.line - 1].strip() for f in faults]


@pytest.mark.parametrize(
    ("read", "files"),
    [
        ("with open('config.yaml') as f:\n    c = yaml.safe_load(f)", {"config.yaml": YAML}),
        ("c = yaml.load(open('config.yml', 'r').read(), Loader=yaml.FullLoader)", {"config.yml": YAML}),
        ("c = json.load(open('configs/one.json'))", {"configs/one.json": JSON}),
        ("c = json.loads(open(os.path.join(os.path.dirname(__file__), 'a.json')).read())", {"a.json": JSON}),
        ("c = OmegaConf.load('config.yaml')", {"config.yaml": YAML}),
        ("c = OmegaConf.to_container(OmegaConf.load('config.yaml'))", {"config.yaml": YAML}),
        (
            "p = argparse.ArgumentParser()\np.add_argument('--config', default='c.yaml')\n"
            "c = yaml.safe_load(open(p.parse_args().config))",
            {"c.yaml": YAML},
        ),
        ("c = json.loads(Path('a.json').read_text(encoding='utf-8'))", {"a.json": JSON}),
        ("c = json.loads((Path(__file__).resolve().parent / 'conf' / 'a.json').read_text())", {"conf/a.json": JSON}),
        ("with Path('conf', 'a.yaml').open() as f:\n    c = yaml.safe_load(f)", {"conf/a.yaml": YAML}),
        (
            "with open(Path('conf').joinpath('a.txt').with_suffix('.yaml')) as f:\n    c = yaml.safe_load(f)",
            {"conf/a.yaml": YAML},
        ),
        ("c = yaml.safe_load(open(os.path.join(Path(__file__).parent, 'a.yaml')))", {"a.yaml": YAML}),
        ('c = yaml.safe_load(open(f\'{Path("conf") / "a"}.yaml\'))', {"conf/a.yaml": YAML}),
        (
            "p = argparse.ArgumentParser()\np.add_argument('--config', type=Path, default='c.yaml')\n"
            "c = yaml.safe_load(p.parse_args().config.read_text())",
            {"c.yaml": YAML},
        ),
    ],
)
def test_what_a_file_says_is_known(tmp_path, read, files):
    right = f"{read}\nnet = nn.Linear(c['model']['width'], c['model']['layers'][0]['out'])\nx = torch.zeros(2, 8)\n"
    assert found(tmp_path, right + "net(x)", files) == []
    assert found(tmp_path, right + "net(x[:, 1:])", files) == ["net(x[:, 1:])"]
    assert found(tmp_path, right + "net(x) + torch.zeros(c['model']['sizes'])", files) == [
        "net(x) + torch.zeros(c['model']['sizes'])"
    ]


def test_what_is_saved_at_a_path_is_loaded_there(tmp_path):
    program = (
        "folder = Path(tempfile.mkdtemp())\ntorch.save(nn.Linear(3, 2).state_dict(), folder / 'a.pt')\n"
        "net = nn.Linear({}, 2)\nnet.load_state_dict(torch.load(str(folder / 'a.pt')))"
    )
    assert found(tmp_path, program.format(3), {}) == []
    assert found(tmp_path, program.format(4), {}) == ["net.load_state_dict(torch.load(str(folder / 'a.pt')))"]


@pytest.mark.parametrize(
    "known",
    [
        "Path('runs/a.pt').suffix == '.pt'",
        "isinstance(Path('a'), Path) and not isinstance(Path('a'), str)",
        "Path('runs') / 'a' == Path('runs/a')",
        "(Path('runs') / 'a.pt').stem == 'a'",
        "str('runs' / Path('a.pt')) == 'runs/a.pt'",
    ],
)
def test_what_a_path_says_is_known(tmp_path, known):
    program = "for n in range(2):\n    if {}:\n        nn.Linear(8, 2)(torch.zeros(2, 9))"
    assert found(tmp_path, program.format(known), {}) == ["nn.Linear(8, 2)(torch.zeros(2, 9))"]
    assert found(tmp_path, program.format(f"not ({known})"), {}) == []


def test_nobody_knows_what_is_on_the_disk(tmp_path):
    program = (
        "for file in sorted(Path('data').glob('*.txt')):\n    for line in file.read_text().split():\n        print(line)\n"
        "root = Path.home() / 'data'\nif not root.exists():\n    raise SystemExit\nroot.nothing_known(3).x\n"
        "n = len(list(root.iterdir()))\nPath('a').write_text('b')\ntorch.zeros(n)[3]"
    )
    assert found(tmp_path, program, {}) == []


def test_settings_are_read_by_attribute(tmp_path):
    program = "c = OmegaConf.load('c.yaml')\nfor one in c.model.layers:\n    nn.Linear(c.model.width, one.out)(torch.zeros(1, 9))"
    assert found(tmp_path, program, {"c.yaml": YAML}) == ["nn.Linear(c.model.width, one.out)(torch.zeros(1, 9))"]


@pytest.mark.parametrize(
    "files",
    [{}, {"a/c.yaml": "width: 9"}, {"c.yaml": "width: &w 9"}, {"c.yaml": "width: 9\n", "sub/c.yaml": "width: 8\n"}],
)
def test_what_is_not_there_or_not_plain_is_unknown(tmp_path, files):
    program = "c = yaml.safe_load(open('c.yaml'))\nnn.Linear(c['width'], 2)(torch.zeros(1, 8))"
    assert found(tmp_path, program, files, "sub/train.py") == []


def test_a_file_behind_a_link_is_not_read(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    (inside / ".git").mkdir(parents=True)
    outside.mkdir()
    (outside / "c.yaml").write_text("width: 9")
    os.symlink(outside / "c.yaml", inside / "c.yaml")
    os.symlink(outside, inside / "d")
    for name in ("c.yaml", "d/c.yaml", "../outside/c.yaml", str(outside / "c.yaml")):
        program = f"c = yaml.safe_load(open({name!r}))\nnn.Linear(c['width'], 2)(torch.zeros(1, 8))"
        assert found(inside, program, {}) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "a: 1\nb: -2.5\nc: true\nd: no\ne: ~\nf: word of two\ng: 'q: r'\n",
            [1, -2.5, True, False, None, "word of two", "q: r"],
        ),
        ("a:\n- 1\n- 2\nb:\n  - x: 1\n    y: 2\n  - x: 3\n", [[1, 2], [{"x": 1, "y": 2}, {"x": 3}]]),
        ("---\na: {b: 1, c: [2, 3]}\nd: [[1, 2], [3]]\n", [{"b": 1, "c": [2, 3]}, [[1, 2], [3]]]),
        ("a: path/to/file.txt # where\nb:\nc: 'a # b'\n", ["path/to/file.txt", None, "a # b"]),
        ('a:\n  b:\n    c: "x"\n\n# end\nd: 0\n', [{"b": {"c": "x"}}, 0]),
        ("a: {b c  : 1}\nd:\n  e-f . :  2\n", [{"b c": 1}, {"e-f .": 2}]),
    ],
)
def test_plain_yaml_is_read(text, value):
    assert list(plain_yaml.load(text).values()) == value


@pytest.mark.parametrize(
    "value", ["1e-3", "010", "1:30", "2020-01-01", "&x 1", "*x", "!tag 1", "|", ".5", "1_000", "${a}", ">-", ".inf"]
)
def test_what_readers_take_differently_is_unknown(value):
    assert isinstance(plain_yaml.load(f"a: {value}\n")["a"], Unknown)


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2\n",
        "a: 1\n---\nb: 2\n",
        "\ta: 1\n",
        "a: [1, 2\n",
        "a:\n   b: 1\n  c: 2\n",
        "<<: *x\nb: 1\n",
        "[" * 99,
        "a:\n" * 1 + "".join(" " * i + "k:\n" for i in range(1, 40)),
    ],
)
def test_a_text_that_is_not_plain_is_unknown(text):
    assert isinstance(plain_yaml.load(text), Unknown)


@pytest.mark.parametrize(
    ("save", "load"),
    [
        ("np.save(folder / 'a.npy', x)", "np.load(folder / 'a.npy')"),
        ("np.save(folder / 'a', x)", "np.load(str(folder / 'a.npy'))"),
        ("np.savez(folder / 'a.npz', x=x)", "np.load(folder / 'a.npz')['x']"),
        ("np.savez_compressed(str(folder / 'a'), x)", "np.load(folder / 'a.npz')['arr_0']"),
        ("np.save(folder / 'a', torch.zeros(9, 3))", "np.load(folder / 'a.npy')"),
        ("np.savez(folder / 'a', x=torch.zeros(9, 3))", "np.load(folder / 'a.npz')['x']"),
        ("np.savez(folder / 'a', x=[[0.0] * 3] * 9)", "np.load(folder / 'a.npz')['x'].astype(np.float32)"),
    ],
)
def test_what_numpy_saves_it_loads(tmp_path, save, load):
    program = (
        f"import numpy as np\nfolder = Path(tempfile.mkdtemp())\nx = np.random.rand(9, 3).astype(np.float32)\n{save}\n"
        f"nn.Linear({{}}, 2)(torch.from_numpy({load}))"
    )
    assert found(tmp_path, program.format(3), {}) == []
    assert found(tmp_path, program.format(4), {}) == [f"nn.Linear(4, 2)(torch.from_numpy({load}))"]
    elsewhere = program.replace("torch.from_numpy(np.load(", "torch.from_numpy(np.load('b' + ").replace("folder / ", "")
    assert found(tmp_path, elsewhere.format(4), {}) == []
