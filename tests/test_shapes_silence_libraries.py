"""Programs that are right, of whose libraries, masks and fallbacks the dry run once said something."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import failing_lines, faults_of

DOUBLE = "nn.Linear(4, 2).double()(torch.zeros(1, 4))"


def faults(tmp_path, program: str) -> list[str]:
    return [fault.message for fault in faults_of(tmp_path, program)]


@pytest.mark.parametrize(
    "program",
    [
        # what nobody knows may differentiate the loss that it gets
        """
        import steps_of_others

        net, other = nn.Linear(3, 2), nn.Linear(3, 2)
        optimizer = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.1)
        scaled = steps_of_others.Scaled(optimizer)
        for number in range(6):
            x = torch.zeros(4, 3)
            optimizer.zero_grad()
            if torch.rand(()) < 0.5:
                scaled.backward((net(x) + other(x)).mean())
            else:
                scaled((net(x) + other(x)).mean())
            print([p.grad.abs() * p for p in (*net.parameters(), *other.parameters())])
            optimizer.step()
        """,
        """
        import steps_of_others

        net = nn.Linear(3, 2)
        steps_of_others.one(net(torch.zeros(4, 3)).sum())
        print(net.weight.abs() * net.weight.grad)
        torch.autograd.backward([net(torch.zeros(4, 3)).sum()])
        print(net.bias.grad.norm())
        """,
        # a mask picks as many items for what is written as for what was read
        """
        free = torch.tensor([[0.0, 0.1, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]])
        diagonal = torch.eye(3, dtype=torch.bool)
        made = free.clone()
        made[diagonal] = -torch.exp(free[diagonal]) / 2.0
        made[torch.tensor([[True, False, True]] * 3)] = made[torch.tensor([[False, True, True]] * 3)]
        """,
        # a wrapper makes of the parameters tensors that several processes share
        """
        from torch.distributed._composable.fsdp import fully_shard

        net = nn.Linear(3, 2)
        fully_shard(net)
        print([parameter.full_tensor() for parameter in net.parameters()])
        """,
        # argparse gives a default that is a text to the type of its argument
        """
        import argparse

        def flag(text):
            return text.lower() == "true"

        parser = argparse.ArgumentParser()
        parser.add_argument("--box", type=lambda text: [float(part) for part in text.split(",")], default="-1.5,2")
        parser.add_argument("--wide", type=flag, default="False")
        args = parser.parse_args()
        nn.Linear(4 if args.wide else 2, 2)(torch.tensor(args.box, dtype=torch.float32))
        """,
        # a default that the type refuses is never used
        """
        import argparse

        def there(text):
            if not text:
                raise argparse.ArgumentTypeError("no folder is given")
            return text

        parser = argparse.ArgumentParser()
        parser.add_argument("--folder", type=there, default="")
        nn.Linear(3, 2)(torch.zeros(4, 3))
        print(parser.parse_args().folder)
        """,
        # a layer may be as large as a tensor says
        """
        class Patches(nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = nn.Linear(torch.tensor([3, 3, 3]).prod(), 8)
                self.last = nn.Linear(8, 2)

            def forward(self, x):
                return self.last(self.proj(x))
        """,
        # a library takes more than is known of it
        """
        from PIL import Image

        image = Image.open("a.png").convert("RGB").resize((8, 6), resample=Image.BILINEAR)
        image.convert(colours=3).resize((4, 4), reducing_gap=2.0)
        """,
        # what stands where a module is missing is not what those run who have it
        """
        try:
            from parts_of_another_repository import Net, build
        except ImportError:
            class Net(nn.Module):
                def __init__(self, width):
                    super().__init__()

            def build(width):
                return Net(width)

        Net(width=3, channels=2)
        build(3, channels=2)
        """,
        # a module is called with anything
        """
        from inspect import signature

        def run(function, inputs):
            if len(signature(function).parameters) == 0:
                return function()
            return function(inputs)

        run(nn.Linear(3, 2), torch.zeros(4, 3))
        """,
    ],
)
def test_nothing_is_said(tmp_path, program):
    assert faults(tmp_path, program) == []


@pytest.mark.parametrize(
    "program",
    [
        """
        class Net(nn.Module):
            def __init__(self, width):
                super().__init__()

        Net(width=3, channels=2)
        """,
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument("--box", type=lambda text: [float(part) for part in text.split(",")], default="-1.5,2")
        nn.Linear(4, 2)(torch.tensor(parser.parse_args().box, dtype=torch.float32))
        """,
    ],
)
def test_what_is_wrong_there_is_said(tmp_path, program):
    assert len(faults(tmp_path, program)) == 1


