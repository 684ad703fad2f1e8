"""What a dry run may cost, in counted work: every hostile program ends within it, lines cost the same however many
there are, and no file leaves anything.
"""

import ast
import sys
from pathlib import Path

import pytest
from effort import calls_of

torch = pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.core.budget import Work, weight
from torchlint.shapes.core.room import with_room
from torchlint.shapes.libraries.regexes import _ways
from torchlint.shapes.search.attempts import OpenParameter, RunResult, Trials
from torchlint.shapes.search.check import dry_run
from torchlint.shapes.search.constructors import solve_constructor
from torchlint.shapes.search.sizes import solve_forward
from torchlint.shapes.tensors import device_tags as devices
from torchlint.shapes.tensors.dispatch import dry_tensors
from torchlint.shapes.tensors.process_settings import SETTINGS
from torchlint.shapes.tensors.wild import choices_in

FIXTURES = Path(__file__).parent.parent / "fixtures"
CHANGERS = sorted((FIXTURES / "hostile" / "settings").glob("*.py"))
VICTIM = """import torch
from torch import nn
print(nn.Linear(30, 10)(nn.Linear(10, 20)(torch.rand(2, 10))))
torch.zeros(2, 3) @ torch.zeros(3, 4).long()
torch.distributions.Normal(torch.zeros(2), torch.zeros(3))
torch.relu(torch.zeros(2)).numpy()
torch.zeros(2) + torch.zeros(3)
"""


def ran(text: str, path: str = "/nowhere/main.py"):
    return dry_run(text, path, Project(str(Path(path).parent), overlay={path: text}).view(path))


def work_of(text: str) -> int:
    return ran(text).statistics["work"]


def findings(text: str) -> list:
    return [(fault.kind, fault.span) for fault in ran(text).faults]


@pytest.mark.parametrize("line", [
    "x = torch.zeros(2)", "x = x + 1", "y = [1, 2, 3]; y.append(4)", "y = {1: 2}; y.get(1)", "def f{i}(a): return torch.relu(a)",
    "class C{i}(torch.nn.Module):\n    def forward(self, a): return a", "if unknown{i}: x = x * 2", "for i in range(3): x = x * 1", "try: x = x * 1\nexcept ValueError: pass",
])  # fmt: skip
def test_lines_cost_the_same_however_many_there_are(line):
    def cost(n):
        return work_of("import torch\nx = torch.zeros(2)\n" + "\n".join(line.replace("{i}", str(i)) for i in range(n)))

    few, many = cost(40) - cost(20), cost(160) - cost(80)
    assert many <= 6 * max(few, 100)


@pytest.mark.parametrize("text", [
    "for i in range(200000): x = [" + "i, " * 3000 + "]",
    "import json\nfor i in range(20000): json.loads('[' + '1,' * 40000 + '1]')",
    "m = nn.Sequential(*[nn.Linear(4, 4) for _ in range(300)])\nfor i in range(20000): m.state_dict()",
    "torch.chain_matmul(*[torch.zeros(3, 3)] * 3000)",
    "torch.hsplit(torch.zeros(3, 10**6), 10**6)",
    "m = nn.Linear(1, 1)\nfor i in range(40): m = nn.Sequential(m, m)\nm(torch.zeros(1, 1))",
    "from pathlib import Path\np = Path('a/' * 2000)\nfor i in range(200): p.parents",
])  # fmt: skip
def test_too_much_work_is_given_up_with_a_note_and_what_was_found_stays(text):
    result = ran(VICTIM + "\n" + text)
    assert [note for note in result.notices if "gave up" in note] or result.statistics["work"] < Work.LIMIT
    assert {fault.span.line for fault in result.faults} >= {3, 7}


def test_what_doubles_is_counted_as_often_as_it_is_reached():
    doubled = [1]
    for _ in range(60):
        doubled = [doubled, doubled]
    itself = []
    itself.append(itself)
    assert weight(doubled, 1000) > 1000 and weight(itself, 1000) > 1000
    assert weight([1] * 500, 10**6) < 600


def test_programs_that_change_settings_leave_none():
    before = {name: read() for name, (read, _) in SETTINGS.items()}
    judged = findings(VICTIM)
    assert len(judged) > 3
    for path in CHANGERS:
        ran(path.read_text(), str(path))
        after = {name: read() for name, (read, _) in SETTINGS.items()}
        assert [name for name in before if str(before[name]) != str(after[name])] == [], path.name
        assert findings(VICTIM) == judged, path.name


def test_an_error_among_tensors_without_data_leaves_nothing_behind():
    def now():
        return torch.get_default_dtype(), torch.is_grad_enabled(), torch.zeros(1).device.type, torch.ones(2).sum()

    before, seed = now(), torch.get_rng_state()
    with pytest.raises(KeyError), dry_tensors():
        assert devices.used[0] is False
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        torch.manual_seed(1)
        torch.randn(3)
        raise KeyError
    assert now() == before == (torch.float32, True, "cpu", 2)
    assert torch.equal(seed, torch.get_rng_state())


def test_hostile_fixtures_can_be_read():
    for path in (FIXTURES / "hostile").rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text())) or path.stat().st_size, path.name


def test_who_makes_several_classes_is_called_for_all_of_them_once():
    def cost(n):
        classes = "".join(
            f"class C{i}(torch.nn.Module):\n    def __init__(self, n):\n        raise ValueError(n)\n"
            "    def forward(self, x): return x\n"
            for i in range(n)
        )
        maker = "def make(n):\n    a = 0\n    for i in range(1500): a = max(i, a)\n"
        return work_of(f"import torch\n{classes}{maker}    return {', '.join(f'C{i}(n)' for i in range(n))}\n")

    assert cost(6) < 2 * cost(1)


