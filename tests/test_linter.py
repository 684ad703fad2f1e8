"""Text in, findings out, whatever the text: odd files, crashing rules, suppressions, fixes that meet each other."""

from __future__ import annotations

import json
import os
import sys

import pytest
from effort import calls_of

from torchlint.config import Selection, Settings
from torchlint.edits import landings
from torchlint.finding import Edit, Finding, Fix, Span
from torchlint.linter import Job, fix, fix_until_stable, lint
from torchlint.project import Project
from torchlint.rule import load_rules

BAD = "import torch.nn.functional as F\nloss = F.cross_entropy(F.softmax(z, dim=1), y)\n"
TEXT_WORLD = Settings(dry_run=False)
EVERYTHING = Settings(dry_run=False, selections=(Selection(select=("ALL",)),))


def codes(text: str | bytes, settings: Settings = TEXT_WORLD) -> list[tuple[str, int]]:
    return [(f.code, f.span.line) for f in lint(text, Job.of("/nowhere/a.py", settings, strict=True)).findings]


@pytest.mark.parametrize(
    "data, found",
    [
        (b"", []),
        (b"\n", []),
        (b"x = 1\n", []),
        (BAD.encode(), [("TL101", 2)]),
        (b"\xef\xbb\xbf" + BAD.encode(), [("TL101", 2)]),
        (b"# coding: latin-1\nname = '\xe9'\n" + BAD.encode(), [("TL101", 4)]),
        (BAD.encode().replace(b"\n", b"\r\n"), [("TL101", 2)]),
        (BAD.encode().replace(b"\n", b"\r"), [("TL101", 2)]),
        (BAD.encode().removesuffix(b"\n"), [("TL101", 2)]),
        (b"\x0c\n" + BAD.encode() + b"\x0c", [("TL101", 3)]),
        (b"import torch\nx = '\xe9'\n", [("TL001", 1)]),
        (b"# coding: martian\nimport torch\n", [("TL001", 1)]),
        (b"# -*- coding: future_fstrings -*-\n" + BAD.encode(), [("TL101", 3)]),  # a package brings it
        (b"import torch\nx = 1\x00\n", [("TL001", 1)]),
        (b"import torch\nprint 'x'\n", [("TL001", 2)]),
        (b"import torch\ndef f(:\n", [("TL001", 2)]),
        (b"import torch\nx = '''\n", [("TL001", 2)]),
        (b"import torch\ndef f(x):\n    # TODO: take it from the first homework\n\ndef g(): pass\n", []),
        (b"import torch\nx = # TODO(1)\ny = x + 1\n", []),  # a gap of an exercise
        (b"import torch\nif torch:\n    ... = train(net)\n", []),
        (b"import torch\ndef f(x):\n    # TODO: write it\n\nf(1)\n", []),
        (b"import torch\n# TODO: make the input\nx = torch.zeros(2))\n", [("TL001", 3)]),  # that somebody has filled
        (b"import torch\ndef f(x):\n    # print(x)\n\ndef g(): pass\n", [("TL001", 5)]),
        (b"import torch\nx.cuda(async=True)  # TODO: other devices\n", [("TL001", 2)]),
        (b"import torch\n" + b"(" * 100_000, [("TL001", 2)]),
        (b"import torch\nx = " + b"-" * 100_000 + b"1\n", [("TL001", 1)]),
        (BAD.encode() + b'd = {"a": 1}\nprint(f"{d["a"]}")\n', [("TL101", 2)]),  # f-strings of Python 3.12
        (b"def f(:\n", []),  # it has nothing to do with torch
    ],
    ids=lambda value: repr(value)[:40],
)
def test_bytes(data, found):
    assert codes(data) == found


def test_a_template_of_python_is_not_called_wrong():
    template = "import torch\n{%- if heads == 'many' %}\nheads = 8\n{% endif %}\n"
    assert codes(template) == []
    assert codes(template.replace("{%-", "%").replace("{%", "%")) == [("TL001", 2)]
    assert codes("import torch\nclass Net:\n    ${methods}\n\n    size: int\n") == []
    assert codes("import torch\nfrom {{ cookiecutter.package }}.net import Net\n") == []
    assert codes("import torch\nfrom {{ package }}.net import $Net\n") == [("TL001", 2)]


