"""Classes made from configurations, and what libraries do around their models: they come to their end, and nothing false
is said.
"""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

USE = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
HEAD = """
class Net(nn.Module):
    def __init__(self, {parameter}):
        super().__init__()
        self.layer = {layer}

    def forward(self, x):
        return self.layer(x)
"""


def ended(tmp_path, text: str, **others: str) -> tuple[int, int, dict]:
    """(module classes, those that ran to their end, why the others did not) of a file that is never wrong."""
    for name, other in others.items():
        (tmp_path / "parts").mkdir(exist_ok=True)
        (tmp_path / "parts" / f"{name}.py").write_text(other)
    path, program = tmp_path / "program.py", USE + textwrap.dedent(text)
    path.write_text(program)
    result = dry_run(program, str(path), Project(tmp_path).view(path))
    assert result.faults == ()
    return result.statistics["modules"], result.statistics["modules_run"], result.reasons


CONFIG = """
class Config:
    def __init__(self, width=48, sides=(12, 4), act="gelu", num_layers=900, **more):
        self.width, self.sides, self.act, self.num_layers = width, sides, act, num_layers
        self.inner = width * len(sides)

ACTS = {"gelu": nn.GELU, "relu": nn.ReLU}
"""
LAYER = "nn.Sequential(nn.Linear({0}.width, {0}.inner), ACTS[{0}.act](), nn.Linear(2 * {0}.width, {0}.sides[1]))"


@pytest.mark.parametrize(
    "beside",
    [
        CONFIG + HEAD.format(parameter="config: Config", layer=LAYER.format("config")),
        CONFIG + HEAD.format(parameter='config: "Config"', layer=LAYER.format("config")),
        CONFIG + HEAD.format(parameter="config: Config | None", layer=LAYER.format("config")),
        CONFIG
        + HEAD.format(parameter="config", layer=LAYER.format("config"))
        + "def build(config: Config):\n    return Net(config)\n",
        CONFIG
        + HEAD.format(parameter="config", layer=LAYER.format("config")).replace(
            "    def __init__", "    config_class = Config\n\n    def __init__"
        ),
        CONFIG
        + HEAD.format(parameter="config", layer=LAYER.format("config")).replace(
            "    def __init__", "    config: Config\n\n    def __init__"
        ),
    ],
)
def test_a_configuration_is_made_of_the_class_that_it_is_said_to_be_of(tmp_path, beside):
    assert ended(tmp_path, beside)[:2] == (1, 1)


def test_a_network_of_many_layers_is_made_with_few(tmp_path):
    layers = "nn.Sequential(*[nn.Linear(config.width, config.width) for _ in range(config.num_layers)])"
    assert ended(tmp_path, CONFIG + HEAD.format(parameter="config: Config", layer=layers))[:2] == (1, 1)


@pytest.mark.parametrize(
    "parameter, layer",
    [
        ("cfg", 'nn.Linear(cfg["model"]["width"], cfg["model"]["classes"])'),
        ("args", "nn.Linear(args.net.width, args.net.classes)"),
        ("h", "nn.ModuleList([nn.Linear(k, h.width) for k in h.kernels])[0]"),
        ("cfg", '{"ln": nn.LayerNorm, "id": nn.Identity}[cfg.norm](cfg.width)'),
        ("cfg", "nn.GRU(cfg.width, 8) if cfg.cell.lower() == 'gru' else int('')"),
        ("widths: list[int]", "nn.Linear(widths[0], 8) if len(widths) >= 3 else int('')"),
        ("spatial_dims", "[int, nn.Conv1d, nn.Conv2d][spatial_dims](3, 8, 1)"),
        ("kind", "nn.GRU(4, 8) if kind.lower() == 'gru' else nn.LSTM(4, 8) if kind.lower() == 'lstm' else int('')"),
    ],
)
def test_what_a_setting_is_is_learned_from_its_use(tmp_path, parameter, layer):
    assert ended(tmp_path, HEAD.format(parameter=parameter, layer=layer))[:2] == (1, 1)


