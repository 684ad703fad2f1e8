"""Programs that are right, seen in real code, of which the dry run once said something."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of

USE = "import torch\nfrom torch import nn\nimport numpy as np\nimport os\n"


@pytest.mark.parametrize(
    "program",
    [
        # a list of what nobody knows may be a list of lists
        """
        def draw(rows):
            if isinstance(rows[0], list):
                print(np.asarray(rows, dtype=np.float32).max(1))

        draw([os.listdir(".")])
        """,
        # a state that is filled under names that are unknown is not empty
        """
        model = nn.Linear(2, 2)
        found = torch.load("best.pt")
        renamed = {}
        for name, value in found.items():
            renamed[name.replace("module.", "")] = value
        model.load_state_dict(renamed)
        """,
        # how many sizes a list has is a guess
        """
        class Decoder(nn.Module):
            def __init__(self, latent_size, reshape):
                super().__init__()
                self.linear = nn.Linear(latent_size, int(np.prod(reshape)))
                self.deconvolve = nn.ConvTranspose2d(reshape[0], 8, 3)
                self.reshape = reshape

            def forward(self, latent):
                x = self.linear(latent)
                b, h = x.shape
                return self.deconvolve(x.reshape(b, *self.reshape))
        """,
        # rounds that may be left out are what fills the output
        """
        def attention(q, k, borders, n):
            out = torch.zeros_like(q)
            for i in range(n):
                start, end = borders[i].item(), borders[i + 1].item()
                size = end - start
                if size == 0 or start < 0:
                    continue
                out[start:end] = q[start:end] * k
            return out

        borders = torch.zeros(5, dtype=torch.int32)
        borders[1:] = torch.randint(1, 9, (4,)).cumsum(0)
        q = torch.randn(borders[-1].item(), 4).requires_grad_()
        attention(q, 2.0, borders, 4).square().mean().backward()
        """,
        # what a layer of the program's own says of itself is not asked for
        """
        class Rows(nn.Embedding):
            def __init__(self, count, wide, ranks=None):
                self.first = ranks.first()
                super().__init__(count // self.first, wide)

            def extra_repr(self):
                return f"first={self.first}"

            def forward(self, ids):
                return nn.functional.embedding(ids, self.weight)
        """,
        # a length and a width whose product a layer takes, for one of which the rest fits
        """
        class Windows(nn.Module):
            def __init__(self, feats):
                super().__init__()
                self.n_feats, n = feats, 2 * feats * 10
                self.encoder = nn.Sequential(nn.Linear(n, 8), nn.ReLU(True), nn.Linear(8, n))
                self.decoder = nn.Sequential(nn.Linear(n, 8), nn.ReLU(True), nn.Linear(8, 2 * feats))
                self.fcn = nn.Sequential(nn.Linear(2 * feats, feats), nn.Sigmoid())

            def encode(self, src, c):
                return self.encoder(torch.cat((src, c), dim=2).permute(1, 0, 2).flatten(start_dim=1))

            def forward(self, src, tgt):
                x = self.decoder(self.encode(src, torch.zeros_like(src)))
                x = self.fcn(x.reshape(-1, 1, 2 * self.n_feats).permute(1, 0, 2))
                return self.decoder(self.encode(src, (x - src) ** 2))
        """,
        # the inner part is never called without its second input
        """
        class Join(nn.Module):
            def __init__(self, wide, skip):
                super().__init__()
                self.narrow = nn.Conv2d(wide, skip, 1)
                self.out = nn.Conv2d(skip + skip, 8, 3)

            def forward(self, x, other=None):
                x = self.narrow(x)
                if other is not None:
                    x = torch.cat([x, other], dim=1)
                return self.out(x)
        """,
        # groups under unknown names, of a model that nobody knows, hold parameters
        """
        from elsewhere import Encoder

        def groups_of(model):
            groups = {}
            for name, p in model.named_parameters():
                if name not in groups:
                    groups[name] = {"params": [], "lr": 0.1}
                groups[name]["params"].append(p)
            return list(groups.values())

        def trainable(model):
            found = []
            for name, p in model.named_parameters():
                if not p.requires_grad:
                    continue
                found.append(p)
            return found

        torch.optim.Adam(groups_of(Encoder()))
        torch.optim.Adam(trainable(Encoder()))
        """,
        # an optimizer of the program's own has what torch's gives it, whatever it is given
        """
        from elsewhere import Encoder

        class Plain(torch.optim.Optimizer):
            def __init__(self, params, lr):
                super().__init__(params, {"lr": lr})

        Plain(Encoder().parameters(), 0.1).zero_grad()
        """,
        # a layer of a class that nobody knows may be a module, with parameters
        """
        from elsewhere import Base, Other

        class Layer(Base):
            def __init__(self, width):
                super().__init__(width)
                self.width = width

        net = nn.Sequential(nn.Linear(2, 3), Layer(3))

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.many = nn.ModuleList()
                self.many.append(Other(3))

        torch.optim.Adam(Net().parameters())
        """,
        # torch asks how many dimensions its layers are given, be it within a Sequential
        """
        from elsewhere import change

        class Strange(nn.Module):
            def forward(self, x):
                return change(x)

        nn.Sequential(Strange(), nn.BatchNorm2d(3))(torch.zeros(2, 3, 4, 4))
        nn.Sequential(Strange(), nn.LSTM(3, 4))(torch.zeros(2, 3, 4))
        """,
        # a signal that is long enough for eleven halves
        """
        class Denoise(nn.Module):
            def __init__(self):
                super().__init__()
                self.down = nn.ModuleList([nn.Conv1d(1, 1, 5, 2, 2) for _ in range(11)])
                self.up = nn.ModuleList([nn.ConvTranspose1d(1 + (i > 0), 1, 6, 2, 2) for i in range(11)])

            def forward(self, x):
                found, x = [], x.permute(0, 2, 1)
                for layer in self.down:
                    x = layer(x)
                    found.append(x)
                for layer, before in zip(self.up, found[-2::-1]):
                    x = torch.cat((layer(x), before), 1)
                return x
        """,
        # what fails is shown
        """
        try:
            torch.zeros(3, 4).T.view(-1)
        except RuntimeError as error:
            print(f"that fails: {error}")
        try:
            _ = nn.Linear(3, 4)(torch.zeros(2, 5))
        except (RuntimeError, ValueError) as error:
            print("that fails, too", str(error)[:60])
        """,
        # a set of unknown names has some
        """
        found = set()
        found.add(os.uname().nodename)
        print(found.pop())
        """,
        # what is given to a model on several GPUs is moved to them
        """
        net = nn.parallel.DistributedDataParallel(nn.Linear(3, 4).cuda(), device_ids=[0])
        net(torch.zeros(2, 3))
        nn.DataParallel(nn.Linear(3, 4).cuda())(torch.zeros(2, 3))
        """,
        # one sample at a time
        """
        class Attend(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = nn.RNN(11, 128)

            def forward(self, x, hidden):
                found, hidden = self.cell(x.transpose(0, 1), hidden)
                scores = torch.zeros(len(found))
                for i in range(len(found)):
                    scores[i] = torch.dot(hidden[0].view(-1), found[i].view(-1))
                return torch.softmax(scores, 0).view(1, 1, -1).bmm(found.transpose(0, 1))
        """,
        # torch's own base of all norms
        """
        from torch.nn.modules.batchnorm import _BatchNorm

        class Norm(_BatchNorm):
            def _check_input_dim(self, x):
                pass

        nn.Sequential(nn.Linear(3, 4), Norm(4))(torch.ones(2, 3))
        """,
        # whatever the kernel is: what has no batch is not what BatchNorm1d takes for one
        """
        class Post(nn.Module):
            def __init__(self, hparams):
                super().__init__()
                size, width = hparams.kernel, hparams.width
                self.parts = nn.ModuleList([
                    nn.Sequential(nn.Conv1d(hparams.mels if i == 0 else width, width, size, padding=int((size - 1) / 2)), nn.BatchNorm1d(width))
                    for i in range(3)
                ])

            def forward(self, x):
                for part in self.parts:
                    x = torch.tanh(part(x))
                return x
        """,
        # what a loop over unknown lines would have filled, behind a condition or after more rounds
        """
        lines, all_of_them = [], []
        for i, line in enumerate(open("text.txt").read().split("\\n")):
            if i > 50:
                break
            parts = line.split(",")
            if len(parts) == 2:
                lines.append(parts)
            all_of_them.append(len(parts))
        torch.tensor(lines)[0], torch.tensor(all_of_them)[0]
        """,
        # what a callback fills, of which nobody knows when it is called
        """
        from elsewhere import Engine

        losses, engine = [], Engine()

        @engine.on("end")
        def keep(loss):
            losses.append(loss)

        engine.run()
        torch.tensor(losses) + torch.ones(5)
        """,
        # the program's own words, out of a function that a command line calls
        """
        import click

        @click.command()
        @click.option("--path", default=None)
        def train(path):
            if path is None:
                raise Exception("where is the shape of the data?")

        train()
        """,
        # what an environment gives may be a number or an array of them
        """
        import gym

        env, rows = gym.make("CartPole-v1"), []
        for _ in range(20):
            state, reward, done, info = env.step(1)
            rows.append(state)
        nn.Linear(4, 2)(torch.tensor(rows, dtype=torch.float))
        """,
        # one channel of 28 by 28 fits
        """
        class Dense(nn.Module):
            def __init__(self, size=784):
                super().__init__()
                self.fc = nn.Linear(size, 10)

            def forward(self, x):
                batch, channels, height, width = x.size()
                return self.fc(x.view(batch, -1))
        """,
        # the same in the dict that states are
        """
        from collections import OrderedDict

        renamed = OrderedDict()
        for name, value in torch.load("best.pt").items():
            renamed[name[7:]] = value
        nn.Linear(2, 2).load_state_dict(renamed)
        """,
        # an exercise that is not done yet, and lengths that nobody knows behind a command line
        """
        import click

        def step():
            raise NotImplemented("of what shape is the loss?")

        @click.command()
        def main():
            len(object())

        try:
            step()
        except Exception:
            pass
        main()
        """,
        # the gradient of a sparse embedding is sparse
        """
        table = nn.Embedding(10, 4, sparse=True)
        optimizer = torch.optim.SparseAdam(list(table.parameters()))
        table(torch.tensor([1, 2])).sum().backward()
        optimizer.step()
        """,
        # a size that is always given
        """
        class Score(nn.Module):
            def __init__(self, size: int = -1):
                super().__init__()
                self.fc = nn.Linear(size, 8)

            def forward(self, x):
                return self.fc(x)
        """,
        # a copy of a dict that nobody knows, with something more
        """
        from elsewhere import search

        best, _ = search()
        copied, spread = dict(best), {**best, "fast": True}
        copied["fast"] = False
        nn.Conv2d(3, copied.get("width"), kernel_size=spread.get("size"))
        """,
        # a schedule of the program's own, over an optimizer that nobody knows
        """
        from torch.optim.lr_scheduler import _LRScheduler
        from elsewhere import optimizer_of

        class WarmUp(_LRScheduler):
            def __init__(self, optimizer, steps):
                self.steps = steps
                super().__init__(optimizer)

        WarmUp(optimizer_of(nn.Linear(2, 2)), 3).step()
        """,
        # the device of a module may be given by name
        """
        net = nn.Linear(3, 1).to(device="cuda:0")
        net(torch.ones(2, 3, device=torch.device("cuda")))
        """,
        # a new tensor is where the one is that makes it
        """
        where, rows = torch.LongTensor([]).cuda(), torch.zeros(5, 3).cuda()
        rows.index_select(0, where.new_tensor(range(2))).sum() + rows[where.new([1, 2])].sum()
        """,
        # what is executed fills the dict that it is given
        """
        about = {}
        with open("version.py") as file:
            exec(file.read(), about)
        print(torch.__version__ + about["__version__"], torch.zeros(3).view(about.get("size", 4)))
        """,
        # how wide the copy is depends on the data
        """
        class Net(nn.Module):
            def __init__(self, wide=4):
                super().__init__()
                self.fc = nn.Linear(4, wide)

            def pruned(self, data):
                smaller = Net(4)
                if data.mean() > 0:
                    smaller.fc = nn.Linear(4, 3)
                other = Net(4)
                other.load_state_dict(smaller.state_dict())
                return other

        Net().pruned(torch.rand(2, 4))
        """,
        # a module is no scripted one
        """
        from torch.jit import ScriptModule

        def name(module):
            return str(module.original_name) if isinstance(module, ScriptModule) else str(module._get_name())

        name(nn.Linear(2, 2)), name(nn.Sequential(nn.Linear(2, 2)))

        class Scripted(ScriptModule):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(2, 2)

            def forward(self, x):
                return self.fc(x)

        Scripted()(torch.ones(1, 2)).view(2)
        """,
        # where there are two GPUs, both tensors are on the second one
        """
        def gpu(i):
            return torch.device(f"cuda:{i}") if torch.cuda.device_count() > i else torch.device("cpu")

        first, second = torch.ones(2, 3, device=gpu(0)), torch.ones(2, 3, device=gpu(1))
        first.cuda(1) + second
        """,
        # what stands in place of something that every caller gives
        """
        def statistics(x, mean=None, scale=1.0):
            return torch.tensor([scale, mean])

        def spread(x, *, size=-2):
            return torch.ones(4).view(size, 2)

        def first(x, rows=[]):
            return torch.ones(4)[len(rows) + 4]
        """,
        # what is left to whoever does the exercise
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                # Your code here!

            def forward(self, x):
                return x  # <- YOUR CODE HERE

        def unpacked(x):
            \"\"\"The numbers behind the bytes.\"\"\"
            # write your solution here

        masks = {
            "left": ...,  # insert code here
        }
        Net()(torch.ones(2, 3)).view(7)
        torch.allclose(torch.ones(2), unpacked(torch.ones(2)))
        torch.where(masks["left"] == 0, 0, 1.0)
        """,
        # the entry before the first round is never the best one
        """
        class History:
            def __init__(self):
                self.epochs = {0: {"met": float("inf"), "mean": None}}

            def best(self):
                return self.epochs[min(self.epochs, key=lambda e: self.epochs[e]["met"])]

        def run(loader):
            history = History()
            for epoch, x in enumerate(loader, 1):
                if x.mean() < 3:
                    history.epochs[epoch] = {"met": x.mean().item(), "mean": 2.0}
            entry = history.best()
            return torch.tensor([entry["met"], entry["mean"]])

        run(torch.utils.data.DataLoader(os.listdir(".")))
        """,
        # a trainer brings the module and the batches to a device of its choice
        """
        import pytorch_lightning as pl

        class Contrast(pl.LightningModule):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(4, 3)
                self.register_buffer("queue", torch.randn(3, 5))
                self.bank = torch.zeros(7, 7)

            def on_validation_epoch_start(self):
                self.bank = self.net(torch.rand(6, 4).cuda()).t()

            def validation_step(self, batch, index):
                return self.net(batch[0].cuda()) @ self.bank

            def forward(self, x):
                logits = self.net(x) @ self.queue
                labels = torch.zeros(logits.shape[0], dtype=torch.long).cuda()
                return nn.CrossEntropyLoss().cuda()(logits, labels)

            def training_step(self, batch, index):
                return self(batch[0]) + batch[1].cuda().mean()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)

        data = torch.utils.data.TensorDataset(torch.rand(8, 4), torch.rand(8))
        trainer = pl.Trainer(gpus=1, max_epochs=3)
        loader = torch.utils.data.DataLoader(data, batch_size=4)
        trainer.fit(Contrast(), loader, loader)
        """,
        # sides that are pooled are rounded: of those that come to one size some fit further on
        """
        class Cropped(nn.Module):
            def __init__(self):
                super().__init__()
                self.downs = nn.ModuleList(nn.Conv2d(a, 4, 5) for a in (3, 4, 4, 4))
                self.center = nn.Conv2d(4, 4, 5)
                self.ups = nn.ModuleList(nn.Conv2d(a, 4, 5) for a in (9, 8, 8, 8))
                self.depth = nn.Linear(1, 121)

            def forward(self, x, depth):
                kept = []
                for down in self.downs:
                    kept.append(down(x))
                    x = nn.functional.max_pool2d(kept[-1], 2)
                x = torch.cat((self.depth(depth).view(depth.shape[0], 1, 11, 11), self.center(x)), 1)
                for before, up in zip(kept[::-1], self.ups):
                    x = nn.functional.interpolate(x, scale_factor=2)
                    cut = (before.size(2) - x.size(2)) // 2
                    x = up(torch.cat((before[:, :, cut:-cut, cut:-cut], x), 1))
                return x
        """,
        # an option without a default is given where it is compared with names
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument("--data")
        args = parser.parse_args()
        rows = [{"data": "birds", "steps": 3}, {"data": "cars", "steps": 4}]
        steps = [row["steps"] for row in rows if args.data == row["data"]][0]
        print(torch.zeros(steps))
        """,
    ],
)
def test_nothing_is_said(tmp_path, program):
    assert [(f.span.line, f.message) for f in faults_of(tmp_path, program, USE)] == []


def test_a_layer_made_by_a_class_of_the_program_is_refused_by_torch(tmp_path):
    """A Sequential of the program's own runs torch's code: what its layers refuse is a fault like any other."""
    program = """
    class Block(nn.Sequential):
        def __init__(self, wide, out):
            super().__init__(nn.Linear(wide, out), nn.ReLU())

    Block(4, 8)(torch.zeros(2, 5))
    """
    assert [f.kind for f in faults_of(tmp_path, program, USE)] == ["shape"]


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    out = nn.Linear(3, 4)(torch.zeros(2, 5))\nexcept RuntimeError as error:\n    print(error)",
        "try:\n    nn.Linear(3, 4)(torch.zeros(2, 5))\nexcept Exception as error:\n    print(error)",
        "try:\n    nn.Linear(3, 4)(torch.zeros(2, 5))\nexcept RuntimeError:\n    pass",
        "try:\n    out = nn.Linear(3, 4)(torch.zeros(2, 5))\nexcept (ValueError, RuntimeError):\n    print('odd')",
    ],
)
def test_what_fails_and_is_hidden_is_said(tmp_path, text):
    assert [f.kind for f in faults_of(tmp_path, text, USE)] == ["shape"]


def test_a_distributed_model_that_moves_nothing_gets_what_is_on_the_cpu(tmp_path):
    program = "nn.parallel.DistributedDataParallel(nn.Linear(3, 4).cuda())(torch.zeros(2, 3))"
    assert [f.kind for f in faults_of(tmp_path, program, USE)] == ["device"]


def test_whoever_catches_a_kind_that_says_what_is_wrong_has_expected_it(tmp_path):
    program = """
    def start(module):
        for name, weight in module.named_parameters():
            try:
                nn.init.xavier_normal_(weight)
            except ValueError:
                print(name, "has no fans")

    nn.Linear(4, 8).apply(start)
    """
    assert faults_of(tmp_path, program, USE) == ()