def test_a_notebook_that_was_written_out_as_a_script_is_not_called_wrong():
    outcome = lint("import torch\n\n!pip install timm\n", "a.py")
    assert outcome.findings == () and outcome.notices == ("not linted, as it is IPython syntax",)


def test_a_formatted_text_that_goes_on_is_no_shell_line():
    outcome = lint("import torch\nx = ('a %s'\n    % 'b' c)\n", "a.py")
    assert [f.code for f in outcome.findings] == ["TL001"] and outcome.notices == ()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_a_cell_of_a_newer_python_is_not_called_wrong():
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": text}
        for text in ("import torch", "class B[T]: x: T")
    ]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    outcome = lint(text, "a.ipynb")
    assert outcome.findings == () and outcome.notices == ("not linted, as it is Python 3.12 syntax",)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_syntax_of_a_newer_python_is_not_called_wrong():
    outcome = lint("import torch\n\n\nclass Box[T]:\n    x: T\n", "a.py")
    assert outcome.findings == () and outcome.notices == ("not linted, as it is Python 3.12 syntax",)


CALLS = 100_000_000  # the hardest of these takes 33 million, most less than one


@pytest.mark.effort
@pytest.mark.parametrize(
    "text",
    [
        "import torch\nx" + ".view(1)" * 3000 + "\n",
        "import torch\nx = " + 'f"{' * 30_000 + "\n",
        "import torch\n" + "x = f'{a['b']}'\n" * 3000,
        "import torch\nx = " + " + ".join(["torch.relu(x)"] * 900) + "\n",
        "import torch\nx = [" + "torch.zeros(1), " * 2_000 + "]\n",
        "import torch\nx = '" + "a" * 1_000_000 + "'\n",
        "import torch\n" + "".join("    " * i + "if torch.rand(1):\n" for i in range(90)) + "    " * 90 + "x += 1\n",
        "import torch\ndef f(k):\n    if k == 0: x = 0\n"
        + "".join(f"    elif k == {i}: x = torch.zeros({i})\n" for i in range(1, 400))
        + "    x += 1\n",
        "import torch\nx = " + "torch.relu(" * 80 + "x" + ")" * 80 + "\n",
        "import torch\n" + "".join(f"x{i} = torch.relu(x{i - 1})\n" for i in range(1, 2000)) + "x1999.backward()\n",
        "import torch\nx = torch.zeros(1)\nfor i in r:\n" + "    x = x * 2\n    x += 1\n" * 300 + "x.backward()\n",
        "import torch\ntorch = torch.torch\nnn = torch.nn\nnn.x = nn = nn.nn\nnn.Softmax()(nn)\n",
        (
            "import torch\nclass A(A): pass\nclass B(C): pass\nclass C(B):\n    def forward(self, x): return"
            " self.forward(x)\n"
        ),
        (
            "import torch\nnode = torch.start\nwhile node:\n    node = node.parent\n    node.step()\n   "
            " node().backward()\n"
        ),
    ],
    ids=lambda text: text[13:50],
)
def test_hostile_text_crashes_no_rule_and_takes_no_time(text):
    outcomes = []
    assert calls_of(lambda: outcomes.append(lint(text, Job.of("/nowhere/a.py", EVERYTHING))), CALLS) < CALLS
    assert "TL000" not in {f.code for f in outcomes[0].findings}


def user_rules(folder, *bodies: str):
    for number, body in enumerate(bodies):
        (folder / f"TL99{number}_rule.py").write_text(
            f'"""Do not.\n"""\nfrom torchlint import on_call\n\n@on_call("torch.zeros")\ndef check(call):\n    {body}\n'
        )
    return load_rules([folder])


@pytest.mark.parametrize(
    "body, said",
    [
        ("yield 1 / 0", "ZeroDivisionError"),
        ("return 3", "TypeError"),
        ("yield 3", "AttributeError"),
        ("check(call)\n    yield", "AttributeError"),
        ("yield call.finding(call.nothing)", "AttributeError"),
        ("raise ValueError('two\\nlines')\n    yield", "ValueError: two"),
    ],
)
def test_a_crash_of_a_rule_is_one_finding(tmp_path, body, said):
    rules = user_rules(tmp_path, body, "yield call.finding('here')")
    found = lint("import torch\nx = torch.zeros(3)\n", Job.of("/nowhere/a.py", TEXT_WORLD, rules=rules)).findings
    assert [f.code for f in found] == ["TL000", "TL991"]
    assert said in found[0].message and "\n" not in found[0].message and "TL990" in found[0].message