@pytest.mark.parametrize(
    "forward",
    [
        """
    def forward(self, ids=None, embedded=None):
        if (ids is None) == (embedded is None):
            raise ValueError("one of them must be given")
        return self.layer(self.embed(ids) if embedded is None else embedded)
""",
        """
    def forward(self, ids, angles: tuple[torch.Tensor, torch.Tensor] | None = None):
        cos, sin = angles
        x = self.embed(ids)
        return self.layer(x * cos + x * sin)
""",
        """
    def forward(self, embedded, size: tuple[int, int]):
        height, width = size
        batch, tokens, channels = embedded.shape
        return self.layer(embedded.view(batch, height, width, channels))
""",
    ],
)
def test_inputs_that_may_be_missing_are_given_where_they_are_needed(tmp_path, forward):
    program = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.embed, self.layer = nn.Embedding(50, 32), nn.Linear(32, 8)\n" + forward
    )
    assert ended(tmp_path, program)[:2] == (1, 1)


def test_inputs_that_are_called_and_lists_of_layers(tmp_path):
    program = """
    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(24)

        def forward(self, x, sublayer):
            return x + sublayer(self.norm(x))

    class Several(nn.Module):
        def __init__(self, attn_layers):
            super().__init__()
            self.layers = nn.ModuleList(attn_layers)

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x
    """
    assert ended(tmp_path, program)[:2] == (2, 2)


@pytest.mark.parametrize(
    "inside, forward",
    [
        ("nn.Conv1d(24, 24, 3)", "h, m):\n        return self.layer(F.relu(h) * m)"),
        ("nn.Conv3d(4, 4, 1)", "h):\n        return self.layer(self.drop(h)).flatten(2)"),
    ],
)
def test_what_takes_something_computed_of_an_input_says_what_the_input_is(tmp_path, inside, forward):
    program = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.drop, self.layer = nn.Dropout(), {inside}\n    def forward(self, {forward}\n"
    )
    assert ended(tmp_path, program)[:2] == (1, 1)


def test_what_a_base_class_does_with_its_subclasses(tmp_path):
    program = """
    from dataclasses import dataclass

    class Base:
        def __init_subclass__(cls, **options):
            super().__init_subclass__(**options)
            dataclass(cls)
            cls.names = list(cls.__dict__["__annotations__"])

    class Settings(Base):
        width: int = 24
        classes: int = 3

    made = Settings(classes=5)
    layer = nn.Linear(made.width, made.classes)
    layer(torch.zeros(2, 24)).view(2, 5)[:, len(made.names)]

    class Alias:
        names = {"hidden": "width"}
        def __init__(self):
            self.width = 24
        def __getattribute__(self, key):
            if key != "names" and key in super().__getattribute__("names"):
                key = super().__getattribute__("names")[key]
            return super().__getattribute__(key)
    """
    known = "\n    class Net(nn.Module):\n        def __init__(self):\n            super().__init__()\n"
    known += "            self.layer = nn.Linear(Alias().hidden, made.classes)\n"
    known += "        def forward(self, x):\n            return self.layer(x).view(-1, 5)\n"
    assert ended(tmp_path, program + known)[:2] == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        """
        import sys
        width = 24 if "other" in sys.modules else 24
        """,
        """
        from collections.abc import MutableMapping
        class Table(MutableMapping):
            everybody = {"width": 24}
            def __init__(self):
                self.own = {}
            def __getitem__(self, key):
                return self.own[key] if key in self.own else self.everybody[key]
            def __setitem__(self, key, value):
                self.own[key] = value
            def __delitem__(self, key):
                del self.own[key]
            def __iter__(self):
                return iter({**self.everybody, **self.own})
            def __len__(self):
                return len(self.everybody)
            def find(self, key, default):
                return super().get(key, default)
        width = Table().find("width", 3)
        """,
        """
        from contextlib import contextmanager
        class Sizes:
            @contextmanager
            def of(self, width):
                yield width
        with Sizes().of(24) as width:
            pass
        """,
        """
        import importlib.util
        if importlib.util.find_spec("fast_kernels_of_somebody") is not None:
            from fast_kernels_of_somebody import width
        else:
            width = 24
        """,
        """
        def of(width, *, height):
            inside = width
        width = 24 if of.__code__.co_varnames[:2] == ("width", "height") else int("")
        """,
        """
        import numpy as np
        offsets = np.array((0, *np.cumsum([2, 3, 4])))
        width = 20 + len(torch.zeros(3, dtype=torch.long).new_tensor(offsets))
        """,
        """
        import enum
        from typing import NamedTuple
        class Width(NamedTuple):
            value: int
            @staticmethod
            def of(text):
                return Width(24 if isinstance(text, enum.EnumMeta) is False else int(""))
        width = Width.of("24").value
        """,
        """
        from collections import OrderedDict
        from somewhere import whatever
        @whatever
        class Output(OrderedDict):
            def __setitem__(self, key, value):
                super().__setitem__(key, value)
                super().__setattr__(key, value)
        made = Output()
        made["width"] = 24
        width = made.width if list(made.values()) == [24] else int("")
        """,
        """
        @torch.compiler.disable
        def of(width):
            return width
        if not torch.compiler.is_compiling():
            width = of(24)
        """,
        """
        import importlib
        width = getattr(importlib.import_module("parts.sizes"), "width")
        """,
        """
        from parts import width
        """,
        """
        import re
        found = re.search(r"^(\\w+)/(\\d+)(?:@\\w+)?$", "layers/24@main")
        width = int(found.group(2)) if re.match("^[^/]+/", "plain") is None else int("")
        """,
    ],
)
def test_what_libraries_do_around_their_models(tmp_path, text):
    program = textwrap.dedent(text) + HEAD.format(parameter="", layer="nn.Linear(width, 4)").replace("self, )", "self)")
    lazy = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .sizes import width\n"
    assert ended(tmp_path, program, __init__=lazy, sizes="width = 24\n")[:2] == (1, 1)


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(a?){40}b", "(?:a*)*b", "a*a*a*a*a*a*a*b"])
def test_patterns_that_take_for_ever_are_not_tried(tmp_path, pattern):
    text = f"import re\nfound = re.match({pattern!r}, 'a' * 60)\nwidth = 24\n"
    program = text + HEAD.format(parameter="", layer="nn.Linear(width, 4)").replace("self, )", "self)")
    assert ended(tmp_path, program)[:2] == (1, 1)


