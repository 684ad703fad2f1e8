"""What depends on something that nobody knows, and is not said; and what has nothing to do with it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from effort import calls_of

torch = pytest.importorskip("torch")

from dry import failing_lines

TRAINING = """
    import random

    import elsewhere

    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    settings = {"width": 3}
    best = elsewhere.number()
"""
APART = {
    "a branch that keeps a number": """
        if random.random() < 0.5:
            best = 1.0
            print("better")
    """,
    "a branch that saves": """
        if elsewhere.number() < 3:
            torch.save(model.state_dict(), "best.pt")
    """,
    "a branch that raises": """
        if elsewhere.number() < 3:
            raise ValueError("too few")
    """,
    "a branch in a function": """
        def shown(value):
            if value < elsewhere.number():
                return "low"
            return "high"

        print(shown(elsewhere.number()))
    """,
    "a statement that was left out": "total = sum(elsewhere.numbers(), 0)[1:2].mean().first",
    "something that is taken to be there": """
        number = elsewhere.number()
        if number is not None:
            best = number
    """,
    "attributes that are set together with it": """
        class World:
            def __init__(self):
                self.row, self.settings = 0, elsewhere.number()

            def move(self):
                self.row += 1 if random.random() < 0.3 else 0

        World().move()
    """,
    "a variable of the same name in a function": """
        def shown():
            settings = {}
            if elsewhere.number() < 3:
                settings["height"] = 4
            return settings

        print(shown())
    """,
    "another part of what a function returns": """
        def read():
            numbers = {}
            if elsewhere.number() < 3:
                numbers["height"] = 4
            return settings, numbers

        settings, numbers = read()
    """,
    "another argument of the same function": """
        def fill(table, number):
            table["height"] = number

        numbers = {}
        if elsewhere.number() < 3:
            best = 3
        fill(numbers, best)

        def width(table, number):
            return table["width"]

        print(width(settings, best))
    """,
    "a method that is called by its name": """
        class Counter:
            def __init__(self, table):
                self.table = table

            def count(self):
                number = 0
                if elsewhere.number() < 3:
                    number = 4
                return number

        counter = Counter(settings)
        print(counter.count())
        settings = counter.table
    """,
    "another constructor": """
        class Table:
            def __init__(self, number):
                self.number = 1
                if number < elsewhere.number():
                    self.number = number

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(4, 2)

            def forward(self, x):
                return self.net(x)

        table = Table(3)
        model = Net()
    """,
}
ENTANGLED = {
    "a long loop that names attributes": """
        rows = torch.zeros(2_000, 3)
        for number, row in enumerate(rows):
            rows[number] = row * 2 + row.mean() - row.sum() + row.abs().max() - row.norm()
            setattr(model, f"row{number}", row)
        print(model.row1999)
    """,
    "a loop over many rows that names attributes": """
        for number, row in enumerate(torch.zeros(20_000, 3)):
            setattr(model, f"row{number}", row)
        print(model.row19999)
    """,
    "a part of what a function returns": """
        def read():
            numbers = {}
            if elsewhere.number() < 3:
                numbers["height"] = 4
            return numbers, settings

        settings, _ = read()
        print(settings["height"])
    """,
    "a part, under another name of the function": """
        def read():
            numbers = {}
            if elsewhere.number() < 3:
                numbers["height"] = 4
            return numbers, settings

        def call(function):
            settings, _ = function()
            print(settings["height"])

        call(read)
    """,
    "which part is returned": """
        def read():
            if elsewhere.number() < 3:
                return {"height": 4}, 3
            return settings, 3

        settings, _ = read()
        print(settings["height"])
    """,
    "a part of what a decorated function returns": """
        def filled(function):
            def inner():
                table, number = function()
                if elsewhere.number() < 3:
                    table = {"height": 4}
                return table, number
            return inner

        @filled
        def read():
            return settings, 3

        settings, _ = read()
        print(settings["height"])
    """,
    "a function around it": """
        def fill():
            def inner():
                if elsewhere.number() < 3:
                    table["height"] = 4

            table = {}
            inner()
            print(table["height"])

        fill()
    """,
    "a function that sets what is outside": """
        def fill():
            global settings
            if elsewhere.number() < 3:
                settings = {"height": 4}

        fill()
        print(settings["height"])
    """,
    "a function from elsewhere": """
        from elsewhere import fill

        if elsewhere.number() < 3:
            fill(settings)
        print(settings["height"])
    """,
    "a default": """
        table = {}
        if elsewhere.number() < 3:
            table = {"height": 4}

        def show(given=table):
            print(given["height"])

        show()
    """,
    "an argument by its name": """
        def fill(number, table):
            if elsewhere.number() < 3:
                table["height"] = number

        fill(table=settings, number=3)
        print(settings["height"])
    """,
    "arguments in a list": """
        def fill(number, table):
            if elsewhere.number() < 3:
                table["height"] = number

        fill(*(3, settings))
        print(settings["height"])
    """,
    "a method": """
        class Filler:
            def fill(self, table):
                if elsewhere.number() < 3:
                    table["height"] = 4

        Filler().fill(settings)
        print(settings["height"])
    """,
    "a constructor": """
        class Table:
            def __init__(self, table):
                self.table = table
                if elsewhere.number() < 3:
                    self.table["height"] = 4

        print(Table(settings).table["height"])
    """,
    "the constructor of a base": """
        class Table:
            def __init__(self, table):
                self.table = table

        class Tall(Table):
            def __init__(self, number):
                table = {}
                if elsewhere.number() < 3:
                    table["height"] = 4
                super().__init__(table)

        print(Tall(3).table["height"])
    """,
    "an item of an object": """
        class Table:
            def __getitem__(self, key):
                table = {}
                if elsewhere.number() < 3:
                    table["height"] = key
                return table

        print(Table()[0]["height"])
    """,
    "an object that is called": """
        class Net(nn.Module):
            def forward(self, x):
                found = {}
                if elsewhere.number() < 3:
                    found["height"] = x
                return found

        net = Net()
        found = net(3)
        print(found["height"])
    """,
    "an object that fills what it is given": """
        class Net(nn.Module):
            def forward(self, x, found):
                if elsewhere.number() < 3:
                    found["height"] = x

        net = Net()
        net(3, settings)
        print(settings["height"])
    """,
    "a property": """
        class Table:
            @property
            def rows(self):
                table = {}
                if elsewhere.number() < 3:
                    table["height"] = 3
                return table

        print(Table().rows["height"])
    """,
    "a generator": """
        def tables():
            table = {}
            if elsewhere.number() < 3:
                table["height"] = 3
            yield table

        for table in tables():
            print(table["height"])
    """,
    "a function that sets what is around it, called on a condition": """
        def run():
            table = {"height": 3}

            def fill():
                nonlocal table
                table = {"width": 4}

            if elsewhere.number() < 3:
                fill()
            print(table["height"])

        run()
    """,
    "a part that an error decides": """
        def read():
            numbers = {}
            if elsewhere.number() < 3:
                numbers["height"] = 4
            try:
                print(numbers["height"])
                return settings, 3
            except KeyError:
                return {"height": 4}, 3

        settings, _ = read()
        print(settings["height"])
    """,
    "a return that compares with something unknown": """
        def read():
            return {"width": 3} if elsewhere.found() is None else settings, 3

        settings, _ = read()
        print(settings["height"])
    """,
    "a method that is found by its name": """
        class Table:
            def rows_found(self):
                table = {}
                if elsewhere.number() < 3:
                    table = {"width": 4}
                return table

            def rows(self, kind):
                return getattr(self, f"rows_{kind}")()

        print(Table().rows("found")["height"])
    """,
    "what a method keeps": """
        class Table:
            rows = {}

            @classmethod
            def fill(cls):
                if elsewhere.number() < 3:
                    cls.rows["height"] = 3

        Table.fill()
        print(Table.rows["height"])
    """,
    "a branch that fills it": """
        if elsewhere.number() < 3:
            settings["height"] = 4
        print(settings["height"])
    """,
    "a branch that fills it under another name": """
        other = settings
        if elsewhere.number() < 3:
            other["height"] = 4
        print(settings["height"])
    """,
    "a function that fills what it is given": """
        def fill(table):
            if elsewhere.number() < 3:
                table["height"] = 4

        fill(settings)
        print(settings["height"])
    """,
    "a branch around it": """
        if elsewhere.number() < 3:
            print(settings["height"])
    """,
    "a name that a branch decides, and another condition asks for": """
        asked = False
        if elsewhere.number() < 3:
            asked = True
        if asked:
            print(settings["height"])
    """,
    "a loop that ends early": """
        for number in range(3):
            settings["height"] = number
            if elsewhere.number() < 3:
                del settings["height"]
                break
        print(settings["height"])
    """,
    "a branch that changes how functions work": """
        if elsewhere.number() < 3:
            globals()["settings"] = {"height": 3}
        print(settings["height"])
    """,
}


@pytest.mark.parametrize("name", APART)
def test_what_nobody_knows_silences_only_what_depends_on_it(tmp_path: Path, name: str) -> None:
    begins = textwrap.dedent(TRAINING) + textwrap.dedent(APART[name])
    assert failing_lines(tmp_path, begins + '\nprint(settings["height"])\n') == ['print(settings["height"])']
    twice = begins + "\nloss = model(torch.randn(3, 4)).square().mean()\nloss.backward()\nloss.backward()  # again\n"
    assert failing_lines(tmp_path, twice) == ["loss.backward()  # again"]


@pytest.mark.parametrize("name", ENTANGLED)
def test_what_nobody_knows_silences_what_depends_on_it(tmp_path: Path, name: str) -> None:
    text = textwrap.dedent(TRAINING) + textwrap.dedent(ENTANGLED[name])
    assert failing_lines(tmp_path, text) == []


@pytest.mark.effort
def test_what_depends_on_what_in_many_files_is_found_once(tmp_path: Path) -> None:
    files = {f"part{i}": f"def work{i}(value):\n    other = value + {i}\n    return other\n" * 5 for i in range(80)}
    imports = "".join(f"import part{i}\n" for i in range(80))
    block = "\nif elsewhere.number() < {0}:\n    print({0})\noptimizer.step()\n"

    def program(blocks: int) -> str:
        return imports + textwrap.dedent(TRAINING) + "".join(block.format(number) for number in range(blocks))

    failing_lines(tmp_path, program(1), **files)  # what is read and compiled once
    few, many = (calls_of(lambda n=n: failing_lines(tmp_path, program(n), **files), 20_000_000) for n in (2, 6))
    assert many < 3 * few
