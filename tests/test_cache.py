"""What is remembered from run to run, what makes it void, and where it is written."""

import os
import subprocess
import sys
import time
from random import Random
from types import SimpleNamespace

import msgspec
import pytest
from samples import BAD, MODEL, USER, found

import torchlint
from torchlint import cache_files as files
from torchlint.cache import NOTHING, Cache, CachePart, Entry, judges_of
from torchlint.config import Settings
from torchlint.config_file import Configurations
from torchlint.frontends.summary import statistics
from torchlint.reports import FORMATS, load
from torchlint.run import Run, check

pytestmark = pytest.mark.usefixtures("alone")
PLAIN = Settings(dry_run=False)


@pytest.fixture
def old(tree, monkeypatch):
    """Like `tree`, with files old enough to be trusted by their times: runs begin a second later than they do."""
    monkeypatch.setattr("torchlint.run.time", SimpleNamespace(time=lambda: time.time() + 1))
    return tree


def cached(paths=(".",), settings=PLAIN) -> tuple[int, list[str]]:
    result = check(paths, settings)
    return result.statistics.cached, found(result)


def test_what_did_not_change_comes_from_the_cache(old):
    old({"a.py": BAD, "b.py": "x = 1\n"})
    assert cached() == (0, ["a.py:5:TL101"])
    assert cached() == (2, ["a.py:5:TL101"])


def test_a_cached_file_is_not_even_read(old, monkeypatch):
    old({"a.py": BAD})
    cached()
    monkeypatch.setattr("torchlint.cache.read", lambda path: pytest.fail(f"{path} was read"))
    assert cached() == (1, ["a.py:5:TL101"])


def test_a_file_that_was_touched_but_says_the_same_stays_cached(old):
    root = old({"a.py": BAD})
    cached()
    os.utime(root / "a.py", (1, 1))
    assert cached()[0] == 1


def test_a_manual_answers_no_question_about_programs(old):
    """Only who names a definition is asked of it, and there is none that is found to be wrong."""
    root = old({"train.py": "import torch\n\n\ndef fit(loss):\n    loss.backward()\n", "main.py": "import train\n"})
    (root / "README.md").write_text("x\n")
    cached()
    (root / "README.md").write_text("import train, then train.fit(loss)\n")
    assert cached() == (2, [])
    (root / "main.py").write_text("import train\ntrain.fit(loss)\n")
    assert cached() == (0, [])


def test_a_change_right_after_a_run_is_seen(tree):
    root = tree({"a.py": BAD})
    for text in (BAD, BAD.replace("softmax(", "sigmoid("), BAD):
        (root / "a.py").write_text(text)
        os.utime(root / "a.py", ns=(10**18, 10**18))
        assert cached()[1] == (["a.py:5:TL101"] if text == BAD else [])


def test_settings_have_caches_of_their_own(old):
    old({"a.py": BAD})
    cached()
    assert cached(settings=Settings(dry_run=False, noqa=False)) == (0, ["a.py:5:TL101"])


def test_a_change_in_an_imported_file_is_seen(old):
    root = old({"model.py": MODEL.format(""), "train.py": USER})
    assert cached() == (0, [])
    assert cached() == (2, [])
    (root / "model.py").write_text(MODEL.format(".softmax(-1)"))
    assert cached() == (0, ["train.py:8:TL101"])
    (root / "model.py").unlink()
    assert cached()[1] == []


def test_a_script_is_run_for_what_it_starts_and_again_when_that_changes(old):
    pytest.importorskip("torch")
    net = "import torch\n\n\ndef show(width):\n    print(torch.nn.Linear(8, 2)(torch.zeros(4, width)))\n"
    main = "from net import show\n\nif __name__ == '__main__':\n    show(9)\n    show.width\n    [][1]\n"
    other = "from words import show\n\nif __name__ == '__main__':\n    show(9)\n"
    old({"net.py": net, "main.py": main, "other.py": other, "words.py": "show = print\n"})
    assert cached(settings=Settings()) == (0, ["main.py:4:TL901"])
    assert cached(settings=Settings()) == (4, ["main.py:4:TL901"])
    old({"net.py": net.replace("8, 2", "9, 2")})
    assert cached(settings=Settings()) == (2, [])
    old({"words.py": f"import torch\n{net}"})
    assert cached(settings=Settings()) == (2, ["other.py:4:TL901"])
    assert check(["."], Settings()).statistics.skipped == 0
    assert check(["."], PLAIN).statistics.skipped == 2