def test_a_launcher_of_processes_gives_each_its_rank(tmp_path):
    program = """
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int)
    device = torch.device(f"cuda:{parser.parse_args().local_rank}")
    """
    assert faults(tmp_path, program) == []


def test_the_ends_of_a_range_only_give_their_numbers(tmp_path):
    program = """
    last = torch.tensor(1.0, device="cuda")
    print(torch.linspace(last, last + 1, 5) * torch.ones(5))
    print(torch.logspace(last, last + 1, 5) * torch.ones(5))
    """
    assert faults(tmp_path, program) == []
    assert len(faults(tmp_path, program.replace("torch.linspace(last, last + 1, 5)", "(last * torch.arange(5))"))) == 1


OF_A_BASE = """
    class Descent(torch.optim.SGD):
        def __init__(self, net, rate):
            self.rate = rate
            torch.optim.SGD.__init__(self, net.parameters(), lr=rate)

    class Linearly(torch.optim.lr_scheduler.LRScheduler):
        def __init__(self, optimizer, total):
            self.total = total
            torch.optim.lr_scheduler.LRScheduler.__init__(self, optimizer)

        def get_lr(self):
            return [rate * (1 - self.last_epoch / self.total) for rate in self.base_lrs]

    net = nn.Linear(3, 1)
    optimizer = Descent(net, 0.1)
    schedule = Linearly(optimizer, 9)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.zeros(2, 3)).sum().backward()
        optimizer.step()
        schedule.step()
"""


def test_a_constructor_called_by_the_name_of_its_class(tmp_path):
    """`torch.optim.SGD.__init__(self, …)` does what `super().__init__(…)` does."""
    assert faults(tmp_path, OF_A_BASE) == []
    assert len(faults(tmp_path, OF_A_BASE.replace("lr=rate)", "rate=rate)"))) == 1


def test_what_options_leave_to_a_default_is_likely_only(tmp_path):
    """`train(**options)` of options that nobody knows: a default is used, and what is refused of it is a remark."""
    program = """
    import elsewhere

    def build(rate):
        return torch.optim.SGD(nn.Linear(3, 1).parameters(), lr=rate)

    def train(rate=-1.0, wide=3):
        return build(rate)

    options = vars(elsewhere.parse(train))
    train(**options)
    """
    assert [fault.presumed for fault in faults_of(tmp_path, program)] in ([], [True])
    certain = program.replace("vars(elsewhere.parse(train))", "{}").replace("train(**options)", "train()")
    assert [fault.presumed for fault in faults_of(tmp_path, certain)] == [False]


def test_the_closure_of_lbfgs_returns_the_loss(tmp_path):
    program = """
    net = nn.Linear(3, 1)
    optimizer = torch.optim.LBFGS(net.parameters())

    def closure():
        optimizer.zero_grad()
        loss = net(torch.zeros(2, 3)).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    """
    assert faults(tmp_path, program) == []
    (said,) = faults(tmp_path, program.replace("        return loss\n", ""))
    assert "the closure returns nothing" in said
    assert faults(tmp_path, program.replace("        return loss\n", "").replace("LBFGS", "Adam")) == []


def test_a_module_called_with_other_tensors(tmp_path):
    program = """
    from torch.func import functional_call

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.first, self.second = nn.Linear(2, 8), nn.Linear(8, 1), nn.Linear(8, 1)

        def forward(self, x):
            h = self.body(x)
            return self.first(h).squeeze(-1), self.second(h).squeeze(-1)

    net = Twice()
    fast = dict(net.named_parameters())
    one, other = functional_call(net, fast, (torch.zeros(10, 2),))
    loss = nn.functional.mse_loss(one, torch.zeros(10)) + other.mean()
    grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
    fast = {name: value - 0.1 * grad for (name, value), grad in zip(fast.items(), grads)}
    functional_call(net, fast, (torch.zeros(4, 2),))
    """
    assert faults(tmp_path, program) == []
    assert len(faults(tmp_path, program.replace(" + other.mean()", ""))) == 1  # a layer that the loss does not use
    assert len(faults(tmp_path, program.replace("torch.zeros(4, 2)", "torch.zeros(4, 3)"))) == 1


