"""Days and times: what is written of them are texts, of which as much is known as of any other."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.dry import failing_lines

HEAD = (
    "import datetime, random, time\nfrom datetime import date, timedelta\nCHARS = ' ,-:0123456789abcdefghijklmnopqrstuvwxyz'\n"
    "some = date(1990, 1, 1) + timedelta(days=random.randrange(9000))\nknown = date(2020, 2, 28) + timedelta(days=2)\n"
    "def encode(text):\n    return torch.tensor([CHARS.index(c) for c in text])\nlayer = nn.Embedding(40, 4)\n"
)


@pytest.mark.parametrize(
    "text",
    [
        "some.isoformat()",
        "some.strftime('%d %B %Y').lower()",
        "str(some)",
        "f'{some}'",
        "datetime.datetime.now().strftime('%H:%M')",
        "(datetime.datetime(2020, 1, 1) + timedelta(hours=random.random())).isoformat(' ')",
        "some.replace(day=1).isoformat()",
        "time.strftime('%Y')",
        "str(random.randint(0, 999)).zfill(3)",
        "''.join(random.choices('abc', k=random.randint(3, 9)))",
    ],
)
def test_a_text_of_a_time_has_letters(tmp_path, text):
    program = f"{HEAD}made = layer(encode({text}))\nmade + torch.zeros({{}})"
    assert failing_lines(tmp_path, program.replace("{}", "5")) == ["made + torch.zeros(5)"]
    assert failing_lines(tmp_path, program.replace("{}", "4")) == []


@pytest.mark.parametrize(
    "test",
    [
        "known.isoformat() == '2020-03-01'",
        "known.weekday() == 6 and known.year == 2020",
        "known > date(2020, 2, 29)",
        "(known - date(2020, 2, 28)).days == 2",
        "isinstance(known, datetime.date) and not isinstance(known, timedelta)",
        "f'{known}' == str(date.fromisoformat('2020-03-01'))",
        "(2 * timedelta(hours=12)).total_seconds() == 86400",
        "datetime.datetime(2020, 1, 1).tzinfo is None and not datetime.datetime(2020, 1, 1).fold",
        "known < date.max and date.max.year == 9999 and known.min.year == 1",
    ],
)
def test_what_is_known_of_a_day_is_computed(tmp_path, test):
    program = f"{HEAD}if {{}}:\n    layer.weight + torch.zeros(5)"
    assert failing_lines(tmp_path, program.format(test)) == ["layer.weight + torch.zeros(5)"]
    assert failing_lines(tmp_path, program.format(f"not ({test})")) == []


def test_nobody_knows_which_day_it_is(tmp_path):
    program = (
        f"{HEAD}days = sorted([some, date.today()])\nn = (days[1] - days[0]).days\nm = 3 if some < known else 4\n"
        "torch.zeros(n) + torch.zeros(m)\nf'{known:%d}'.split()[3], f'{some:%d}'[7]\ntorch.zeros(5)[some.month]\n"
        "start = time.time()\nspan = timedelta(seconds=time.time() - start)\ntorch.zeros(4)[span.days]"
    )
    assert failing_lines(tmp_path, program) == []
