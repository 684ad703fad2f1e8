"""Which file an import names, and what a file's window on its project remembers."""

from __future__ import annotations

import os
import time

import pytest

from torchlint.project import NotText, Project, decode
from torchlint.source.answers.generators_made import _makers_in
from torchlint.source.text.sketch import sketch


@pytest.mark.parametrize(
    "importer, module, level, found",
    [
        ("main.py", "model", 0, "model.py"),
        ("main.py", "pkg", 0, "pkg/__init__.py"),
        ("main.py", "pkg.net", 0, "pkg/net.py"),
        ("main.py", "pkg.space.deep", 0, "pkg/space/deep.py"),  # a folder without __init__.py
        ("main.py", "pkg.space", 0, None),
        ("main.py", "lib.tool", 0, "src/lib/tool.py"),
        ("pkg/net.py", "other", 1, "pkg/other.py"),
        ("pkg/net.py", "", 1, "pkg/__init__.py"),
        ("pkg/space/deep.py", "net", 2, "pkg/net.py"),
        ("pkg/net.py", "model", 0, "model.py"),
        ("pkg/net.py", "other", 0, "pkg/other.py"),  # beside it, as for a script
        ("part/nets/net.py", "nets.heads.linear", 0, "part/nets/heads/linear.py"),  # as a script in `part` finds it
        ("part/nets/heads/linear.py", "nets.net", 0, "part/nets/net.py"),
        ("part/nets/heads/linear.py", "model", 0, "model.py"),  # the project's comes first
        ("pkg/net.py", "nets.net", 0, None),  # which lies elsewhere
        ("main.py", "absent", 0, None),
        ("main.py", "types", 0, None),  # the standard library is never hidden
        ("main.py", "torch", 0, None),  # nor is torch
        ("main.py", "x" * 5000, 0, None),
    ],
)
def test_an_import_names_a_file(tree, importer, module, level, found):
    names = "main.py model.py types.py torch.py pkg/__init__.py pkg/net.py pkg/other.py pkg/space/deep.py src/lib/tool.py".split()
    names += "part/nets/net.py part/nets/heads/linear.py part/model.py".split()
    folder = tree(dict.fromkeys(names, "x = 1\n"))
    path = Project(folder).view(folder / importer).resolve(module, level)
    assert path == (str(folder / found) if found else None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import lpips\n", None),
        ("import torch\nfrom lpips import LPIPS as Net\n", None),
        ("try:\n    import lpips as net  # the library\nexcept ImportError:\n    pass\n", None),
        ("import lpips.nets\n", None),
        ("import lpips_more\nfrom .lpips import net\n", "pkg/lpips.py"),
        ("x = 'import lpips'\n", "pkg/lpips.py"),
    ],
)
def test_a_file_that_imports_what_it_is_called_is_not_meant_by_that(tree, text, found):
    folder = tree({"pkg/lpips.py": text, "pkg/__init__.py": "import pkg\n", "pkg/fid.py": "import lpips\n"})
    view = Project(folder).view(folder / "pkg/fid.py")
    assert view.resolve("lpips") == (str(folder / found) if found else None)
    assert os.path.basename(view.resolve("lpips", 1)) == "lpips.py"
    assert os.path.basename(view.resolve("pkg.lpips")) == "lpips.py"
    assert os.path.basename(view.resolve("pkg")) == "__init__.py"


def test_what_was_asked_is_remembered_with_what_was_not_there(tree):
    folder = tree({"main.py": "", "model.py": "x = 1\n"})
    view = Project(folder).view(folder / "main.py")
    view.read(view.resolve("model"))
    view.resolve("absent")
    consulted = {os.path.relpath(path, folder): digest for path, digest in view.consulted.items()}
    assert consulted["absent.py"] == "missing" and consulted["model.py"] not in ("missing", "")


def test_unsaved_text_wins_over_the_disk(tree):
    folder = tree({"model.py": "x = 1\n"})
    project = Project(folder, overlay={str(folder / "model.py"): "x = 2\n"})
    assert project.view(folder / "main.py").read(str(folder / "model.py")) == "x = 2\n"


