"""`torchlint clean`: removes the files that torchlint wrote, one by one, where the user says, and nothing else
anywhere.
"""

import os

import pytest
from samples import BAD

pytestmark = pytest.mark.usefixtures("alone")
TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds the cache of torchlint.\n"
OURS = f"torchlint-{'0' * 24}.msgpack"
OLD = f"0.1.0/{'a' * 24}.msgpack"


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """A user with a cache folder of his own, and with things that nobody may touch."""
    home = tmp_path_factory.mktemp("home")
    for name in ("precious", "docs/x", ".cache/other/x"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("precious")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    return home


def everything(folder) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_what_a_run_has_written_is_gone_afterwards(tree, run, home):
    root = tree({"a/x.py": BAD})
    before = everything(root), everything(home)
    run("a")
    assert (home / ".cache/torchlint").is_dir()
    code, _, err = run("clean")
    assert code == 0 and err.count("Removed the cache in") == 1
    assert (everything(root), everything(home)) == before
    assert run("clean") == (0, "", "")


def test_a_named_folder_is_cleaned_instead(tree, run, home):
    root = tree({"x.py": BAD})
    run("x.py")
    run("x.py", "--cache-dir", "mine")
    assert run("clean", "--cache-dir", "mine")[0] == 0
    assert not (root / "mine").exists() and (home / ".cache/torchlint").exists()


def test_old_caches_below_the_working_folder_are_cleaned(tree, run):
    root = tree(
        {
            f"{folder}/.torchlint_cache/{name}": text
            for folder in ("a", "a/b")
            for name, text in (("CACHEDIR.TAG", TAG), (".gitignore", "*\n"), (OLD, "x"))
        }
    )
    assert run("clean")[0] == 0
    assert everything(root) == ["a", "a/b"]


MINE = [
    "x.txt",
    "notes.msgpack",
    f"{OURS}.bak",
    "0.1.0/x",
    f"0.1.0/{'a' * 23}.msgpack",
    "old/x",
    f"src/{'a' * 24}.msgpack",
    f"{OURS}/x",
    f"0.1.0/{'b' * 24}.msgpack/x",
]


@pytest.mark.parametrize("tag", [{"CACHEDIR.TAG": TAG}, {}])
@pytest.mark.parametrize("mine", MINE)
def test_what_is_not_ours_stays(tree, run, mine, tag):
    """Even in a folder that carries our mark, which any tree can."""
    files = {**tag, mine: "mine", ".gitignore": "*\n!mine\n"}
    root = tree({f".torchlint_cache/{name}": text for name, text in files.items()})
    run("clean")
    run("clean", "--cache-dir", ".torchlint_cache")
    assert (root / ".torchlint_cache" / mine).read_text() == "mine"
    assert (root / ".torchlint_cache/.gitignore").read_text() == "*\n!mine\n"


@pytest.mark.parametrize("folder", ["..", "../sibling", "~", "${HOME}", "~/docs", ".", "src"])
def test_where_a_project_points_nothing_is_written_and_nothing_removed(tree, run, home, monkeypatch, folder):
    root = tree(
        {
            "project/torchlint.toml": f'cache-dir = "{folder}"',
            "project/src/x.py": BAD,
            "sibling/precious": "",
            f"sibling/{OURS}": "",
            "sibling/CACHEDIR.TAG": TAG,
        }
    )
    monkeypatch.chdir(root / "project")
    before = everything(root), [name for name in everything(home) if "torchlint" not in name]
    run(".")
    assert run("clean")[0] == 0
    assert (everything(root), [name for name in everything(home) if "torchlint" not in name]) == before


@pytest.mark.parametrize(
    "link",
    [".torchlint_cache", ".torchlint_cache/0.1.0", f".torchlint_cache/{OURS}", ".torchlint_cache/CACHEDIR.TAG", "x"],
)
def test_links_are_not_followed(tree, run, home, link):
    root = tree({"x.py": BAD})
    for name in (OURS, OLD, "CACHEDIR.TAG", ".torchlint_cache/" + OURS):
        (home / "docs" / name).parent.mkdir(exist_ok=True)
        (home / "docs" / name).write_text(TAG)
    if link.startswith(".torchlint_cache/") and "TAG" not in link:
        tree({".torchlint_cache/CACHEDIR.TAG": TAG})
    (root / link).parent.mkdir(exist_ok=True)
    target = home / "docs" / os.path.basename(link)
    (root / link).symlink_to(target if target.exists() else home / "docs")
    before = everything(home)
    assert run("clean")[0] == 0
    assert everything(home) == before and (root / link).is_symlink()


def test_a_folder_that_is_named_is_not_left_through_a_link(tree, run, home):
    """The user means a folder of the project; whoever made the project may mean another cache, or one of an older
    version.
    """
    root = tree({"x.py": BAD})
    run("x.py")
    before = everything(home)
    (root / ".torchlint_cache").symlink_to(home / ".cache/torchlint")
    code, _, err = run("clean", "--cache-dir", ".torchlint_cache")
    assert code == 2 and "a link leads from there out of the project" in err
    assert everything(home) == before


def test_a_project_that_cannot_be_configured_can_be_cleaned(tree, run):
    root = tree({"torchlint.toml": "selct = 3", f".torchlint_cache/{OURS}": "", ".torchlint_cache/CACHEDIR.TAG": TAG})
    assert run("clean")[0] == 0
    assert everything(root) == ["torchlint.toml"]


def test_the_users_own_configuration_says_where(tree, run, tmp_path):
    root = tree(
        {".home/torchlint/torchlint.toml": 'cache-dir = "mine"', "project/torchlint.toml": "", "project/x.py": BAD}
    )
    run("project")
    assert (root / "mine").is_dir()
    assert run("clean")[0] == 0
    assert not (root / "mine").exists()