def test_classes_that_cannot_be_made_are_not_tried_for_each_that_needs_one():
    def cost(n):
        inner = "class Inner(torch.nn.Module):\n    def __init__(self, n):\n        a = 0\n        for i in range(500): a = max(i, a)\n        raise ValueError(n)\n"
        return work_of(f"import torch\n{inner}" + "".join(
            f"class C{i}(torch.nn.Module):\n    def __init__(self, inner: Inner):\n        super().__init__()\n"
            f"        self.inner = inner\n    def forward(self, x): return self.inner(x)\n" for i in range(n)
        ))  # fmt: skip

    assert cost(8) < 2 * cost(1)


@pytest.mark.parametrize("line", [
    "k = k % 7 + 1", "k = max(k, 3)", "isinstance(k, int)", "k in (1, 2, 3)", "f'{k}a'", "a, b = k, k", "a.k = k", "f(k)", "len([k])",
    "if k > 3: k = 0\n    else: k = k + 1", "foo.bar + k",
])  # fmt: skip
def test_a_unit_of_work_pays_for_few_calls(line):
    """Whatever a loop does in its rounds: what is not paid for can go on for ever."""
    text = f"import foo\nclass A: k = 1\na, k = A(), 0\ndef f(x): return x\nfor i in range(2000):\n    {line}\n"
    ran(text)
    spent = []
    assert calls_of(lambda: spent.append(work_of(text)), 200_000) < 12 * spent[0]


def test_an_error_that_leaves_many_functions_is_paid_for_in_each():
    def cost(last):
        text = f"def f(n):\n    if n == 0: {last}\n    return f(n - 1)\n"
        return work_of(text + "for i in range(100):\n    try: f(80)\n    except ValueError: pass\n")

    assert cost("raise ValueError") > cost("return 0") + 4 * 100 * 80


def test_what_annotates_an_argument_is_looked_for_once_in_a_file():
    def effort(n):
        text = "import torch\n" + "".join(
            f"class C{i}(torch.nn.Module):\n    def __init__(self, cfg):\n        raise ValueError(cfg.a)\n"
            "    def forward(self, x): return x\n" for i in range(n)
        ) + "\n".join(f"    # {i}" for i in range(n)) + "\n" + "def g(x):\n    return [x, x, x, x, x, x, x, x]\n" * n  # fmt: skip
        ran(text)
        return calls_of(lambda: ran(text), 10**8)

    assert effort(40) < 3 * effort(20)


def test_runs_that_take_all_steps_are_few():
    made = []

    def run(assumption):
        made.append(assumption)
        return RunResult(len(made), "budget", None, "it takes too many steps")

    solve_forward(run, [OpenParameter("x")])
    assert len(made) <= Trials.EXHAUSTED
    made.clear()
    solve_constructor(run, [OpenParameter("width"), OpenParameter("depth")])
    assert len(made) <= Trials.EXHAUSTED


def test_what_is_done_without_a_gpu_costs_less_than_what_is_done_with_one():
    def cost(device):
        return work_of(f"import torch\ndevice = {device}\ndef f(i): return i + 1\nfor i in range(20000): f(i)\n")

    assert cost("'cuda' if torch.cuda.is_available() else 'cpu'") < 1.6 * cost("'cuda'")


def test_rounds_that_call_what_nobody_knows_are_paid_for():
    lines = "import torch, foo\ndef f(x):\n    n = 0\n    while n < 10**6:\n        n += 1\n"
    few, many = (ran(lines + "        foo.bar(n)\n" * n).statistics["work"] for n in (1, 40))
    assert many < 4 * few


def test_a_stack_of_what_nobody_knows_is_walked_through_twice():
    text = """
import torch
stack, seen = [torch.ones(2, requires_grad=True).sum().grad_fn], []
while stack:
    node = stack.pop()
    for child, _ in node.next_functions:
        stack.append(child)
        seen.append(child)
"""
    assert work_of(text) < 2_000


def test_where_the_script_fails_its_classes_are_not_searched_for_a_proof():
    text = (FIXTURES / "bugs" / "gru_decoder_context_concat.py").read_text()
    alone, script = text.partition("\nmodel =")[0], text
    searched, known = ran(alone).statistics, ran(script).statistics
    assert known["guessed_steps"] < searched["guessed_steps"] / 3


@pytest.mark.skipif(sys.version_info < (3, 11) or sys.platform != "linux", reason="frames lie elsewhere")
def test_calls_within_calls_take_no_memory_anew():
    """Wherever a loop stands, what it calls finds its frames where they were."""
    resource = pytest.importorskip("resource")

    def many(depth):
        if depth:
            return many(depth - 1)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(500):
            len(dict.fromkeys(range(3)))
            one()
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    def one():
        return two()

    def two():
        return None

    def at_all_depths():
        return max(many(depth) for depth in range(200))

    assert with_room(at_all_depths) < 100


def test_a_pattern_prints_nothing_whatever_its_flags_are(capfd):
    ran("import re\nfor flags in (128, re.I | 128): re.compile('a|[b]', flags)\n")
    assert capfd.readouterr() == ("", "")


def test_what_a_pattern_repeats_without_a_letter_is_repeated_all_the_same():
    assert _ways("(?:a{3}){4}", 0) == _ways("a", 0) == (1, 0)
    assert _ways("(?=a)(?:(?=a)){2}", 0) == (2, 0)
    assert _ways("(?:(?:(?=a)){60000}){60000}", 0) is None


def test_choices_are_looked_for_once_in_what_is_held_twice():
    doubled = []
    for _ in range(60):
        doubled = [doubled, doubled]
    doubled[0].append(doubled)
    assert choices_in(doubled) == ([], None)
