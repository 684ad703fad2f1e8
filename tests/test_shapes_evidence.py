"""What stands behind a fault: errors are about what the program itself makes, remarks about what nobody is sure of."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from dry import faults_of, line_of


def said(folder: Path, text: str) -> list[tuple[str, bool]]:
    """The lines that fail, as they are written, and whether that is a remark only."""
    return [(line_of(folder, fault), fault.presumed) for fault in faults_of(folder, text)]


REMARKS = {
    "a list of what is found, which may be empty here only": """
        import gudhi
        def diagram(found, dim):
            pairs = [torch.as_tensor(p) for p in found if len(p[0]) == dim]
            pairs = [p for p in pairs if len(p) == dim]
            if not pairs:
                return []
            return torch.stack(pairs)
        torch.diff(diagram(gudhi.pairs(), 3))
        """,
    "a number that is given back where there is nothing": """
        import cameras
        def ensemble(x):
            if len(cameras.all()) == 0:
                return 0.0
            return x
        torch.cat([ensemble(torch.zeros(2)) for _ in range(3)])
        """,
    "a branch that nobody knows gives other sizes": """
        import cameras
        x = torch.zeros(4, 3)
        if cameras.wide():
            x = torch.zeros(4, 8)
            print("wide")
        nn.Linear(8, 2)(x)
        """,
    "a helper that resizes on a condition nobody knows": """
        import cameras
        def grown(x):
            if cameras.wide():
                x.resize_(4, 8)
            return x
        nn.Linear(8, 2)(grown(torch.zeros(4, 3)))
        """,
    "a branch that nobody knows gives another dtype": """
        import cameras
        x = torch.zeros(4, 3).double()
        if cameras.wide():
            x = x.float()
        nn.Linear(3, 2)(x)
        """,
    "a function that nobody calls, and a condition on what it is given": """
        def decoded(drop):
            x = torch.zeros(2, 3) if drop else torch.zeros(2, 4)
            if drop:
                x = torch.zeros(2, 4)
            return torch.cat([x, torch.zeros(1, 5)])
        """,
    "sizes of a list that nobody gives": """
        class Block(nn.Module):
            def __init__(self, widths):
                super().__init__()
                self.one = nn.Linear(widths[0], widths[1])
                self.two = nn.Linear(widths[1], 2 * widths[1])
                self.three = nn.Linear(widths[1], 3)

            def forward(self, x):
                return self.three(self.two(self.one(x)))
        """,
    "a long loop, of which a late round does something else": """
        rows = torch.zeros(2_000, 3)
        for number, row in enumerate(torch.zeros(2_000, 3)):
            rows[number] = row * 2 + row.mean() - row.sum() + row.abs().max() - row.norm()
            if number == 1_900:
                rows.resize_(2_000, 4)
        nn.Linear(3, 2)(rows)
        """,
    "a long loop, of which a late round calls something else": """
        def twice(number, row):
            if number == 1_900:
                rows.resize_(2_000, 4)
            return row * 2 + row.mean() - row.sum() + row.abs().max() - row.norm()

        rows = torch.zeros(2_000, 3)
        for number, row in enumerate(torch.zeros(2_000, 3)):
            rows[number] = twice(number, row)
        nn.Linear(3, 2)(rows)
        """,
    "a hook that gives other sizes on a condition nobody knows": """
        import cameras

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 2)
                self.layer.register_forward_hook(self.cut)

            def cut(self, module, given, made):
                if cameras.wide():
                    return made[:, :1]
                return made

            def forward(self, x):
                return self.layer(x)

        nn.Linear(2, 2)(Net()(torch.zeros(3, 4)))
        """,
}
ERRORS = {
    "a long loop whose rounds are all alike": """
        def twice(row):
            return row * 2 + row.mean() - row.sum() + row.abs().max() - row.norm()

        rows = torch.zeros(2_000, 3)
        for number, row in enumerate(torch.zeros(2_000, 3)):
            rows[number] = twice(row)
        nn.Linear(4, 2)(rows)
        """,
    "what is unknown has nothing to do with it": """
        import cameras
        if cameras.wide():
            print("wide")
        nn.Linear(8, 2)(torch.zeros(4, 3))
        """,
    "a number that is a number, whatever is asked before": """
        import cameras
        if cameras.wide():
            print("wide")
        torch.cat([0.5 for _ in range(3)])
        """,
    "a mean has no rows, whatever it is made of": """
        import cameras
        x = torch.zeros(4, 3)
        if cameras.wide():
            x = torch.ones(4, 8)
        loss = x.mean()
        print(loss.data[0])
        """,
    "what is transposed cannot be viewed, however many rows it has": """
        import cameras
        k = 3
        if cameras.wide():
            k = 4
        top = torch.zeros(8, 10).topk(5)[1].t()
        top[:k].view(-1)
        """,
    "two layers that do not fit, whatever comes in": """
        import cameras
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.one = nn.Linear(3, 4)
                self.two = nn.Linear(5, 2)

            def forward(self, x):
                return self.two(self.one(x))

        x = torch.zeros(4, 3)
        if cameras.wide():
            x = torch.ones(4, 3)
        Net()(x)
        """,
    "a function that nobody calls": """
        def decoded(drop):
            x = torch.zeros(2, 4)
            return torch.cat([x, torch.zeros(1, 5)])
        """,
    "one number that nobody gives, and no value of it fits": """
        class Block(nn.Module):
            def __init__(self, width, classes):
                super().__init__()
                self.one = nn.Linear(width, 2 * width)
                self.two = nn.Linear(width, classes)

            def forward(self, x):
                return self.two(self.one(x))
        """,
}

NEVER_REACHED = {
    "a list with a name that nobody defines": """
        class Coupling(nn.Module):
            def __init__(self, left, width):
                super().__init__()
                self.left, self.fc = left, nn.Linear(width, width)

        steps = [nn.Linear(2, 2), Coupling(left, 2), [nn.Linear(2, 2)]]
        net = nn.ModuleList(steps)
        """,
    "what is started as a script": """
        if __name__ == "__main__":
            print(torch.ones(sizes[0]))
            torch.rand(3, 4) @ torch.rand(3, 4)
        """,
}
REACHED = {
    "a name that another file may bring": """
        from elsewhere import *
        print(torch.ones(sizes[0]))
        torch.rand(3, 4) @ torch.rand(3, 4)
        """,
    "a name that a function gives the file": """
        def read():
            global sizes
            sizes = (3, 4)
        print(torch.ones(sizes[0]))
        torch.rand(3, 4) @ torch.rand(3, 4)
        """,
    "names that are entered as a table": """
        globals().update(torch.load("settings.pt"))
        print(torch.ones(sizes[0]))
        torch.rand(3, 4) @ torch.rand(3, 4)
        """,
    "a branch that may not be gone": """
        import cameras
        if cameras.wide():
            print(torch.ones(sizes[0]))
        wide = cameras.wide() and sizes
        later = lambda: sizes
        torch.rand(3, 4) @ torch.rand(3, 4)
        """,
    "a name of Python, and of the older one": """
        print(__file__, xrange(3), type(torch.rand(3)))
        torch.rand(3, 4) @ torch.rand(3, 4)
        """,
    "what stands before it": """
        torch.rand(3, 4) @ torch.rand(3, 4)
        print(torch.ones(sizes[0]))
        """,
}


@pytest.mark.parametrize("name", REMARKS)
def test_remarks(tmp_path, name):
    assert [presumed for _, presumed in said(tmp_path, REMARKS[name])] == [True]


@pytest.mark.parametrize("name", ERRORS)
def test_errors(tmp_path, name):
    assert [presumed for _, presumed in said(tmp_path, ERRORS[name])] == [False]


def test_behind_a_layer_that_torch_refuses_another_fault_is_no_less_sure(tmp_path):
    program = (
        "net = nn.Linear(3, 4)\nnet(torch.rand(2, 5))\ntorch.rand(3, 4) @ torch.rand(3, 4)\ntorch.rand(3).view(7)\n"
    )
    assert [presumed for _, presumed in said(tmp_path, program)] == [False, False, False]


BEHIND = {
    "what an evaluation refuses again": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.out = nn.Linear(3, 4)
            def forward(self, x):
                return self.out(x)
        def errors(net, x):
            with torch.no_grad():
                return net(x)
        def fit(net, rounds):
            optimizer = torch.optim.LBFGS(net.parameters())
            for _ in range(rounds):
                loss = net(torch.rand(2, 5)).sum()
                loss.backward()
                optimizer.step(lambda: loss)
            print(errors(net, torch.rand(2, 5)))
            torch.optim.LBFGS(net.parameters()).step()
        fit(Net(), 5)
        """,
    "a parameter that was to be a plain tensor": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.out = nn.Linear(3, 4)
                self.out.bias = torch.zeros(4)
            def forward(self, x):
                return self.out(x).view(-1, 3)
        Net()(torch.rand(2, 3))
        """,
}


@pytest.mark.parametrize("name", BEHIND)
def test_a_fault_that_is_met_again_hides_no_other(tmp_path, name):
    first, second = said(tmp_path, BEHIND[name])
    assert first[1] is second[1] is False


def test_what_takes_the_place_of_a_parameter_may_have_another_size(tmp_path):
    program = "net = nn.Linear(3, 4)\nnet.bias = torch.zeros(5)\nnet(torch.rand(2, 3)).view(3, 5)\n"
    assert said(tmp_path, program) == [("net.bias = torch.zeros(5)", False)]


@pytest.mark.parametrize("name", NEVER_REACHED)
def test_what_stands_behind_a_name_that_is_defined_nowhere_is_never_reached(tmp_path, name):
    assert [presumed for _, presumed in said(tmp_path, NEVER_REACHED[name])] == [True]


@pytest.mark.parametrize("name", REACHED)
def test_what_may_be_reached_is_said(tmp_path, name):
    assert [presumed for _, presumed in said(tmp_path, REACHED[name])] == [False]