def test_a_rule_is_told_of_statements_by_the_kinds_of_their_values(tmp_path):
    check = '@on_node("Assign", "Expr", value=("Call", "Tuple"))\ndef check(place):\n    yield place.finding("here")\n'
    (tmp_path / "TL990_told.py").write_text(f'"""Told."""\n\nfrom torchlint import on_node\n\n\n{check}')
    rules = {"TL990": load_rules([tmp_path])["TL990"]}
    text = "import torch\nx = torch.zeros(3)\ny = 1\nx = y\nprint(x), 2\n'text'\ny = x + print(x)\n"
    found = lint(text, Job.of("/nowhere/a.py", TEXT_WORLD, rules=rules)).findings
    assert [(f.code, f.span.line) for f in found] == [("TL990", 2), ("TL990", 5)]


def test_what_a_message_quotes_is_as_short_as_people_read():
    losses = [f"losses[{n}].item()" for n in range(100)]
    text = f"""import torch
model = torch.nn.Linear(4, 2)
losses = model(torch.zeros(100, 4))
total = torch.tensor({" + ".join(losses)})
total.backward()
"""
    (found,) = lint(text, Job.of("/nowhere/a.py", TEXT_WORLD)).findings
    assert (found.code, found.span.line, found.message.count("`")) == ("TL204", 4, 4)
    assert "`losses[0].item() + " in found.message and "…`" in found.message and len(found.message) < 200


@pytest.mark.parametrize("library, found", [("torch", ["TL501"]), ("paddle", [])])
def test_training_code_that_does_not_name_torch_belongs_to_its_users(tmp_path, library, found):
    engine = (
        "def train(model, loader, optimizer):\n    for x in loader:\n        model(x).sum().backward()\n       "
        " optimizer.step()\n"
    )
    (tmp_path / "engine.py").write_text(engine)
    (tmp_path / "main.py").write_text(
        f"import {library}\nfrom engine import train\ntrain({library}.Model(), loader, {library}.optim.SGD())\n"
    )
    assert [f.code for f in lint(engine, tmp_path / "engine.py").findings] == found
    assert lint(engine + "def broken(:", tmp_path / "engine.py").findings == ()


@pytest.mark.parametrize("start, noted", [("main()", [3]), ("net = torch.nn.Linear(3, 1)\nmain(net)", [])])
def test_a_seed_belongs_to_what_a_program_starts_with(start, noted):
    text = (
        "import torch\nDEVICE = torch.device('cpu')\ndef main(net=None):\n"
        "    net = net or torch.nn.Linear(3, 1)\n    optimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
        "    for x in torch.rand(9, 3):\n        optimizer.zero_grad()\n        net(x).mean().backward()\n"
        f"        optimizer.step()\n{start}\n"
    )
    found = lint(text, Job.of("/nowhere/a.py", EVERYTHING, strict=True)).findings
    (finding,) = (f for f in found if f.code == "TL706")
    assert [note.span.line for note in finding.notes] == noted


@pytest.mark.parametrize("given, found", [("net.fc", ["TL209"]), ("net.fc.weight", [])])
def test_what_freezes_and_does_not_name_torch_belongs_to_its_users(tmp_path, given, found):
    helper = "def freeze(*parts):\n    for part in parts:\n        part.requires_grad = False\n"
    (tmp_path / "helper.py").write_text(helper)
    (tmp_path / "main.py").write_text(
        f"import torchvision\nfrom helper import freeze\nnet = torchvision.models.resnet18()\nfreeze({given})\n"
    )
    assert [f.code for f in lint(helper, tmp_path / "helper.py").findings] == found


@pytest.mark.parametrize(
    "library, found", [("import shared\n", ["TL501"]), ("import shared\nimport mxnet as mx\n", [])]
)
def test_what_trains_with_another_library_is_not_ours(tmp_path, library, found):
    (tmp_path / "shared.py").write_text("import torch\n")
    (tmp_path / "train.py").write_text(
        f"{library}def train(model, batches, optimizer):\n    for x, y in batches:\n        loss = (model(x) - y).mean()\n"
        "        loss.backward()\n        optimizer.step()\n"
    )
    job = Job.of(tmp_path / "train.py", TEXT_WORLD, strict=True)
    assert [f.code for f in lint((tmp_path / "train.py").read_text(), job).findings] == found


