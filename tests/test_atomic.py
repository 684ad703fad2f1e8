"""How files are written: whole or not at all, as the files they were, and never through a link that leads out of a
tree.
"""

import os
import stat
import subprocess
import sys

import pytest

from torchlint.atomic import write

OLD, NEW = b"old " * 50_000, b"new!" * 60_000


@pytest.fixture
def here(tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/a").write_bytes(OLD)
    (tmp_path / "out").write_bytes(OLD)
    return tmp_path


def names(folder) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def refused(path, trees=()) -> str:
    before = {path: path.lstat().st_mtime_ns for path in path.parent.rglob("*")}
    with pytest.raises(OSError) as error:
        write(str(path), NEW, trees)
    assert {path: path.lstat().st_mtime_ns for path in path.parent.rglob("*")} == before
    return error.value.strerror


def test_a_file_keeps_its_permissions_and_leaves_nothing_beside_it(here):
    file = here / "tree/a"
    for mode in (0o640, 0o755, 0o200):
        file.chmod(mode)
        write(str(file), NEW)
        assert stat.S_IMODE(file.stat().st_mode) == mode
    assert file.read_bytes() == NEW
    assert names(here) == ["out", "tree", "tree/a"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root has files of others")
def test_a_file_keeps_its_owner(here):
    os.chown(here / "tree/a", 12345, 54321)
    write(str(here / "tree/a"), NEW)
    status = (here / "tree/a").stat()
    assert (status.st_uid, status.st_gid) == (12345, 54321)


def test_a_file_keeps_its_attributes(here):
    try:
        os.setxattr(here / "tree/a", "user.origin", b"mine")
    except (AttributeError, OSError):
        pytest.skip("there are no attributes on this disk")
    write(str(here / "tree/a"), NEW)
    assert os.getxattr(here / "tree/a", "user.origin") == b"mine"


def test_a_new_file_has_the_usual_permissions(here):
    (here / "usual").touch()
    write(str(here / "new"), NEW)
    assert (here / "new").read_bytes() == NEW
    assert (here / "new").stat().st_mode == (here / "usual").stat().st_mode


def test_a_name_may_be_as_long_as_a_name_can_be(here):
    write(str(here / ("n" * 255)), NEW)
    write(str(here / ("n" * 255)), OLD)
    assert (here / ("n" * 255)).read_bytes() == OLD


def test_a_read_only_file_is_not_written(here):
    (here / "tree/a").chmod(0o444)
    assert refused(here / "tree/a") == "it is read-only"


def test_links_stay_links_and_names_of_one_file_stay_one_file(here):
    (here / "tree/link").symlink_to("a")
    (here / "tree/chain").symlink_to("link")
    os.link(here / "tree/a", here / "tree/b")
    write(str(here / "tree/chain"), NEW, [str(here / "tree")])
    assert os.readlink(here / "tree/link") == "a"
    assert (here / "tree/a").samefile(here / "tree/b")
    assert (here / "tree/b").read_bytes() == NEW
    write(str(here / "tree/b"), b"short")
    assert (here / "tree/a").read_bytes() == b"short"
    assert names(here / "tree") == ["a", "b", "chain", "link"]


@pytest.mark.parametrize("target", ["../out", "../absent", "{here}/out", "loop", "up/out", "/dev/null"])
def test_a_link_in_a_tree_does_not_lead_out_of_it(here, target):
    (here / "tree/up").symlink_to("..")
    (here / "tree/loop").symlink_to("loop")
    (here / "tree/link").symlink_to(target.format(here=here))
    refused(here / "tree/link", [str(here / "tree")])
    assert (here / "out").read_bytes() == OLD and not (here / "absent").exists()


def test_a_folder_in_a_tree_does_not_lead_out_of_it(here):
    (here / "tree/up").symlink_to("..")
    assert "leads from there out of the project" in refused(here / "tree/up/out", [str(here / "tree")])
    assert "leads from there out of the project" in refused(here / "tree/up/new", [str(here / "tree")])


def test_a_link_of_the_users_own_may_lead_anywhere(here):
    (here / "mine").symlink_to("out")
    (here / "entry").symlink_to("tree")
    write(str(here / "mine"), NEW, [str(here / "tree")])
    write(str(here / "entry/a"), NEW, [str(here / "entry"), str(here / "tree")])
    assert (here / "out").read_bytes() == (here / "tree/a").read_bytes() == NEW


def test_a_pipe_or_device_is_written_to_but_not_in_a_tree(here):
    os.mkfifo(here / "pipe")
    os.mkfifo(here / "tree/pipe")
    reader = subprocess.Popen(["cat", str(here / "pipe")], stdout=subprocess.PIPE)
    write(str(here / "pipe"), b"short", [str(here / "tree")])
    assert reader.communicate()[0] == b"short"
    write(os.devnull, NEW)
    assert refused(here / "tree/pipe", [str(here / "tree")]) == "it is not a regular file"
    refused(here / "tree")


PROGRAM = """
import io, os, sys
from torchlint import atomic

left = int(sys.argv[2])

def dying(function):
    def step(*arguments, **named):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)
        return function(*arguments, **named)
    return step

class Dying(io.FileIO):
    def write(self, data):
        return dying(super().write)(memoryview(data)[:100_000])
    truncate = dying(io.FileIO.truncate)

for name in ("open", "fdopen", "replace", "unlink", "chmod", "stat"):
    setattr(os, name, dying(getattr(os, name)))
atomic.open = lambda path, mode, buffering: Dying(path, mode)
atomic.write(sys.argv[1], b"new!" * 60_000)
"""


def stopped_at_every_step(path):
    """What is left each time; the last entry is that of a process that nobody stopped."""
    for step in range(100):
        path.write_bytes(OLD)
        done = subprocess.run([sys.executable, "-c", PROGRAM, str(path), str(step)])
        beside = [other for other in path.parent.iterdir() if other.name.startswith(".torchlint-")]
        yield path.read_bytes(), [other.read_bytes() for other in beside]
        for other in beside:
            other.unlink()
        if done.returncode == 0:
            assert step > 3
            return


def test_what_is_killed_leaves_the_old_file_or_the_new_one(here):
    for content, _ in stopped_at_every_step(here / "tree/a"):
        assert content in (OLD, NEW)
    assert content == NEW


def test_what_is_killed_leaves_the_new_text_beside_a_file_with_several_names(here):
    os.link(here / "tree/a", here / "tree/b")
    torn = 0
    for content, beside in stopped_at_every_step(here / "tree/a"):
        torn += content not in (OLD, NEW)
        assert content in (OLD, NEW) or NEW in beside
    assert torn and content == NEW and (here / "tree/a").samefile(here / "tree/b")


def test_a_full_disk_leaves_the_old_text(here, monkeypatch):
    """In a file with several names too, which is written where it is."""
    from torchlint import atomic

    os.link(here / "tree/a", here / "tree/b")
    fill = atomic._fill

    def full(file, data):
        if data == NEW:
            file.write(NEW[:1000])
            raise OSError(28, "No space left on device")
        fill(file, data)

    monkeypatch.setattr(atomic, "_fill", full)
    with pytest.raises(OSError, match="No space left"):
        write(str(here / "tree/a"), NEW)
    assert (here / "tree/a").read_bytes() == OLD
    assert names(here / "tree") == ["a", "b"]