def test_an_import_that_appears_is_seen(old):
    root = old({"train.py": USER})
    assert cached() == (0, [])
    (root / "model.py").write_text(MODEL.format(".softmax(-1)"))
    assert cached()[1] == ["train.py:8:TL101"]


def test_a_change_in_the_file_that_uses_training_code_is_seen(old):
    step = "import torch\n\ndef step(out, y, criterion):\n    loss = criterion(out, y)\n    loss.backward()\n"
    use = "import torch\nfrom engine import step\n\nstep(torch.softmax(x, 1), y, torch.nn.{}())\n"
    root = old({"engine.py": step, "main.py": use.format("CrossEntropyLoss")})
    assert cached() == (0, ["engine.py:4:TL101"])
    assert cached() == (2, ["engine.py:4:TL101"])
    (root / "main.py").write_text(use.format("MSELoss"))
    assert cached() == (0, [])
    (root / "other.py").write_text(use.format("CrossEntropyLoss"))
    (root / "main.py").unlink()
    assert cached()[1] == ["engine.py:4:TL101"]


def test_a_run_over_one_file_keeps_what_is_known_of_the_others(old):
    old({"a.py": BAD, "b.py": BAD})
    cached()
    assert cached(["a.py"])[0] == 1
    assert cached()[0] == 2


def test_who_asks_which_files_mention_a_word_is_asked_again(old, monkeypatch):
    """No rule is needed to see it: a stand-in for the linter counts the files that mention a word."""
    from torchlint import linter
    from torchlint.finding import Finding, Span

    def lint(data, job):
        view = job.project.view(job.path)
        others = view.mentions("Net") if b"torch" in data else []
        return linter.Outcome(
            (Finding("TL999", "n", job.path, Span(len(others) + 1, 1, 1, 1), "m"),), consulted=view.consulted
        )

    root = old({"a.py": "import torch", "b.py": "Net()", "c.py": "pass"})
    monkeypatch.setattr(linter, "lint", lint)
    assert cached(["a.py"]) == (0, ["a.py:2:TL999"])
    assert cached(["a.py"]) == (1, ["a.py:2:TL999"])
    (root / "c.py").write_text("something else")
    assert cached(["a.py"]) == (1, ["a.py:2:TL999"])
    (root / "c.py").write_text("Net")
    assert cached(["a.py"]) == (0, ["a.py:3:TL999"])
    (root / "sub").mkdir()
    (root / "sub/d.py").write_text("Net")
    assert cached(["a.py"]) == (0, ["a.py:4:TL999"])
    (root / "b.py").unlink()
    assert cached(["a.py"]) == (0, ["a.py:3:TL999"])
    assert cached(["a.py"])[0] == 1


def test_who_asks_which_settings_there_are_is_asked_again(old, monkeypatch):
    from torchlint import linter
    from torchlint.finding import Finding, Span

    def lint(data, job):
        view = job.project.view(job.path)
        said = [view.document(path) for path in view.settings_files()] if b"torch" in data else []
        line = len("".join(said)) + 1
        return linter.Outcome((Finding("TL999", "n", job.path, Span(line, 1, 1, 1), "m"),), consulted=view.consulted)

    root = old({"a.py": "import torch", "one.yaml": "x: 1"})
    monkeypatch.setattr(linter, "lint", lint)
    assert cached(["a.py"]) == (0, ["a.py:5:TL999"])
    assert cached(["a.py"]) == (1, ["a.py:5:TL999"])
    (root / "one.yaml").write_text("x: 12")
    assert cached(["a.py"]) == (0, ["a.py:6:TL999"])
    (root / "sub").mkdir()
    (root / "sub/two.json").write_text("{}")
    assert cached(["a.py"]) == (0, ["a.py:8:TL999"])
    (root / "b.py").write_text("pass")
    assert cached(["a.py"]) == (1, ["a.py:8:TL999"])
    (root / "one.yaml").unlink()
    assert cached(["a.py"]) == (0, ["a.py:3:TL999"])