@pytest.mark.parametrize(
    "caller, found",
    [("    with torch.no_grad():\n        validate(net, data)\n", []), ("    validate(net, data)\n", ["TL505"])],
)
def test_who_evaluates_without_gradients_may_stand_in_another_file(tmp_path, caller, found):
    evaluation = (
        "import torch\n\ndef validate(model, loader):\n    model.eval()\n    for x in loader:\n       "
        " print(model(x).sum().item())\n"
    )
    (tmp_path / "evaluation.py").write_text(evaluation)
    (tmp_path / "main.py").write_text(
        "import torch\nfrom evaluation import validate\n\ndef main(net, data):\n" + caller
    )
    assert [f.code for f in lint(evaluation, Job.of(tmp_path / "evaluation.py", TEXT_WORLD)).findings] == found


@pytest.mark.parametrize("learned, found", [("print(centers)", ["TL505"]), ("measure(centers).backward()", [])])
def test_what_is_made_of_a_forward_may_be_learned_from_in_another_file(tmp_path, learned, found):
    evaluation = (
        "import torch\n\ndef prototypes(model, batches):\n    model.eval()\n"
        "    return torch.stack([model(x).mean(0) for x, _ in batches])\n"
    )
    (tmp_path / "prototypes.py").write_text(evaluation)
    (tmp_path / "main.py").write_text(
        "import torch\nimport prototypes\n\ndef episode(net, data, measure):\n"
        f"    centers = prototypes.prototypes(net, data)\n    {learned}\n"
    )
    assert [f.code for f in lint(evaluation, Job.of(tmp_path / "prototypes.py", TEXT_WORLD)).findings] == found


@pytest.mark.parametrize("switch, found", [("", [("TL503", 9)]), ("net.eval()\n        ", [])])
def test_what_evaluates_is_reached_through_others_of_its_file(tmp_path, switch, found):
    (tmp_path / "scoring.py").write_text(
        "import torch\n\nclass Scorer:\n    def hits(self, net, data):\n        return self.gather(net, data).mean()\n\n"
        f"    @torch.no_grad()\n    def gather(self, net, data):\n        {switch}return torch.cat([net(x) for x in data])\n"
    )
    text = (
        "import torch\nfrom torch import nn\nfrom scoring import Scorer\nnet = nn.Sequential(nn.Linear(3, 3), nn.Dropout())\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor epoch in range(3):\n    net.train()\n    for x in data:\n"
        "        optimizer.zero_grad()\n        net(x).sum().backward()\n        optimizer.step()\n"
        "    Scorer().hits(net, val_loader)\n"
    )
    outcome = lint(text, Job.of(tmp_path / "main.py", TEXT_WORLD))
    assert [(f.code, f.span.line) for f in outcome.findings if os.path.basename(f.path) == "scoring.py"] == found


def test_suppressed_findings_are_counted():
    outcome = lint(BAD.replace("y)\n", "y)  # noqa: TL101\n"), Job.of("/nowhere/a.py", TEXT_WORLD))
    assert outcome.findings == () and outcome.suppressed == 1


ACTOR_AND_CRITIC = """
value = critic(state)
critic_loss = F.mse_loss(value, reward)
critic_loss.backward()
actor_loss = (actor(state) * value).mean()
actor_loss.backward()
"""


@pytest.mark.parametrize(
    "imports, shown, asked_for",
    [
        ("critic = torch.nn.Linear(4, 1)\nactor = torch.nn.Linear(4, 1)", ["error"], ["error"]),
        ("from critics import critic, actor", [], ["info"]),
        ("from .critics import critic, actor", [], ["info"]),
    ],
)
def test_what_is_sure_of_a_file_by_itself_is_a_remark_among_others(imports, shown, asked_for, tmp_path):
    """What the others hold may be the answer."""
    (tmp_path / "critics.py").write_text(
        "import torch\ncritic = torch.nn.Linear(4, 1)\nactor = torch.nn.Linear(4, 1)\n"
    )
    text = (
        f"import torch\nimport torch.nn.functional as F\n{imports}\nstate, reward = torch.rand(8, 4), torch.rand(8, 1)"
    )
    path = tmp_path / "train.py"
    for selection, severities in ((Selection(), shown), (Selection(extend_select=("TL2",)), asked_for)):
        settings = Settings(selections=(selection,), dry_run=False)
        outcome = lint(text + ACTOR_AND_CRITIC, Job.of(path, settings, Project(tmp_path)))
        assert [f.severity for f in outcome.findings if f.code == "TL206"] == severities


