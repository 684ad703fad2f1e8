"""Sources of a fleet that somebody made to do harm: each is one line or less, costs little, and the others go on."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import signal
import struct
import subprocess
import sys
import tarfile
import time
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from effort import calls_of
from test_fleet import BAD, OPTIONS, fleet, found, git, repository

from torchlint.fleet import commits, unpacking
from torchlint.fleet.unpacking import RefusedArchive, chosen, tar_members, zip_members

_FLAGS, _METHOD, _VERSION = 8, 10, 6  # places in an entry of a zip's list of members
_HEAD = 34  # bytes of a member's own header, and of its name


def spoiled(path: Path, method: int, spoil: Callable[[bytearray, int], object]) -> None:
    """A zip archive with a first member that is spoiled, and a second one."""
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.py", BAD * 50)
        archive.writestr("b.py", BAD)
    data = bytearray(path.read_bytes())
    spoil(data, data.find(b"PK\1\2"))
    path.write_bytes(data)


def put(data: bytearray, at: int, new: bytes) -> None:
    data[at : at + len(new)] = new


@pytest.mark.parametrize(
    "method, spoil, said",
    [
        (zipfile.ZIP_DEFLATED, lambda data, entry: put(data, entry + _FLAGS, b"\1"), "it is encrypted"),
        (
            zipfile.ZIP_DEFLATED,
            lambda data, entry: put(data, entry + _METHOD, b"\x61"),
            "in another way than by deflate",
        ),
        (zipfile.ZIP_DEFLATED, lambda data, entry: put(data, _HEAD, b"\xff" * 10), "while decompressing"),
        (zipfile.ZIP_STORED, lambda data, entry: put(data, _HEAD, b"\xff" * 10), "Bad CRC-32"),
    ],
    ids=["encrypted", "unknown method", "deflate", "checksum"],
)
def test_a_member_that_cannot_be_read_is_left_out(tmp_path: Path, method: int, spoil: Callable, said: str) -> None:
    spoiled(tmp_path / "bad.zip", method, spoil)
    repository(tmp_path / "one", a=BAD)
    done = fleet(tmp_path, "bad.zip", "one")
    assert done.returncode == 1, done.stderr
    assert found(tmp_path, "bad") == [("b.py", 5, "TL105")] and found(tmp_path, "one") == [("a.py", 5, "TL105")]
    assert "| left out: a.py: " in done.stdout and said in done.stdout


def test_what_would_be_unpacked_to_any_size_at_once_is_left_out(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w") as archive:
        for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED):
            archive.writestr(f"m{method}.py", BAD + "#" * (10 << 20), method)
    data = (tmp_path / "bomb.zip").read_bytes()
    size = struct.pack("<I", len(BAD) + (10 << 20))
    (tmp_path / "bomb.zip").write_bytes(data.replace(size, struct.pack("<I", len(BAD))))  # as it says
    left_out: list[str] = []
    tracemalloc.start()
    try:
        assert list(chosen(zip_members(tmp_path / "bomb.zip"), left_out)) == []
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()
    why = "it is packed in another way than by deflate"
    assert left_out == [f"m12.py: {why}", f"m14.py: {why}", "m8.py: Bad CRC-32 for file 'm8.py'"]


def test_an_archive_that_nobody_can_open_is_one_line(tmp_path: Path) -> None:
    spoiled(tmp_path / "bad.zip", zipfile.ZIP_STORED, lambda data, entry: put(data, entry + _VERSION, b"\xff"))
    repository(tmp_path / "one", a=BAD)
    done = fleet(tmp_path, "bad.zip", "one")
    assert done.returncode == 2 and done.stderr.count("error: ") == 1 and "zip file version 25.5" in done.stderr
    assert found(tmp_path, "one") == [("a.py", 5, "TL105")]


def test_members_that_cannot_be_read_count_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def members():
        for number in range(10):
            tried.append(number)
            yield f"{number}.py", 1, refuse

    def refuse(most: int) -> bytes:
        raise OSError("it is damaged")

    tried: list[int] = []
    monkeypatch.setattr(unpacking, "MOST_FILES", 3)
    with pytest.raises(RefusedArchive):
        list(chosen(members(), []))
    assert len(tried) == 4


def test_names_for_which_there_is_no_place_are_left_out(tmp_path: Path) -> None:
    long = "/".join(["d" * 250] * 40) + "/c.py"
    with zipfile.ZipFile(tmp_path / "odd.zip", "w") as archive:
        for name in ("a.py", "a.py/b.py", "b.py", long):
            archive.writestr(name, BAD)
    done = fleet(tmp_path, "odd.zip")
    assert done.returncode == 1 and found(tmp_path, "odd") == [("a.py", 5, "TL105"), ("b.py", 5, "TL105")]
    assert "a.py/b.py: another file has its place" in done.stdout
    assert "its name is longer than 1,000 bytes" in done.stdout and "torchlint-fleet" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 500


def test_a_list_of_members_is_not_read_if_it_is_huge(tmp_path: Path) -> None:
    count, head = 360_000, b"PK\3\4" + bytes(26) + b"x"
    entry = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"x"
    size, at = len(entry) * count, len(head)
    wide = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, at)
    wide += struct.pack("<4sIQI", b"PK\6\7", 0, at + size, 1)
    end = struct.pack("<4s4H2IH", b"PK\5\6", 65535, 65535, 65535, 65535, 2**32 - 1, 2**32 - 1, 0)
    (tmp_path / "many.zip").write_bytes(head + entry * count + wide + end)
    with pytest.raises(RefusedArchive, match="a list of members of 16,920,000 bytes"):
        next(zip_members(tmp_path / "many.zip"), None)


def header(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.USTAR_FORMAT)


def said_of_all(*records: bytes) -> bytes:
    body = b"".join(records)
    return header("g", len(body), tarfile.XGLTYPE) + body + bytes(-len(body) % 512)


@pytest.mark.parametrize("size, members, refused", [(900_000, 20, True), (100, 20, False), (52, 3000, False)])
def test_what_is_said_of_all_members_counts_for_each(tmp_path: Path, size: int, members: int, refused: bool) -> None:
    record = b"%d comment=" % size
    record += b"a" * (size - len(record) - 1) + b"\n"
    with gzip.open(tmp_path / "pax.tar.gz", "wb") as file:
        file.write(said_of_all(record) + header("x.txt") * members + bytes(1024))
    if refused:
        with pytest.raises(RefusedArchive, match="more than 16 MB of headers"):
            list(tar_members(tmp_path / "pax.tar.gz"))
    else:
        assert len(list(tar_members(tmp_path / "pax.tar.gz"))) == members


def test_an_archive_is_unpacked_a_little_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "many.tar.bz2").write_bytes(bz2.compress(header("x.txt") * 20_000))  # 300 bytes for 10 MB
    tracemalloc.start()
    try:
        assert len(list(islice(tar_members(tmp_path / "many.tar.bz2"), 100))) == 100
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_an_archive_does_not_say_how_much_memory_it_gets(tmp_path: Path) -> None:
    data = bytearray(lzma.compress(header("x.txt") + bytes(1024)))
    size = (data[12] + 1) * 4  # of what is said of the first part, behind twelve bytes on the whole
    assert data[14] == 0x21 and data[15] == 1  # one filter, whose one property is how far it looks back
    data[16] = 40  # four gigabytes
    put(data, 12 + size - 4, struct.pack("<I", zlib.crc32(data[12 : 12 + size - 4])))
    (tmp_path / "large.tar.xz").write_bytes(data)
    repository(tmp_path / "one", a=BAD)
    done = fleet(tmp_path, "large.tar.xz", "one")
    assert done.returncode == 2 and "large.tar.xz: Memory usage limit exceeded" in done.stderr
    assert found(tmp_path, "one") == [("a.py", 5, "TL105")]


@pytest.mark.parametrize("cut", [0, 40])
def test_an_xz_archive_may_have_several_parts_and_an_end(tmp_path: Path, cut: int) -> None:
    whole = header("a.py", len(BAD)) + BAD.encode().ljust(512, b"\0") + header("b.py") + bytes(10_240)
    data = lzma.compress(whole[:700]) + bytes(8) + lzma.compress(whole[700:])
    (tmp_path / "parts.tar.xz").write_bytes(data[: len(data) - cut])
    done = fleet(tmp_path, "parts.tar.xz")
    if cut:
        assert done.returncode == 2 and done.stderr.count("\n") == 1
    else:
        assert done.returncode == 1 and found(tmp_path, "parts") == [("a.py", 5, "TL105")]


@pytest.mark.parametrize("name, opened, refused", [("a.tar", open, False), ("a.tar.gz", gzip.open, True)])
def test_what_is_packed_too_well_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, opened: Callable, refused: bool
) -> None:
    monkeypatch.setattr(unpacking, "LARGEST_ARCHIVE", 80_000)
    with opened(tmp_path / name, "wb") as file:
        file.write(header("x.bin", 20_480) + bytes(20_480 + 1024))
    if refused:
        with pytest.raises(RefusedArchive):
            list(tar_members(tmp_path / name))
    else:
        assert len(list(tar_members(tmp_path / name))) == 1


def test_members_are_not_kept(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "many.tar.gz", "wb") as file:
        file.write(header("x.txt") * 2_000)
    kept = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unpacking, "_read_tar", lambda *_: b"")
        for _, _, read in tar_members(tmp_path / "many.tar.gz"):
            kept.append(len(read.args[0].members))  # type: ignore[attr-defined]
    assert len(kept) == 2_000 and max(kept) <= 1


# ------------------------------------------------------------------------------------------------------------ git


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    work = repository(tmp_path / "work", a=BAD, b=BAD, c=BAD)
    git(work, "init", "--quiet")
    git(work, "add", ".")
    git(work, "commit", "--quiet", "-m", "first")
    git(tmp_path, "clone", "--quiet", "--bare", "work", "bare.git")
    return tmp_path / "bare.git"


def test_a_reference_may_be_packed(tmp_path: Path, bare: Path) -> None:
    git(bare, "pack-refs", "--all")
    assert not (bare / "refs" / "heads" / "main").exists()
    assert fleet(tmp_path, "bare.git").returncode == 1 and len(found(tmp_path, "bare")) == 3


def test_many_references_are_not_looked_at_one_by_one(bare: Path) -> None:
    commit = commits.commit_of(bare)
    (bare / "packed-refs").write_text("1 b\n" * 5000 + f"{commit} refs/heads/last\n")
    (bare / "HEAD").write_text("ref: refs/heads/last")
    assert commits.commit_of(bare) == commit
    assert calls_of(lambda: commits.commit_of(bare), 2000) <= 2000


@pytest.mark.parametrize("name, size, said", [
    ("HEAD", 1 << 20, "no commit is called HEAD"), ("packed-refs", 33 << 20, "packed-refs: the file is larger than 32 MB")
])  # fmt: skip
def test_references_have_a_largest_size(tmp_path: Path, bare: Path, name: str, size: int, said: str) -> None:
    (bare / name).write_text("ref: refs/heads/a")
    with open(bare / name, "ab") as file:
        file.write(b"a" * size) if name == "HEAD" else file.truncate(size)
    repository(tmp_path / "one", a=BAD)
    done = fleet(tmp_path, "bare.git", "one")
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("error: ") == 1
    assert len(found(tmp_path, "one")) == 1


def test_the_names_of_a_commit_are_not_read_without_end(
    tmp_path: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "_LONGEST_LIST", 100)
    repository(tmp_path / "one", a=BAD)
    done = fleet(tmp_path, "bare.git", "one")
    assert done.returncode == 2 and "bare.git: more than 0 MB of names" in done.stderr
    assert len(found(tmp_path, "one")) == 1


# ---------------------------------------------------------------------------------------------------- the results


def test_a_folder_in_the_place_of_the_summary_is_one_line(tmp_path: Path) -> None:
    repository(tmp_path / "one", a=BAD)
    (tmp_path / "out" / "summary.md").mkdir(parents=True)
    done = fleet(tmp_path, "one")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: --output ") and "summary.md: Is a directory" in done.stderr


def test_a_journal_of_any_content_counts_as_far_as_it_is_one(tmp_path: Path) -> None:
    repository(tmp_path / "one", a=BAD)
    assert fleet(tmp_path, "one").returncode == 1
    with open(tmp_path / "out" / "fleet.jsonl", "ab") as file:
        file.write(b'\n\r\n{"x":' + b"[" * 200_000 + b"\n\xff\n")
    done = fleet(tmp_path, "one")
    assert done.returncode == 1 and done.stderr == "1 repository had been done before.\n"


def test_the_summary_shows_names_and_does_not_obey_them(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        for name in ("<b>.py", "@user.py", "[x](y).py", "a|b.py", "my_file.py", "__init__.py"):
            archive.writestr(zipfile.ZipInfo(name), "#" * (5 << 20))
    (line,) = [line for line in fleet(tmp_path, "evil.zip").stdout.splitlines() if line.startswith("| evil |")]
    for said in (r"\<b\>.py:", "`@user.py:`", r"\[x\](y).py:", r"a\\x7cb.py:", " my_file.py:", r" \_\_init\_\_.py:"):
        assert said in line
    assert line.replace(r"\|", "").count("|") == 8


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_who_is_told_to_end_leaves_nothing(tmp_path: Path) -> None:
    for number in range(60):
        repository(tmp_path / f"r{number}", **{f"m{n}": BAD * 20 for n in range(40)})
    (tmp_path / "list.txt").write_text("".join(f"r{number}\n" for number in range(60)))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-m", "torchlint", "fleet", "list.txt", "-o", "out", "--jobs", "1", "-q", *OPTIONS]
    run = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "TMPDIR": str(scratch)})
    while run.poll() is None and not list(scratch.glob("torchlint-fleet-*/repository")):
        time.sleep(0.005)
    run.send_signal(signal.SIGTERM)
    assert run.wait(60) == 143
    assert list(scratch.iterdir()) == []