@pytest.mark.parametrize(
    "data, text",
    [
        (b"x = 1\n", "x = 1\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"# coding: latin-1\nx = '\xe9'\n", "# coding: latin-1\nx = '\u00e9'\n"),
        (b"x = 1\r\ny = 2\r", "x = 1\r\ny = 2\r"),
        (b"", ""),
    ],
)
def test_bytes_become_text(data, text):
    assert decode(data) == text


@pytest.mark.parametrize(
    "data",
    [
        b"x = '\xe9'\n", b"# coding: nothing-known\n", b"\xef\xbb\xbf# coding: latin-1\n", b"# coding: undefined\n", b"# coding: zlib\n",
        b"# coding: punycode\n#-" + b"a" * 10**6,
    ],
)  # fmt: skip
def test_bytes_that_are_no_text(data):
    with pytest.raises(NotText):
        decode(data)


def test_mentions_are_whole_words_in_other_files(tree):
    folder = tree({"main.py": "net\n", "a.py": "import net\n", "b.py": "networks\n", "build/c.py": "net\n"})
    assert Project(folder).view(folder / "main.py").mentions("net") == [str(folder / "a.py")]


def test_users_import_the_file_or_the_name_and_mention_it(tree):
    folder = tree(
        {
            "pkg/__init__.py": "from .engine import train\n",
            "pkg/engine.py": "def train(): ...\n",
            "main.py": "from pkg import (\n    other,\n    train,\n)\n",
            "run.py": "import pkg.engine\npkg.engine.train()\n",
            "apart.py": "import torch\ntrain = 1\n",
            "idle.py": "import pkg.engine\n",
            "talk.py": "# import train\ntrain = 1\n",
        }
    )
    new = str(folder / "new.py")
    view = Project(folder, overlay={new: "from pkg.engine import train\n"}).view(folder / "idle.py")
    users = view.users(str(folder / "pkg/engine.py"), "train")
    assert [os.path.relpath(path, folder) for path in users] == ["main.py", "new.py", "pkg/__init__.py", "run.py"]


def test_a_new_unsaved_file_is_found_although_it_was_missing_before(tmp_path):
    project = Project(tmp_path)
    path = str(tmp_path / "a.py")
    assert project.view(path).resolve("b") is None
    project.overlay = {str(tmp_path / "b.py"): "x = 1"}
    assert project.view(path).resolve("b") == str(tmp_path / "b.py")
    project.overlay = {}
    assert project.view(path).resolve("b") is None


def test_what_was_looked_up_before_counts_as_consulted_by_each_file(tmp_path):
    project = Project(tmp_path)
    for name in ("a.py", "c.py"):
        view = project.view(str(tmp_path / name))
        assert view.resolve("b") is None
        assert view.consulted[str(tmp_path / "b.py")] == "missing"


def test_an_unsaved_text_wins_over_what_was_read_of_it_before(tmp_path):
    (tmp_path / "b.py").write_text("softmax")
    project = Project(tmp_path)
    path = str(tmp_path / "b.py")
    assert project.contains(path, "softmax") and project.view("a.py").read(path) == "softmax"
    project.overlay = {path: "relu"}
    assert not project.contains(path, "softmax") and project.view("a.py").read(path) == "relu"


def test_who_imports_a_file_of_that_name_beside_it_means_that_one(tree):
    text = "from model import Net\nNet()\n"
    folder = tree({f"{name}/train.py": text for name in ("first", "second")})
    tree({f"{name}/model.py": "class Net:\n    pass\n" for name in ("first", "second")})
    (folder / "first" / "other.py").write_text("from second.model import Net\n")
    (folder / "above.py").write_text(text)
    view = Project(folder).view(str(folder / "second/model.py"))
    users = view.users(str(folder / "second/model.py"), "Net")
    assert [os.path.relpath(path, folder) for path in users] == ["above.py", "first/other.py", "second/train.py"]


def test_bases_are_found_behind_comments_and_type_parameters(tmp_path):
    (tmp_path / "a.py").write_text("class A(\n    Mixin,  # note: first\n    Net,\n):\n    pass\n")
    (tmp_path / "b.py").write_text("class B[T](Net):\n    pass\n")
    assert Project(tmp_path).deriving("Net") == [str(tmp_path / "a.py"), str(tmp_path / "b.py")]


@pytest.mark.parametrize(
    "text, calls",
    [
        ("make(1)", True),
        ("x = tools.make \\\n  (1)", True),
        ("(make)(1)", True),
        ("(  # says why)\n    make  # and here (\n)(1)", True),
        ("class B(make):\n    pass", False),
        ("from tools import make\nx = make", False),
        ("other(1)", False),
    ],
)
def test_a_file_seems_to_call_what_a_bracket_opens_behind(text, calls, tmp_path):
    (tmp_path / "a.py").write_text(text)
    assert Project(tmp_path).seems_to_call(str(tmp_path / "a.py"), "make") is calls


def test_comments_that_name_a_function_are_read_once(tmp_path):
    (tmp_path / "a.py").write_text("# make\n" * 30_000)
    started = time.process_time()
    assert not Project(tmp_path).seems_to_call(str(tmp_path / "a.py"), "make")
    assert time.process_time() - started < 5


def test_the_first_line_of_a_file_counts(tmp_path):
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text("from .nets import Net, Head\nfrom nets import Net\n")
    second.write_text("async def Net(): pass\nclass Head: pass\n")
    project = Project(tmp_path)
    assert project.imports_of(str(first), "Net") == [("nets", 1), ("nets", 0)]
    assert project.imports_plainly(str(first), "nets") and not project.imports_plainly(str(second), "nets")
    assert project.defines(str(second), "Net") and project.defines(str(second), "Head")
    assert not project.defines(str(first), "Net")


def test_a_sketch_shows_what_begins_a_file_and_what_texts_name(tmp_path):
    path = tmp_path / "run.py"
    path.write_text(
        'def first():\n    """It says: \\"""train.py\\""" and\ndef none():\n    """\n\n\n'
        "class Net:\n    def step(self):\n        return self.step, self.size\n\n\n"
        'PLACES = "nets/deep.py"  # other/thing.py\n'
        "getattr(self, name)\n"
    )
    seen = sketch(Project(tmp_path), str(path))
    assert [piece.name for piece in seen.pieces] == ["first", "Net", "", ""]
    assert b"size" in seen.pieces[1].words and b"step" not in seen.pieces[1].words
    assert seen.places == {b"nets/deep", b"/nets", b"deep/py", b"deep"}
    assert seen.homes == {"self"}


def test_what_gives_parameters_is_found_by_its_own_name_too(tmp_path):
    path = tmp_path / "tools.py"
    path.write_text("def named_parameters(net): ...\ndef plain(): ...\ndef taken(net): return net.buffers()\n")
    assert _makers_in(Project(tmp_path), str(path)) == {"named_parameters", "taken"}


def test_the_root_of_the_machine_is_no_project(monkeypatch):
    looked = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: looked.append(folder) or scan(folder))
    project = Project(os.sep)
    for look in (project.files, project.documents, project.settings_files):
        look()
    assert set(looked) == {os.sep}