def test_per_file_ignores(tmp_path):
    settings = Settings(dry_run=False, root=str(tmp_path), per_file_ignores={f"{tmp_path}/tests/*": ("TL1",)})
    assert [f.code for f in lint(BAD, Job.of(tmp_path / "a.py", settings)).findings] == ["TL101"]
    assert lint(BAD, Job.of(tmp_path / "tests" / "a.py", settings)).findings == ()


def test_what_one_file_says_is_said_twice_the_same():
    text = BAD * 30
    assert (
        lint(text, Job.of("/nowhere/a.py", EVERYTHING)).findings
        == lint(text, Job.of("/nowhere/a.py", EVERYTHING)).findings
    )


def finding(column: int, end: int, text: str, applicability: str = "safe", line: int = 1) -> Finding:
    edit = Edit(Span(line, column, line, end), text)
    return Finding("TL999", "x", "/nowhere/a.py", edit.span, f"{column}", fix=Fix("", (edit,), applicability))


@pytest.mark.parametrize(
    "findings, unsafe, fixed",
    [
        ([finding(1, 2, "b")], False, "b = c\n"),
        ([finding(1, 2, "b"), finding(5, 6, "d")], False, "b = d\n"),
        ([finding(1, 6, "b = 1"), finding(5, 6, "d")], False, "b = 1\n"),  # the first of two that overlap
        ([finding(1, 2, "b"), finding(1, 2, "b")], False, "b = c\n"),  # the same edit twice
        ([finding(1, 2, "b"), finding(1, 2, "d")], False, "b = c\n"),
        ([finding(1, 2, "(")], False, "a = c\n"),  # no longer Python
        ([finding(1, 2, "b"), finding(5, 6, ")")], False, "b = c\n"),
        ([finding(1, 2, "b", "unsafe")], False, "a = c\n"),
        ([finding(1, 2, "b", "unsafe")], True, "b = c\n"),
        ([finding(1, 2, "b", "display")], True, "a = c\n"),
    ],
)
def test_fixes_that_meet(findings, unsafe, fixed):
    assert fix("a = c\n", findings, unsafe)[0] == fixed


@pytest.mark.parametrize(
    "text",
    [
        BAD,
        BAD.replace("\n", "\r\n"),
        "\ufeff" + BAD,
        BAD.removesuffix("\n"),
        BAD.replace("loss", "\u540d = '\u00e9\U0001f600'; loss"),
        BAD.replace("loss", "if a: loss"),
        BAD.replace("F.softmax(z, dim=1)", "F.softmax(z, dim=1)  # why\n"),
    ],
    ids=repr,
)
def test_fixing_changes_nothing_else_and_ends(text):
    fixed, applied, left = fix_until_stable(text, Job.of("/nowhere/a.py", TEXT_WORLD), unsafe=True)
    assert fixed == text.replace("F.softmax(z, dim=1)", "z") and len(applied) == 1 and left.findings == ()
    assert fix_until_stable(fixed, Job.of("/nowhere/a.py", TEXT_WORLD), unsafe=True)[:2] == (fixed, [])


ZEROS = '''"""No zeros.

```python bad
torch.zeros(1)  # TL990
```
"""
from torchlint import Call, on_call


@on_call("torch.zeros")
def check(call: Call):
    idle = call.node.args[0].value == 1
    edit = call.insert_before(call.statement, "pass") if idle else call.replace(call.node, "0")
    yield call.finding("zeros", fix=call.fix("none", edit))
'''


def test_a_fix_that_leaves_its_own_finding_is_dropped(tmp_path):
    (tmp_path / "TL990_zeros.py").write_text(ZEROS)
    settings = Settings(dry_run=False, rule_paths=(str(tmp_path),))
    text = (
        "import torch\nif torch:\n    a = torch.zeros(1)\n    b = torch.zeros(2); c = torch.zeros(1), torch.zeros(3)\n"
    )
    fixed, applied, left = fix_until_stable(text, Job.of("/nowhere/a.py", settings))
    assert fixed == text.replace("torch.zeros(2)", "0").replace("torch.zeros(3)", "0")
    assert len(applied) == 2 and [f.span.line for f in left.findings if f.code == "TL990"] == [3, 4]