WRITTEN = {
    "YAML": ("net.yaml", "model:\n  rates: [[1, 3], [2, 5]]\n  widths: [8, 12]\n  start: 24\n"),
    "JSON": ("net.json", '{"model": {"rates": [[1, 3], [2, 5]], "widths": [8, 12], "start": 24}}'),
}
NESTED = """
class Net(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        widths = {widths}
        self.layers = nn.ModuleList()
        for width, dilations in zip(widths, {rates}):
            for dilation in dilations:
                self.layers.append(nn.Conv1d({start} // 3, width * 2 // (len(dilations) * width // 8), 3, dilation))
        assert widths[1] == widths[0] + 4

    def forward(self, x):
        return [layer(x) for layer in self.layers]
"""
PLAIN = NESTED.format(parameters="rates, widths, start", widths="widths", rates="rates", start="start")
KEYS = NESTED.format(
    parameters="h", widths='h["model"]["widths"]', rates='h["model"]["rates"]', start='h["model"]["start"]'
)
ATTRIBUTES = NESTED.format(parameters="h", widths="h.model.widths", rates="h.model.rates", start="h.model.start")


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize("text", [PLAIN, KEYS, ATTRIBUTES], ids=["plain", "keys", "attributes"])
def test_settings_are_those_of_a_file_of_the_project(tmp_path, text, kind):
    assert ended(tmp_path, text)[:2] == (1, 0)
    name, written = WRITTEN[kind]
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / name).write_text(written)
    assert ended(tmp_path, text)[:2] == (1, 1)


@pytest.mark.parametrize(
    "written", ["start: 24\nother: 3\n", "{", "- 1\n- 2\n", "rates: *a\nwidths: [1\nstart: 1\n", "\0"]
)
def test_files_that_say_something_else_are_no_settings(tmp_path, written):
    (tmp_path / "net.yaml").write_text(written)
    assert ended(tmp_path, PLAIN)[:2] == (1, 0)


def test_a_wrong_setting_of_a_file_is_no_finding(tmp_path):
    """`ended` sees to it: which file a run takes, nobody knows."""
    (tmp_path / "net.yaml").write_text("inside: 8\noutside: 12\nthen: 13\n")
    text = """
    class Net(nn.Module):
        def __init__(self, inside, outside, then):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(inside, outside), nn.Linear(then, 2))

        def forward(self, x):
            return self.layers(x)
    """
    ended(tmp_path, text)


def test_data_is_not_read_as_settings(tmp_path):
    name, written = WRITTEN["JSON"]
    for number in range(300):
        (tmp_path / f"{number}.json").write_text(written)
    assert ended(tmp_path, PLAIN)[:2] == (1, 0)
