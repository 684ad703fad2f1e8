"""What is remembered from run to run, and what makes it void."""

import os
import time

import pytest
from samples import BAD, MODEL, USER, found

import torchlint
from torchlint.config import Settings
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
PLAIN = Settings(dry_run=False)


@pytest.fixture
def old(tree):
    """Like `tree`, with files old enough to be trusted by their times."""

    def write(files):
        root = tree(files)
        time.sleep(0.15)
        return root

    return write


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

    def lint(data, path, settings, project):
        view = project.view(path)
        others = view.mentions("Net") if b"torch" in data else []
        return linter.Outcome(
            (Finding("TL999", "n", path, Span(len(others) + 1, 1, 1, 1), "m"),), consulted=view.consulted
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


@pytest.mark.parametrize("content", [b"", b"\xc1nonsense", b"\x81\xa1a\x01"])
def test_a_broken_cache_is_ignored(old, content):
    root = old({"a.py": BAD})
    cached()
    (file,) = (root / ".torchlint_cache" / torchlint.__version__).iterdir()
    file.write_bytes(content)
    assert cached() == (0, ["a.py:5:TL101"])
    assert cached()[0] == 1


def test_a_folder_that_cannot_be_written_is_ignored(old):
    root = old({"a.py": BAD, ".torchlint_cache": "a file is in the way"})
    assert cached() == cached() == (0, ["a.py:5:TL101"])
    assert (root / ".torchlint_cache").read_text() == "a file is in the way"


def test_the_cache_is_marked_and_kept_out_of_version_control(old):
    root = old({"a.py": BAD})
    cached()
    assert (root / ".torchlint_cache/.gitignore").read_text() == "*\n"
    assert (
        (root / ".torchlint_cache/CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    )


def test_without_cache_nothing_is_written(old):
    root = old({"a.py": BAD})
    check(["."], PLAIN, cache=False)
    assert not (root / ".torchlint_cache").exists()