def test_models_called_in_one_statement_are_one_finding():
    text = "import torch\ndef validate(encoder, decoder, loader):\n    encoder.eval()\n    decoder.eval()\n"
    text += "    for x in loader:\n        print(decoder(encoder(x)).tolist())\n"
    assert codes(text) == [("TL505", 6)]


def test_what_a_stub_declares_does_not_run(tmp_path):
    text = "import torch\nclass Kind:\n    SUM: int\ndef reduce(x: torch.Tensor, kind=Kind.SUM): ...\ntorch.ones(2) @ torch.ones(3)\n"
    assert lint(text, Job.of(str(tmp_path / "a.pyi"), Settings())).findings == ()
    assert [f.code for f in lint(text, Job.of(str(tmp_path / "a.py"), Settings())).findings]


def test_a_load_is_a_warning_where_the_file_comes_from_outside():
    text = "import torch\nfrom huggingface_hub import hf_hub_download\na = torch.load('a.pt', weights_only=False)\n"
    text += "import sys\nc = torch.load(sys.argv[1], weights_only=False)\n"
    assert codes(text) == []
    assert codes(text + "b = torch.load(hf_hub_download('a', 'b'), weights_only=False)\n") == [("TL801", 6)]


@pytest.mark.parametrize(
    "place, edits, landed",
    [
        ((2, 5), [], ((2, 5), (2, 5))),
        ((2, 5), [Edit(Span(1, 1, 1, 1), "a\nb\n")], ((4, 5), (4, 5))),
        ((2, 5), [Edit(Span(2, 1, 2, 3), "abcd")], ((2, 7), (2, 7))),
        ((2, 5), [Edit(Span(1, 3, 2, 2), "")], ((1, 6), (1, 6))),
        ((2, 5), [Edit(Span(2, 5, 2, 5), "x\n    ")], ((2, 5), (3, 5))),
        (
            (2, 5),
            [Edit(Span(2, 1, 2, 1), "with a:\n"), Edit(Span(2, 3, 2, 9), "xyz"), Edit(Span(2, 9, 2, 9), "!")],
            ((3, 3), (3, 6)),
        ),
        ((2, 5), [Edit(Span(2, 6, 2, 7), "")], ((2, 5), (2, 5))),
    ],
)
def test_where_a_place_is_after_edits(place, edits, landed):
    assert landings([place], edits)[place] == landed


def test_functions_that_call_each_other_are_followed_once():
    text = "import torch\ndef even(x):\n    x[0] = 1\n    return odd(x)\ndef odd(x):\n    x += 1\n    return even(x)\n"
    assert codes(text) == []


@pytest.mark.parametrize(
    "text, said",
    [
        (
            "p = torch.softmax(logits, dim=1)\nwith torch.no_grad():\n    loss = p.log().mean()\n    print(loss)\n",
            ("warning", "it underflows to 0"),
        ),
        (
            "p = torch.softmax(logits, dim=1)\nloss = -p.log()\nprint(loss)\n",
            ("warning", "it underflows to 0, and its gradient NaN"),
        ),
    ],
)
def test_what_is_said_fits_the_place(text, said):
    prelude = "import torch\nimport torch.nn.functional as F\nnet = torch.nn.Linear(4, 3)\nlogits = net(x)\n"
    (finding,) = lint(prelude + text, Job.of("/nowhere/a.py", TEXT_WORLD, strict=True)).findings
    assert finding.severity == said[0] and finding.message.endswith(said[1])


@pytest.mark.parametrize(
    "text, said, advised, is_fixed",
    [
        (
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)\n        self.c = nn.Linear(2, 2)\n"
            "    def forward(self, x):\n        a = self.a(x)\n        c = self.c(x)\n        return a + self.b(x)\n",
            "what the layer `self.c` gives is not used: it is not trained",
            "use its result, or delete it with its call",
            False,
        ),
        (
            "x = torch.randn(8, 4)\nx.double()\nprint(x + 1)\n",
            "what `x.double()` returns is dropped: `x` stays as it is",
            "write `x = x.double()`, or remove the call if nothing needs it",
            True,
        ),
        (
            "x = torch.rand(3, requires_grad=True, dtype=kind)\nx.float()\nloss = (x + 1).sum()\nloss.backward()\n",
            "what `x.float()` returns is dropped: `x` stays as it is",
            "make the tensor as it is to be, or remove the call if nothing needs it",
            False,
        ),
        (
            "optimizer = torch.optim.SGD(nn.Linear(2, 2).parameters(), 0.1)\n"
            "schedule = torch.optim.lr_scheduler.StepLR(optimizer, 30)\n"
            "for epoch in range(90):\n    schedule.step(epoch=epoch)\n    train(optimizer)\n",
            "`schedule.step(epoch=epoch)` is deprecated since torch 1.4: a scheduler counts the epochs itself",
            "call `schedule.step()` without it, at the end of each epoch",
            False,
        ),
    ],
)
def test_what_is_advised_is_right_whatever_was_meant(text, said, advised, is_fixed):
    text = "import torch\nfrom torch import nn\n" + text
    found = lint(text, Job.of("/nowhere/a.py", EVERYTHING, strict=True)).findings
    (finding,) = (f for f in found if f.message == said)
    assert finding.help == advised and (finding.fix is not None) is is_fixed


