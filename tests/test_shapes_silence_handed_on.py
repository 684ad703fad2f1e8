"""What code that nobody knows fills, and what rounds that are not run change, is not believed to be as it was."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of


def faults(tmp_path, program: str) -> list[str]:
    return [fault.message for fault in faults_of(tmp_path, program)]


PLAYED = """
    import functools
    import native

    times = {}

    class Player:
        def fill(self, planes=None):
            times["n"] = times.get("n", 0) + 1

        @torch.no_grad()
        def fill_still(self, planes=None):
            times["n"] = times.get("n", 0) + 1

    def fill(planes=None):
        times["n"] = times.get("n", 0) + 1

    @torch.no_grad()
    def fill_still(planes=None):
        times["n"] = times.get("n", 0) + 1

    def fill_part(step, planes=None):
        times["n"] = times.get("n", 0) + step

    def run(function):
        return native.play(function, 3)

    fill()
    times.clear()
    run(fill)
    rounds = times["n"]
"""


@pytest.mark.parametrize(
    "given",
    [
        "fill",
        "fill_still",
        "lambda planes: fill(planes)",
        "functools.partial(fill_part, 1)",
        "functools.partial(fill_still)",
        "torch.no_grad()(lambda planes: fill(planes))",
        "Player().fill",
        "Player().fill_still",
        "[fill_still]",
    ],
)
def test_a_library_calls_the_function_that_it_gets(tmp_path, given):
    assert faults(tmp_path, PLAYED.replace("run(fill)", f"run({given})")) == []


def test_a_library_that_gets_a_number_fills_nothing(tmp_path):
    assert faults(tmp_path, PLAYED.replace("run(fill)", "run(8)")) == ["there is no 'n' in an empty dict"]


TRAINED = """
    import native

    def scaled(optimizer):
        for group in optimizer.param_groups:
            group["lr"] *= 0.9

    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.95)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.5)
    seen = {"rounds": 0}
    for epoch in range(90):
        loss = model(torch.randn(20, 1)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    rate = optimizer.param_groups[0]["lr"]
    assert rate < 0.05, f"it is {rate}"
"""
MADE = "torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.5)"
ASKED = 'optimizer.param_groups[0]["lr"]'


@pytest.mark.parametrize(
    "old, new",
    [
        ("", ""),
        (MADE, "torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[30, 60])"),
        (MADE, "torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.1 if epoch > 40 else 1.0)"),
        (MADE, "torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=90)"),
        (MADE, "torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=90)"),
        (MADE, "native.Warmup(optimizer)"),
        (f"schedule = {MADE}", "helped, schedule = native.prepared(model, [optimizer]), native.Nothing()"),
        (ASKED, "schedule.get_last_lr()[0]"),
        (ASKED, 'optimizer.state_dict()["param_groups"][0]["lr"]'),
        (ASKED, 'next(iter(optimizer.param_groups)).get("lr")'),
        (ASKED, "1 / schedule.last_epoch"),
        ("schedule.step()", "scaled(optimizer)"),
        ("schedule.step()", "if epoch % 30 == 29:\n            schedule.step()"),
        ("        schedule.step()\n", "        schedule.step()\n    schedule.step()\n"),
    ],
)
def test_a_rate_that_is_set_in_all_rounds_is_not_that_of_the_first(tmp_path, old, new):
    assert faults(tmp_path, TRAINED.replace(old, new)) == []


def test_a_rate_is_that_of_the_rounds_that_are_run(tmp_path):
    said = ["it is 0.1 (with rate = 0.1)"]
    assert faults(tmp_path, TRAINED.replace("range(90)", "range(2)")) == said
    assert faults(tmp_path, TRAINED.replace("        schedule.step()\n", "")) == said
    assert faults(tmp_path, TRAINED.replace("rate < 0.05", "rate > 0.05").replace("range(90)", "range(2)")) == []


def test_what_is_set_after_the_rounds_is_known(tmp_path):
    program = TRAINED.replace("    rate =", '    optimizer.param_groups[0]["lr"] = 0.1\n    rate =')
    assert faults(tmp_path, program) == ["it is 0.1 (with rate = 0.1)"]


def test_a_rate_that_a_loss_decides(tmp_path):
    program = TRAINED.replace(MADE, "torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)")
    program = program.replace("schedule.step()", "schedule.step(loss.item())").replace("range(90)", "range(2)")
    assert faults(tmp_path, program) == []


def test_the_momentum_goes_around_too(tmp_path):
    program = TRAINED.replace(MADE, "torch.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 0.2, 80)")
    assert faults(tmp_path, program.replace('["lr"]', '["momentum"]')) == []


@pytest.mark.parametrize("line", ['seen["rounds"] += 1', 'seen["rounds"] = epoch + 1', "seen.update(rounds=epoch + 1)"])
def test_what_a_dict_counts(tmp_path, line):
    asked = '    assert seen["rounds"] == 90, "too few"\n'
    assert faults(tmp_path, TRAINED.replace("schedule.step()", line).partition("    rate")[0] + asked) == []


def test_what_a_dict_holds_anyway(tmp_path):
    program = TRAINED.replace("schedule.step()", 'seen["width"] = 8').partition("    rate")[0]
    assert faults(tmp_path, program + '    assert seen["width"] == 9, "too few"\n') != []
    program = program.replace('seen["width"]', 'seen["rounds"]')
    assert faults(tmp_path, program + '    assert seen["rounds"] == 9, "too few"\n') != []


def test_a_program_for_python_2_is_no_wrong_one(tmp_path):
    program = """
    options = {"wide": 4}
    sizes = dict((name, size) for name, size in options.iteritems() if options.has_key(name))
    layer = nn.Linear(sizes["wide"], max(options.itervalues()))
    layer(torch.zeros(2, WIDTH))
    """
    assert [len(faults(tmp_path, program.replace("WIDTH", width))) for width in ("4", "3")] == [0, 1]


@pytest.mark.parametrize(
    "start, found", [("super(Network, self)", 0), ("super(native.Base, self)", 0), ("str(self)", 1)]
)
def test_a_base_that_nobody_knows_may_have_come_first(tmp_path, start, found):
    """The class was given another name, or comes from elsewhere: Python does not say that `nn.Module` comes too late."""
    program = f"""
    import native

    class Net(nn.Module):
        def __init__(self):
            {start}.__init__()
            self.layer = nn.Linear(3, 2)

        def forward(self, x):
            return self.layer(x)

    Net()
    """
    assert len(faults(tmp_path, program)) == found


@pytest.mark.parametrize("name, found", [("score", 0), ("mean as score", 0), ("mean", 1)])
@pytest.mark.parametrize("use", ["score([1, 2], 50)", "class Best(score):\n        pass"])
def test_what_is_none_only_without_a_library_may_be_there(tmp_path, name, found, use):
    program = f"""
    try:
        from vendor.scores import {name}
    except ImportError:
        score = None
    {use}
    """
    assert len(faults(tmp_path, program)) == found


@pytest.mark.parametrize("table", ["defaultdict(list)", "{'acc': []}"])
@pytest.mark.parametrize(
    "given, found",
    [("keep", 0), ("[keep]", 0), ("{'last': (keep,)}", 0), ("keep.curves", 0), ("keep.name", 1), ("[keep.name]", 1)],
)
def test_what_an_object_holds_may_be_filled_by_whoever_gets_it(tmp_path, table, given, found):
    program = f"""
    from collections import defaultdict
    import native

    class Curves:
        def __init__(self):
            self.rows = {table}

        def add(self, logs):
            for name, value in logs.items():
                self.rows[name].append(value)

    class Keep:
        def __init__(self):
            self.name = "keep"
            self.curves = Curves()

        def on_epoch_end(self, epoch, logs):
            self.curves.add(logs)

    def train():
        keep = Keep()
        native.fit(callbacks={given})
        return keep.curves

    print(train().rows["acc"][-1])
    """
    assert len(faults(tmp_path, program)) == found


USE_OF_LISTS = """
import re
import native

class Reader(native.Visitor):
    names = []

    def __init__(self):
        super().__init__()
        self.seen = []

    def visit_name(self, name):
        self.names.append(name)
        self.seen.append(name)

class Plain:
    seen = []

    def visit(self):
        print("nothing")

class Backbone(native.Backbone, nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = []

    def block(self, x):
        self.seen.append(x)

reader, plain, found, net = Reader(), Plain(), [], Backbone()
text = open("text.txt").read()

def take(match):
    found.append(match)
    return ""

"""


@pytest.mark.parametrize(
    "called, read, wrong",
    [
        ("reader.visit('a')", "reader.seen", 0),
        ("reader.visit('a')", "reader.names", 0),
        ("native.dump({}, kind=Reader)", "Reader.names", 0),
        ("reader.visitors", "reader.seen", 1),
        ("reader('a')", "reader.seen", 0),
        ("net(torch.ones(2, 3))", "net.seen", 0),
        ("net.extract(torch.ones(2, 3))", "net.seen", 0),
        ("net.width", "net.seen", 1),
        ("plain.visit()", "plain.seen", 1),
        ("native.dump({}, kind=Plain.__name__)", "plain.seen", 1),
        ("re.sub('a', take, text)", "found", 0),
        ("re.sub('a', take, 'abc')", "found", 0),
        ("re.compile('a').sub(lambda m: found.append(m) or '', text)", "found", 0),
        ("re.sub('a', lambda m: m.group(), text)", "found", 1),
        ("re.sub('d', take, 'abc')", "found", 1),
        ("list(map(take, text.split()))", "found", 0),
        ("list(map(len, text.split()))", "found", 1),
        ("list(filter(found.append, text.split()))", "found", 0),
        ("list(filter(str.isdigit, text.split()))", "found", 1),
    ],
)
def test_what_others_call_may_fill_the_lists_that_it_names(tmp_path, called, read, wrong):
    assert len(faults(tmp_path, f"{USE_OF_LISTS}{called}\nprint({read}[0])\n")) == wrong


@pytest.mark.parametrize("count, written", [("", "x4x2"), (", count=1", "x4b2"), (", 1", "x4b2")])
def test_a_function_says_what_stands_in_the_place_of_a_match(tmp_path, count, written):
    program = f"""
    import re

    text = re.sub("[a-z]", lambda found: "x" * len(found.group()), "a4b2"{count})
    torch.ones(2, 1 if text == "{written}" else 3) @ torch.ones(2, 3)
    """
    assert len(faults(tmp_path, program)) == 1