def test_a_dataset_of_nobody_knows_how_many_samples_is_asked_for_the_first(tmp_path):
    program = """
    import texts

    class Kept(torch.utils.data.Dataset):
        def __init__(self, **kept):
            self.kept = kept

        def __len__(self):
            return len(self.kept["ids"])

        def __getitem__(self, i):
            return {name: values[i] for name, values in self.kept.items()}

    kept = Kept(ids=texts.read(), lengths=torch.tensor([10]))
    for batch in torch.utils.data.DataLoader(kept, batch_size=12):
        print(batch["ids"] @ torch.zeros(3))
    """
    assert faults(tmp_path, program) == []
    assert len(faults(tmp_path, program.replace("texts.read()", "torch.zeros(4, 3)"))) == 1


@pytest.mark.parametrize(
    "ends, wrong",
    [
        ("return kind is not None and issubclass(kind, RuntimeError)", 0),
        ("return isinstance(error, (KeyError, Exception))", 0),
        ("return True", 0),
        ("return self.quiet", 0),
        ("return issubclass(kind, KeyError)", 1),
        ("return kind is None", 1),
        ("return False", 1),
        ("print(kind)", 1),
    ],
)
def test_a_context_of_the_program_may_keep_an_error_back(tmp_path, ends, wrong):
    program = f"""
    class Trying:
        quiet = True

        def __enter__(self):
            return self

        def __exit__(self, kind, error, trace):
            {ends}

    with Trying():
        torch.ones(2) @ torch.ones(3)
    """
    assert len(faults(tmp_path, program)) == wrong


@pytest.mark.parametrize(
    "ends, wrong",
    [
        ("except RuntimeError as error: print(error)", 0),
        ("except Exception: pass", 0),
        ("except: pass", 0),
        ("except KeyError: pass", 1),
        ("except RuntimeError: raise", 1),
        ("finally: print(1)", 1),
    ],
)
def test_a_generator_may_go_on_after_an_error(tmp_path, ends, wrong):
    program = f"""
    from contextlib import contextmanager

    @contextmanager
    def trying():
        try:
            yield
        {ends}

    with trying():
        torch.ones(2) @ torch.ones(3)
    """
    assert len(faults(tmp_path, program)) == wrong


@pytest.mark.parametrize("given, wrong", [("force=True", 0), ("**{'force': True}", 0), ("", 1), ("force=False", 1)])
def test_numpy_may_be_told_to_let_go_of_the_graph(tmp_path, given, wrong):
    assert len(faults(tmp_path, f"nn.Linear(3, 2)(torch.ones(4, 3)).numpy({given})\n")) == wrong


@pytest.mark.parametrize(
    "before, after, inside, wrong",
    [
        ("old, net.head = net.head, nn.Linear(5, 2)", "net.head = old", "net(torch.ones(1, 5))", 0),
        ("stack.append(3)", "stack.pop()", "stack[-1]", 0),
        ("table['a'] = 1", "del table['a']", "table['a']", 0),
        ("torch.set_default_dtype(torch.float64)", "torch.set_default_dtype(torch.float32)", DOUBLE, 0),
        ("print('begins')", "print('ends')", "net(torch.ones(1, 5))", 1),
        ("was = net.training; net.eval()", "net.train(was)", "net(torch.ones(1, 5))", 1),
        ("began = 1", "net.took = 2 - began", "net(torch.ones(1, 5))", 1),
    ],
)
def test_a_generator_may_put_back_what_it_has_changed(tmp_path, before, after, inside, wrong):
    program = f"""
    from contextlib import contextmanager

    stack, table = [], {{}}

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(4, 2)

        def forward(self, x):
            return self.head(x)

    net = Net()

    @contextmanager
    def changed():
        {before}
        yield
        {after}

    with changed():
        {inside}
    """
    assert len(faults(tmp_path, program)) == wrong


@pytest.mark.parametrize("change", ["x.shape = 3, 2", "x.shape = (-1, 2)", "x.resize(4, 2)", "x.resize((4, 2))"])
def test_an_array_may_be_given_other_sizes_in_place(tmp_path, change):
    program = f"""
    import numpy as np

    x = np.zeros((2, 3))
    {change}
    torch.from_numpy(x).float() @ torch.ones(2, 2)
    torch.from_numpy(x).float() @ torch.ones(3, 2)
    """
    assert failing_lines(tmp_path, program) == ["torch.from_numpy(x).float() @ torch.ones(3, 2)"]