@pytest.mark.parametrize(
    "last, code, words",
    [
        ("nn.Softmax(dim=1)", "nn.CrossEntropyLoss()(net(x), y)", "`net(x)` has applied softmax"),
        ("nn.Sigmoid()", "nn.BCEWithLogitsLoss()(net(x), y)", "`net(x)` has applied the sigmoid"),
        ("nn.Softmax(dim=1)", "loss = -torch.log(net(x))", "the logarithm of `net(x)` is -inf"),
        ("nn.Sigmoid()", "loss = -torch.log(1 - net(x))", "the logarithm of `1 - net(x)` is -inf"),
        ("nn.Softmax(dim=1)", "nn.NLLLoss()(net(x), y)", "given probabilities by `net(x)`"),
    ],
)
def test_the_value_is_named_and_not_the_layer_that_made_it(last, code, words):
    text = f"import torch\nfrom torch import nn\nx, y = load()\nnet = nn.Sequential(nn.Linear(4, 3), {last})\n{code}\n"
    (finding,) = lint(text, Job.of("train.py", Settings(dry_run=False))).findings
    assert words in finding.message


def test_what_a_notebook_shows_of_another_file_is_in_no_cell(tmp_path):
    (tmp_path / "trying.py").write_text(
        "import torch\n\ndef evaluate(net, loader):\n    with torch.no_grad():\n        return [net(x) for x in loader]\n"
    )
    cells = [
        "import torch\nfrom torch import nn\nfrom trying import evaluate\nnet = nn.Sequential(nn.Linear(3, 3), nn.Dropout())",
        "net.train()\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)",
        "for x in loader:\n    optimizer.zero_grad()\n    net(x).sum().backward()\n    optimizer.step()\nwith torch.no_grad():\n    net.scores(x)\nevaluate(net, loader)",
    ]
    notebook = {
        "cells": [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    found = lint(json.dumps(notebook), Job.of(tmp_path / "a.ipynb", TEXT_WORLD)).findings
    assert [(f.code, os.path.basename(f.path), f.cell, f.span.line) for f in found] == [("TL503", "trying.py", None, 5)]


@pytest.mark.parametrize("given, is_fixed", [("x, count", True), ("count, x", False)])
def test_a_device_is_taken_from_what_is_surely_a_tensor(given, is_fixed, tmp_path):
    text = f"""
import torch
from torch import nn

class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, {given}):
        return self.proj(x.flatten(1)) + torch.ones(count, 8)

Masked().to("cuda")
"""
    (found,) = lint(text, Job.of(tmp_path / "masked.py", Settings(dry_run=False))).findings
    assert found.code == "TL301" and (found.fix is not None) is is_fixed


@pytest.mark.parametrize(
    "text",
    [
        "class A(nn.Module):\n    def forward(self, q, k, v):\n        w = F.softmax(q @ k, dim=0)\n"
        "        torch.einsum()\n        return torch.einsum(equation='nl,nld->nd', operands=(w, v))",
        "def train(losses):\n    for () in losses.items():\n        loss.backward()",
        "async def train(net, parts, data):\n    async for part in parts:\n        opt = torch.optim.Adam(net.parameters())\n"
        "        for x, y in data:\n            opt.zero_grad()\n            F.mse_loss(net(x), y).backward()\n"
        "            opt.step()",
    ],
)
def test_what_hardly_anybody_writes_crashes_no_rule(text):
    prelude = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\nfrom torch.utils.data import *\n"
    codes(prelude + text)  # which raises what a rule does
