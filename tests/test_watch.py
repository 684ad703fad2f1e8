"""`torchlint check --watch`: lints again when a file or the configuration changes, and ends when it is told to."""

import itertools

import pytest
from samples import BAD, GOOD

from torchlint.frontends import watch

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def steps(monkeypatch):
    """What happens while it waits: one function after the other, then Ctrl-C."""

    def prepare(*functions):
        left = iter(functions)

        def sleep(seconds):
            assert 0 < seconds < 60
            for step in itertools.islice(left, 1):
                return step()
            raise KeyboardInterrupt

        monkeypatch.setattr(watch.time, "sleep", sleep)

    return prepare


def test_it_lints_again_when_something_has_changed(tree, run, steps):
    root = tree({"a.py": BAD})
    steps(
        lambda: None,
        lambda: (root / "a.py").write_text(GOOD),
        lambda: (root / "b.py").write_text(BAD),
        lambda: (root / "torchlint.toml").write_text('ignore = ["TL101"]'),
    )
    code, out, err = run("--watch", "--output-format", "concise")
    assert code == 0
    said = [line for line in out.splitlines() if line.startswith(("a.py", "b.py", "All"))]
    assert [line[:4] for line in said] == ["a.py", "All ", "b.py", "All "]
    assert err.count("Watching") == 4 and "Watching 1 file;" in err and "Watching 3 files;" in err


def test_a_broken_configuration_is_one_line_until_it_is_mended(tree, run, steps):
    root = tree({"a.py": BAD, "torchlint.toml": "ignore = ["})
    steps(lambda: None, lambda: (root / "torchlint.toml").write_text(""))
    code, out, err = run("--watch", "--output-format", "concise")
    assert code == 0 and out.count("TL101") == 1 and err.count("not valid TOML") == 1