# Where it is written


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The user's cache folder, with nothing in it yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    return tmp_path / ".cache/torchlint"


def kept(folder) -> list:
    return sorted(folder.glob("torchlint-*"))


def everything(folder) -> dict[str, bytes | str]:
    """All files and links below a folder."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_the_cache_lies_in_the_users_folder_and_is_marked(old, place):
    root = old({"proj/a.py": BAD, "proj/.git/HEAD": ""})
    before = everything(root / "proj")
    cached(["proj"])
    assert everything(root / "proj") == before
    assert (place / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    assert (place / ".gitignore").read_text() == "*\n"
    assert len(kept(place)) == 1


def test_projects_do_not_share_a_cache_file_and_the_working_folder_does_not_matter(old, place, monkeypatch):
    root = old({"one/a.py": BAD, "one/.git/HEAD": "", "two/a.py": BAD, "two/.git/HEAD": ""})
    assert cached(["one"])[0] == cached(["two"])[0] == 0
    assert len(kept(place)) == 2
    monkeypatch.chdir(root / "one")
    assert cached(["."])[0] == cached(["../two"])[0] == 1


def test_many_folders_that_belong_to_no_project_share_a_cache_file(old, place):
    old({f"{name}/a.py": BAD for name in "abcdef"})
    cached()
    assert len(kept(place)) == 1 and cached()[0] == 6


def test_without_cache_nothing_is_written(old, place):
    old({"a.py": BAD})
    check(["."], PLAIN, cache=False)
    assert not place.exists()


def test_a_user_without_a_place_for_it_has_no_cache(old, tmp_path, monkeypatch):
    root = old({"a.py": BAD, "file": ""})
    monkeypatch.setenv("HOME", str(root / "nowhere"))
    for home in (str(root / "file"), str(root / "file/below"), ""):
        monkeypatch.setenv("XDG_CACHE_HOME", home)
        assert cached() == cached() == (0, ["a.py:5:TL101"])
    assert sorted(everything(root)) == ["a.py", "file"]


def test_a_relative_cache_home_is_not_valid(old, monkeypatch):
    """It would lie in the tree that is linted."""
    root = old({"a.py": BAD, "home/x": ""})
    monkeypatch.setenv("HOME", str(root / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", ".")
    cached()
    assert not (root / "torchlint").exists()


def named(folder) -> Settings:
    return Settings(dry_run=False, cache_dir=str(folder))


def test_a_named_folder_may_be_new_or_empty_or_a_cache(old, place):
    root = old({"a.py": BAD, "new/x": "", "empty/.gitignore": "mine"})
    (root / "new/x").unlink()
    for folder in ("absent/deep", "new", "empty"):
        cached(settings=named(root / folder))
        assert cached(settings=named(root / folder))[0] == 1
    assert not place.exists()
    assert (root / "empty/.gitignore").read_text() == "mine"


@pytest.mark.parametrize("content", ["x.txt", ".gitkeep", "CACHEDIR.TAG/x"])
def test_a_named_folder_that_holds_anything_else_is_left_alone(old, content):
    root = old({"a.py": BAD, f"folder/{content}": "mine"})
    before = everything(root)
    result = check(["."], named(root / "folder"))
    assert found(result) == ["a.py:5:TL101"]
    assert "--cache-dir is not used" in result.notices[0]
    assert everything(root) == before


def test_a_file_in_the_way_is_left_alone(old):
    root = old({"a.py": BAD, ".torchlint_cache": "a file is in the way"})
    assert cached(settings=named(root / ".torchlint_cache")) == (0, ["a.py:5:TL101"])
    assert (root / ".torchlint_cache").read_text() == "a file is in the way"


def test_old_entries_go_and_nothing_else(old, place):
    root = old({"a.py": BAD})
    cached()
    (entry,) = kept(place)
    others = [place / name for name in ("torchlint-1.msgpack", "notes.msgpack", f"torchlint-{'0' * 24}.msgpack.bak")]
    gone = [place / f"torchlint-{'0' * 24}.msgpack", place / f".torchlint-{'0' * 16}.tmp"]
    (place / f"torchlint-{'1' * 24}.msgpack").symlink_to(root / "a.py")
    (place / f"torchlint-{'2' * 24}.msgpack").mkdir()
    for path in (entry, *others, *gone):
        path.touch()
        os.utime(path, (1, 1))
    os.utime(place / f"torchlint-{'1' * 24}.msgpack", (1, 1), follow_symlinks=False)
    cached(settings=Settings(dry_run=False, noqa=False))
    assert not any(path.exists() for path in (entry, *gone))
    assert all(path.exists() for path in others)
    assert (place / f"torchlint-{'1' * 24}.msgpack").is_symlink() and (place / f"torchlint-{'2' * 24}.msgpack").is_dir()


# What a tree may try, if the user puts the cache into it


def lead(root, link: str, target: str) -> None:
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(target, target_is_directory=True)


@pytest.fixture
def outside(tmp_path_factory):
    """What belongs to the user: a file, an empty folder, a full one, and a folder with old files that look like a
    cache's.
    """
    outside = tmp_path_factory.mktemp("outside")
    (outside / "empty").mkdir()
    for name in ("precious", "full/x", f"old/torchlint-{'0' * 24}.msgpack", "old/deadbeef.msgpack"):
        (outside / name).parent.mkdir(exist_ok=True)
        (outside / name).write_text("precious")
        os.utime(outside / name, (1, 1))
    return outside


@pytest.mark.parametrize("git", [True, False])
@pytest.mark.parametrize("link", ["cache", "cache/0.1.0", "cache/.gitignore", "cache/CACHEDIR.TAG", "up"])
@pytest.mark.parametrize("target", ["precious", "empty", "full", "old", "absent"])
def test_no_link_in_a_tree_leads_the_cache_out_of_it(old, outside, git, link, target):
    root = old({"proj/a.py": BAD, **({"proj/.git/HEAD": ""} if git else {})})
    lead(root, f"proj/{link}", str(outside / target))
    before = everything(outside)
    folder = root / "proj" / ("up/cache" if link == "up" else "cache")
    assert cached(["proj"], named(folder)) == (0, ["proj/a.py:5:TL101"])
    cached(["proj"], named(folder))
    assert everything(outside) == before and sorted(path.name for path in outside.iterdir()) == [
        "empty",
        "full",
        "old",
        "precious",
    ]


def test_a_link_of_the_users_own_is_followed(old, outside):
    """On many machines ~/.cache is a link to a larger disk."""
    root = old({"proj/a.py": BAD})
    lead(root, "home/.cache", str(outside / "empty"))
    for _ in range(2):
        known = cached(["proj"], named(root / "home/.cache/torchlint"))
    assert known == (1, ["proj/a.py:5:TL101"])


# What is not as it was written


def test_a_damaged_cache_is_as_none(old, place):
    root = old({"a.py": BAD, "train.py": USER, "model.py": MODEL.format(".softmax(-1)")})
    want = cached()[1]
    (file,) = kept(place)
    good = file.read_bytes()
    random = Random(1)
    damaged = [b"", b"\xc1", b"\x81\xa1a\x01", good + b"\0", good[1:]]
    damaged += [good[: random.randrange(len(good))] for _ in range(6)]
    for _ in range(12):
        at = random.randrange(len(good))
        damaged.append(good[:at] + bytes([good[at] ^ 1 << random.randrange(8)]) + good[at + 1 :])
    for content in damaged:
        file.write_bytes(content)
        assert cached() == (0, want), content
    assert cached() == (3, want)
    file.unlink()
    os.mkfifo(file)
    assert cached() == (0, want)
    assert everything(root).keys() >= {"a.py"}


DEEP = msgspec.Raw(b"\x91" * 100_000 + b"\x90")
LONG = [msgspec.Raw(head + b"\xff" * 4) for head in (b"\xdd", b"\xdf", b"\xdb", b"\xc6")]
WRONG = [
    None,
    "x",
    -1,
    2**63,
    1.5,
    [],
    {},
    [["x"]],
    {"x": {"x": {"x": 1}}},
    b"\xff",
    msgspec.Raw(b"\xa2\xff\xff"),
    DEEP,
    *LONG,
]


def test_what_is_written_wrongly_at_any_place_does_not_end_a_run(old, place):
    """Whoever wrote it knew how to sign it."""

    def places(value, path=()):
        yield path
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            yield from places(value[key], (*path, key))

    def changed(value, path, new):
        if not path:
            return new
        value = value.copy()
        value[path[0]] = changed(value[path[0]], path[1:], new)
        return value

    old({"a.py": BAD})
    want = cached()[1]
    (file,) = kept(place)
    good = msgspec.msgpack.decode(files.read(str(file)))
    random = Random(2)
    for path in places(good):
        files.write(str(file), msgspec.msgpack.encode(changed(good, path, random.choice(WRONG))), ())
        result = check(["."], PLAIN)
        assert len(found(result)) <= 1
        for style in FORMATS:
            load(style)(result, PLAIN, lambda text: None, color=False)
    files.write(str(file), msgspec.msgpack.encode(changed(good, (), DEEP)), ())
    assert cached() == (0, want)


def test_two_runs_at_once_leave_a_sound_cache(old, place):
    root = old({f"{name}.py": BAD for name in "abcdefgh"})
    words = [sys.executable, "-m", "torchlint", "check", "--no-dry-run", "--exit-zero", "--isolated", str(root)]
    runs = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [run.wait() for run in runs] == [0] * 3
    (file,) = kept(place)
    assert files.read(str(file))


def test_a_second_cache_is_read_and_never_written(old, place, tmp_path, monkeypatch):
    root = old({"a.py": BAD, "b.py": "import torch\n"})
    cached()
    shared = tmp_path / "shared"
    place.rename(shared)
    before = {path.name: path.read_bytes() for path in shared.iterdir()}
    (root / "b.py").write_text("import torch  # changed\n")

    def run():
        result = Run(["."], Configurations(settings=PLAIN), cache_from=str(shared)).check()
        return result.statistics.cached, found(result)

    os.utime(root / "a.py", (1, 1))  # as in a fresh checkout
    assert run() == (1, ["a.py:5:TL101"])
    assert {path.name: path.read_bytes() for path in shared.iterdir()} == before
    assert cached() == (2, ["a.py:5:TL101"])  # now our own knows it all
    next(shared.glob("*.msgpack")).write_bytes(b"no cache")
    assert run() == (2, ["a.py:5:TL101"])


@pytest.mark.parametrize(
    ("options", "said"), [(("--no-cache",), "cannot be combined with --no-cache"), ((), "nowhere: no such folder")]
)
def test_a_second_cache_that_cannot_be_is_one_line(tree, options, said):
    tree({"a.py": BAD})
    command = [sys.executable, "-m", "torchlint", "check", "--cache-from", "nowhere", *options, "a.py"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


def test_the_same_torchlint_installed_twice_shares_a_cache(tmp_path, monkeypatch):
    named = []
    for number, when in enumerate((1_000, 2_000)):
        package = tmp_path / str(number) / "torchlint"
        package.mkdir(parents=True)
        for name in ("__init__.py", "linter.py"):
            (package / name).write_text("x = 1\n")
            os.utime(package / name, (when, when))
        info = package.parent / f"torchlint-{torchlint.__version__}.dist-info"
        info.mkdir()
        (info / "RECORD").write_text(
            "".join(f"torchlint/{name},sha256=abc,6\n" for name in ("__init__.py", "linter.py"))
        )
        monkeypatch.setattr(torchlint, "__file__", str(package / "__init__.py"))
        named.append(judges_of(()))
    assert named[0] == named[1]
    (package / "linter.py").write_text("x = 1000\n")  # somebody tries something out
    assert judges_of(()) != named[1]


@pytest.mark.parametrize("at, what", [(1, ["00", None]), (2, ["x"]), (3, 5)])
def test_a_path_that_is_none_is_as_good_as_a_changed_one(old, place, at, what):
    old({"a.py": BAD})
    want = cached()[1]
    (file,) = kept(place)
    good = msgspec.msgpack.decode(files.read(str(file)))
    for part in good.values():
        part += [{}] * (at + 1 - len(part))
        part[at] = {**part[at], "/no\0where": what}
    files.write(str(file), msgspec.msgpack.encode(good), ())
    assert cached()[1] == want


@pytest.mark.parametrize("field", ["code", "name"])
def test_no_cache_names_a_rule_that_a_terminal_would_obey(old, place, field):
    old({"a.py": BAD})
    cached()
    (file,) = kept(place)
    good = msgspec.msgpack.decode(files.read(str(file)))
    for part in good.values():
        for entry in part[0].values():
            for finding in entry[1]:
                finding[field] = "\x1b[31mTL105"
    files.write(str(file), msgspec.msgpack.encode(good), ())
    said = []
    load("concise")(check(["."], PLAIN), PLAIN, said.append, color=False)
    assert "a.py" in "".join(said) and "\x1b" not in "".join(said)


@pytest.mark.parametrize(
    ("at", "counts"),
    [(8, [{"modules": 1}, {"modules": {"a": 1}}]), (8, [{"reasons": 5}, {}]), (10, [{"\x1b[31mTL105": 1}, {}])],
)
def test_counts_that_nobody_counts_so_are_none(old, place, at, counts):
    old({"a.py": BAD, "b.py": BAD})
    want = cached()[1]
    (file,) = kept(place)
    good = msgspec.msgpack.decode(files.read(str(file)))
    for part in good.values():
        for entry, wrong in zip(part[0].values(), counts):
            entry[at] = wrong
    files.write(str(file), msgspec.msgpack.encode(good), ())
    result = check(["."], PLAIN)
    assert found(result) == want
    assert "\x1b" not in statistics(result, PLAIN, verbose=True)


def test_who_asks_for_a_path_that_no_file_has_is_linted_all_the_same(old):
    pytest.importorskip("torch")
    asks = "import importlib, torch\nopen('\\ud800.yaml')\nimportlib.import_module('\\ud800')\n"
    old({"a.py": asks + BAD})
    for times in range(2):
        assert cached(settings=Settings()) == (times, ["a.py:8:TL101"])


@pytest.mark.parametrize("count, is_read, kept", [(3, True, ["d"]), (101, False, None)])
def test_files_that_were_missing_are_not_all_read_if_there_are_many(tmp_path, monkeypatch, count, is_read, kept):
    """A cache of somebody else may say that any folder's files were."""
    names = [f"f{number}" for number in range(count)]
    for name in names:
        (tmp_path / name).write_text("x")
    part = CachePart({"a": Entry("", NOTHING)}, missing={str(tmp_path): [*names, "d"]})
    looked: list[str] = []
    monkeypatch.setattr("torchlint.cache.read", lambda path: looked.append(path) or b"")
    changed = Cache("", 0)._changed(part, {})
    paths = {str(tmp_path / name) for name in names}
    assert (changed == paths, set(looked) == paths, "a" in part.entries) == (is_read, is_read, is_read)
    assert part.missing.get(str(tmp_path)) == kept
