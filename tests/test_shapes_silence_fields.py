"""What stands in the body of a class may be a field, of which objects have another value, and no method."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of

CLASS = """
    from dataclasses import dataclass
    from typing import Callable, NamedTuple

    import attrs
    import native
    from pydantic import BaseModel

    def step(*, model):
        return model(torch.zeros(1, 2))

    def step_of(self, *, model):
        return model(torch.zeros(1, 2))

"""
FIELD = """
    class Settings(BaseModel):
        width: int = 3
        train: Callable = step
"""
USED = """
    settings = Settings()
    settings.train(model=nn.Linear(2, 2))
"""
BOUND = ["step() takes 0 positional arguments but 1 were given"]


def faults(tmp_path, program: str) -> list[str]:
    return [fault.message for fault in faults_of(tmp_path, CLASS + program)]


@pytest.mark.parametrize(
    "old, new",
    [
        ("", ""),
        ("train: Callable = step", "train = step"),
        ("class Settings(BaseModel)", "class Settings(metaclass=native.Fields)"),
        ("class Settings(BaseModel)", "@attrs.define\n    class Settings"),
        ("class Settings(BaseModel)", "@attrs.define\n    class Settings(nn.Module)"),
        ("class Settings(BaseModel)", "class Settings(native.Options, nn.Module)"),
        ("class Settings(BaseModel)", "@dataclass\n    class Settings"),
        ("class Settings(BaseModel)", "class Settings(NamedTuple)"),
        ("train: Callable = step", "train: Callable = step\n\n    class Settings(Settings):\n        depth: int = 1"),
    ],
)
def test_a_function_in_a_field_is_not_bound(tmp_path, old, new):
    assert faults(tmp_path, FIELD.replace(old, new) + USED) == []


@pytest.mark.parametrize("kind", ["", "(nn.Module)"])
def test_python_binds_a_function_in_a_class(tmp_path, kind):
    program = FIELD.replace("(BaseModel)", kind) + USED
    assert faults(tmp_path, program) == BOUND
    assert faults(tmp_path, program.replace("Callable = step", "Callable = step_of")) == []


@pytest.mark.parametrize("line", ["", "\n        do = train", "\n        do: int = 8"])
def test_methods_are_bound_whatever_the_base_is(tmp_path, line):
    program = f"""
    class Settings(BaseModel):
        def train(self, *, layer):
            return layer(torch.zeros(1, 2)){line}

    Settings().{"do" if "train" in line else "train"}(layer=nn.Linear(3, 2))
    """
    assert faults(tmp_path, program) == ["Linear takes 3 features but gets 2 in (1, 2)"]


@pytest.mark.parametrize(
    "kind, given",
    [
        ("class Settings(BaseModel)", "width=5"),
        ("class Settings(BaseModel)", "train=step, width=5"),
        ("@attrs.define\n    class Settings", "5"),
        ("class Settings(metaclass=native.Fields)", "5"),
        ("@dataclass\n    class Settings", "5"),
    ],
)
def test_what_a_constructor_is_given_is_instead_of_the_default(tmp_path, kind, given):
    program = FIELD.replace("class Settings(BaseModel)", kind)
    use = "\n    nn.Linear(Settings({}).width, 2)(torch.zeros(1, 5))\n"
    assert faults(tmp_path, program + use.format(given)) == []
    assert faults(tmp_path, program + use.format("")) == ["Linear takes 3 features but gets 5 in (1, 5)"]


def test_what_it_is_not_given_is_the_default(tmp_path):
    use = "\n    nn.Linear(Settings(train=step).width, 2)(torch.zeros(1, 5))\n"
    assert faults(tmp_path, FIELD + use) == ["Linear takes 3 features but gets 5 in (1, 5)"]


SETTING_PAST_ITSELF = """
    class Options(dict):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            object.__setattr__(self, "{set}", False)

        def __setattr__(self, name, value):
            if self.__dict__["locked"] and name not in self:
                raise ValueError(name)
            self[name] = value

    options = Options()
    options.width = 3
    nn.Linear(options["width"], 4)(torch.zeros(2, 4))
"""


def test_what_is_set_past_a_class_is_there(tmp_path):
    width = "takes 3 features but gets 4 in (2, 4)"
    assert [message.partition(" ")[2] for message in faults(tmp_path, SETTING_PAST_ITSELF.format(set="locked"))] == [
        width
    ]
    assert faults(tmp_path, SETTING_PAST_ITSELF.format(set="closed"))[0].startswith("there is no 'locked' among")


PAST_A_FROZEN_CLASS = """
    import random
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Options:
        width: int = 3
        depth: int = 0

        def __post_init__(self):
            object.__setattr__(self, {name}, self.width * 2)

        @property
        def hidden(self):
            return self.depth

        @hidden.setter
        def hidden(self, value):
            object.__setattr__(self, "depth", value)

    nn.Linear(Options().depth, 4)(torch.zeros(1, {size}))
"""


@pytest.mark.parametrize("name", ["'depth'", "'hidden'", "random.choice(('width', 'depth'))"])
def test_what_is_set_past_a_frozen_class_is_there_and_its_default_is_not(tmp_path, name):
    assert faults(tmp_path, PAST_A_FROZEN_CLASS.format(name=name, size=6)) == []
    said = faults(tmp_path, PAST_A_FROZEN_CLASS.format(name=name, size=5))
    assert said == (["Linear takes 6 features but gets 5 in (1, 5)"] if name == "'depth'" else [])


@pytest.mark.parametrize("kept, found", [("Compose([T.ToTensor()])", 0), ("ToTensor()", 0), ("Resize(3)", 1)])
def test_what_is_no_layer_may_be_kept_before_there_is_room_for_layers(tmp_path, kept, found):
    program = f"""
    from torchvision import transforms as T

    class Images(nn.Module):
        def __init__(self, count):
            self.count = count
            self.look = T.{kept}

        def __len__(self):
            return self.count

    print(len(Images(3)))
    """
    assert len(faults(tmp_path, program)) == found
