"""Functions of libraries that scripts use beside their networks: each in a program that works and one that does not."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of, line_of

# what comes first, what works, and what does not
PROGRAMS = {
    "words that are counted": (
        "from collections import Counter\ncounts = Counter('a b a'.split())\ncounts.update(['c'], a=2)\n"
        "counts.subtract({'b': 1})\n",
        "nn.Linear(len(counts), 2)(torch.ones(1, counts['a'] - 1))",
        "nn.Linear(len(counts), 2)(torch.ones(1, counts['a'] + counts['z']))",
    ),
    "words of a text that is drawn": (
        "import random\nvocabulary = {'a': 0, 'b': 1}\ntext = f\"{random.choice(['a b', 'b'])} a\"\n"
        "numbers = torch.tensor([vocabulary[word] for word in text.split()])\n",
        "nn.Embedding(2, 3)(numbers) @ torch.ones(3)",
        "nn.Embedding(2, 3)(numbers) @ torch.ones(4)",
    ),
    "fields that are given by their parameter's name": (
        "import collections\nStep = collections.namedtuple('Step', field_names=['state', 'action'], defaults=[1])\n"
        "step = Step(torch.ones(3))\n",
        "step.state @ torch.ones(3) + step.action",
        "step.state @ torch.ones(4) + step.action",
    ),
    "a seed that is given by its parameter's name": (
        "import numpy as np\nrows = np.random.default_rng(seed=3).random((5, 3), dtype=np.float32)\n",
        "torch.from_numpy(rows) @ torch.ones(3)",
        "torch.from_numpy(rows) @ torch.ones(4)",
    ),
    "a seed, or a generator, that nobody knows": (
        "import json\nsettings = json.load(open('x.json'))\nseed, device = settings['seed'], settings['device']\n"
        "generator = torch.Generator().manual_seed(seed)\nother = torch.Generator(device)\nother.manual_seed(seed)\n"
        "x = 2 * torch.randn(2, 3, generator=generator)[torch.randperm(2, generator=other)]\n",
        "x @ torch.ones(3)",
        "x @ torch.ones(4)",
    ),
    "a class of the program's that hands unknown tensors to that of a library": (
        "import scipy.io\nfrom torch.utils.data import DataLoader, TensorDataset\n\n\nclass Pairs(TensorDataset):\n"
        "    def __init__(self, *parts):\n        super().__init__(*parts, torch.ones(9, 3))\n\n\n"
        "pairs = Pairs(torch.tensor(scipy.io.loadmat('x')['x']))\n",
        "next(iter(DataLoader(pairs, 3)))[1] @ torch.ones(3)",
        "next(iter(DataLoader(pairs, 3)))[1] @ torch.ones(4)",
    ),
    "an option that is taken away": (
        "import argparse\nfrom easydict import EasyDict\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--path', default='x')\nparser.add_argument('--width', type=int, default=3)\n"
        "options, more = parser.parse_args(), EasyDict(path='x', height=3)\ndel options.path, more.path\n\n\n"
        "def make(width, height):\n    return torch.ones(width) @ torch.ones(height)\n\n\n",
        "make(**vars(options), **more)",
        "make(**vars(options), **more, path='x')",
    ),
    "a mapping that is set into settings": (
        "from easydict import EasyDict\nsettings = EasyDict()\nsettings.data = {}\nsettings.data.size = 3\n"
        "settings['model'] = {'width': 4}\n",
        "nn.Linear(settings.data.size, settings.model.width)(torch.ones(2, 3))",
        "nn.Linear(settings.data.size, settings.model.width)(torch.ones(2, 4))",
    ),
    "what else there is of an image": (
        "from PIL import Image\nimage = Image.open('x.png').convert('RGB')\nimage.show()\n"
        "width, form = len(image.mode), image.format\n",
        "torch.ones(width) @ torch.ones(3)",
        "torch.ones(width) @ torch.ones(4)",
    ),
    "what is one number for NumPy": (
        "import numpy as np\nsizes = [3 if np.isscalar(one) else len(one) for one in (2.0, np.float64(2), [1, 2, 3], np.ones(3))]\n",
        "torch.ones(sizes[0], sizes[1]) @ torch.ones(sizes[2], sizes[3])",
        "torch.ones(sizes[0], sizes[1]) @ torch.ones(sizes[2] + 1, sizes[3])",
    ),
    "keywords of NumPy": (
        "import numpy as np\nrows = np.ones((5, 3), 'float32').transpose(axes=(1, 0))\n"
        "parts = np.random.dirichlet(alpha=[0.5] * 5, size=3)\n",
        "torch.from_numpy(rows) + torch.from_numpy(parts)",
        "torch.from_numpy(rows.T) + torch.from_numpy(parts)",
    ),
    "a record of which a part is made anew": (
        "import dataclasses\nfrom elsewhere import settings\nother = dataclasses.replace(settings, width=4)\nwidth = 3\n",
        "torch.ones(width) @ torch.ones(3)",
        "torch.ones(width) @ torch.ones(4)",
    ),
    "a queue of unknown length": (
        "import collections, os\nqueue, length = collections.deque([], maxlen=int(os.environ['N'])), 3\n"
        "for _ in range(9):\n    queue.append(torch.ones(3))\n",
        "torch.ones(length) @ torch.ones(3)",
        "torch.ones(length) @ torch.ones(4)",
    ),
    "a tensor of two long rows": (
        "rows = torch.ones(2, 30_000)\nfirst, second = rows\n",
        "first + second",
        "first @ rows",
    ),
    "the late words of a text that is drawn": (
        "import random\nwords = []\nfor _ in range(300):\n    words += random.choice(['a b', 'b']).split()\n"
        "numbers = torch.tensor([{'a': 0, 'b': 1}[word] for word in words])\n",
        "nn.LSTM(3, 4)(nn.Embedding(2, 3)(numbers[250:]))",
        "nn.LSTM(4, 4)(nn.Embedding(2, 3)(numbers[250:]))",
    ),
    "an item that is drawn": (
        "import random\nmoves = [(torch.ones(3), k % 2) for k in range(9)]\nplace = random.randrange(9)\n",
        "moves[place][0] @ torch.ones(3)",
        "moves[place][0] @ torch.ones(4)",
    ),
    "a transformer with a large mask": (
        "layers = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2)\n"
        "mask = nn.Transformer.generate_square_subsequent_mask(40)\n"
        "out = layers(torch.ones(40, 2, 8), torch.ones(5, 2, 8), tgt_mask=mask)\n",
        "nn.Linear(8, 2)(out)",
        "nn.Linear(9, 2)(out)",
    ),
    "a list that is written down is what it was": (
        "import json, pickle, matplotlib.pyplot as plt\nrows = [1, 2]\nplt.plot(rows)\nplt.legend(rows)\nplt.show()\n"
        "json.dump(rows, open('x', 'w'))\npickle.dump(rows, open('x', 'wb'))\n",
        "rows[1]",
        "rows[2]",
    ),
    "a model that is watched is what it was": (
        "import wandb\nfrom torch.utils.tensorboard import SummaryWriter\nnet = nn.Linear(3, 4)\n"
        "wandb.init(project='x', config={})\nwandb.watch(net)\nwith SummaryWriter() as writer:\n"
        "    writer.add_graph(net, torch.ones(2, 3))\n    writer.add_scalar('x', 1.0, 2)\n",
        "net.weight",
        "net.weights",
    ),
    "a model whose scores are logged is what it was": (
        "import logging, time\nnames = {'a': 3}\nlogging.info('%s', names)\nstart = time.time()\n"
        "logging.info('took %.1f', time.time() - start)\n",
        "names['a']",
        "names['b']",
    ),
    "labels that are scored are what they were": (
        "from sklearn.metrics import confusion_matrix, auc, roc_curve\nseen = [0, 1]\nconfusion_matrix(seen, seen)\n"
        "fpr, tpr, at = roc_curve(seen, seen)\nprint(auc(fpr, tpr) + 1)\n",
        "seen[0]",
        "seen[7]",
    ),
    "choices": (
        "import random\npairs = random.choices([(torch.ones(3), 1), (torch.ones(3), 0)], k=4)\n",
        "torch.stack([one for one, _ in pairs]) @ torch.ones(3)",
        "torch.stack([one for one, _ in pairs]) @ torch.ones(4)",
    ),
    "numbers in a text": ("x = torch.ones(3)\n", "f'{x.mean():.2f} {x}'", "f'{x:.2f}'"),
    "numbers in a file": (
        "import json\nx = torch.ones(3)\n",
        "json.dumps({'x': x.tolist()})",
        "json.dumps({'x': [x.mean()]})",
    ),
    "an array seen from its end": (
        "import numpy as np\nrows = np.zeros((4, 3))\n",
        "torch.from_numpy(rows[::-1].copy())",
        "torch.from_numpy(rows[::-1])",
    ),
    "a picture that is turned over": (
        "import numpy as np\npicture = np.zeros((4, 3, 3))\n",
        "torch.tensor(np.fliplr(picture) / 255)",
        "torch.tensor(np.fliplr(picture))",
    ),
    "two dicts in one": (
        "from somewhere import thing\noptions = {'x': thing, 'wide': 3} | {'y': thing}\noptions |= {'z': thing}\n",
        "torch.ones(options['wide']) @ torch.ones(3)",
        "torch.ones(options['wide']) @ torch.ones(4)",
    ),
    "a sampler that comes with other options": (
        "from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler\n"
        "data = TensorDataset(torch.ones(9, 3))\noptions = dict(batch_size=4, shuffle=False)\n"
        "options['sampler'] = WeightedRandomSampler([1.0] * 9, 9)\n",
        "DataLoader(data, **options)",
        "DataLoader(data, **options | {'shuffle': True})",
    ),
    "batches of a sampler": (
        "from torch.utils.data import DataLoader, BatchSampler, RandomSampler\ndata = [torch.ones(3)] * 9\n"
        "batches = BatchSampler(RandomSampler(data), 4, drop_last=False)\n",
        "DataLoader(data, batch_sampler=batches)",
        "DataLoader(data, batch_sampler=batches, batch_size=4)",
    ),
    "workers that stay": (
        "from torch.utils.data import DataLoader\nworkers = len('ab')\ndata = [torch.ones(3)] * 9\n",
        "DataLoader(data, num_workers=workers, persistent_workers=True, prefetch_factor=4)",
        "DataLoader(data, num_workers=workers - 2, persistent_workers=True)",
    ),
    "a stream is in its own order": (
        "from torch.utils.data import DataLoader, IterableDataset\nclass Stream(IterableDataset):\n"
        "    def __iter__(self):\n        yield torch.ones(3)\n",
        "DataLoader(Stream(), shuffle=False)",
        "DataLoader(Stream(), shuffle=True)",
    ),
    "pairs of sizes": (
        "import itertools\nnet = nn.Sequential(*[nn.Linear(a, b) for a, b in itertools.pairwise([3, 8, 5])])\n",
        "net(torch.ones(2, 3))",
        "net(torch.ones(2, 4))",
    ),
    "arguments in rows": (
        "import itertools\nnet = nn.Sequential(*itertools.starmap(nn.Linear, [(3, 8), (8, 5)]))\n",
        "net(torch.ones(2, 3))",
        "net(torch.ones(2, 5))",
    ),
    "warnings that are caught": (
        "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n    x = torch.ones(3, 4)\n",
        "x @ torch.ones(4)",
        "x @ torch.ones(3)",
    ),
    "a model in one row": (
        "from torch.nn.utils import parameters_to_vector, vector_to_parameters\nnet = nn.Linear(3, 4)\n"
        "row = parameters_to_vector(net.parameters())\nvector_to_parameters(row * 2, net.parameters())\n",
        "row + torch.ones(16)",
        "row + torch.ones(12)",
    ),
    "a row that is too short for a model": (
        "from torch.nn.utils import vector_to_parameters\nnet = nn.Linear(3, 4)\n",
        "vector_to_parameters(torch.ones(16), net.parameters())",
        "vector_to_parameters(torch.ones(15), net.parameters())",
    ),
    "a Jacobian": (
        "from torch.autograd.functional import jacobian\nj = jacobian(nn.Linear(3, 4), torch.ones(2, 3))\n",
        "j + torch.ones(2, 4, 2, 3)",
        "j + torch.ones(2, 3, 2, 4)",
    ),
    "Jacobians of several": (
        "from torch.autograd.functional import jacobian\n"
        "a, b = jacobian(lambda x, y: x @ y, (torch.ones(2, 3), torch.ones(3)))\na.numpy()\n",
        "b + torch.ones(2, 3)",
        "b + torch.ones(2, 2)",
    ),
    "a Hessian": (
        "from torch.autograd.functional import hessian\nh = hessian(lambda x: (x**3).sum(), torch.ones(5))\nh.numpy()\n",
        "h @ torch.ones(5)",
        "h @ torch.ones(4)",
    ),
    "pictures, function by function": (
        "import torchvision.transforms.functional as TF\nfrom PIL import Image\n"
        "x = TF.normalize(TF.to_tensor(TF.resize(Image.open('x.png').convert('RGB'), (32, 32))), [0.5], [0.5])\n",
        "nn.Conv2d(3, 8, 3)(x[None])",
        "nn.Conv2d(1, 8, 3)(x[None])",
    ),
    "boxes": (
        "from torchvision.ops import nms, box_iou\nboxes = torch.ones(9, 4)\n"
        "kept = boxes[nms(boxes, torch.ones(9), 0.5)]\nbox_iou(boxes, torch.ones(5, 4)) + torch.ones(9, 5)\n",
        "nn.Linear(4, 2)(kept)",
        "nn.Linear(5, 2)(kept)",
    ),
    "parts of the data": (
        "import numpy as np\nparts = np.array_split(np.ones((10, 3), 'float32'), 4)\n",
        "nn.Linear(3, 1)(torch.from_numpy(parts[0]))",
        "nn.Linear(10, 1)(torch.from_numpy(parts[0]))",
    ),
    "the first gradients of functorch": (
        "from functorch import grad, vmap\ng = vmap(grad(lambda a: (a**2).sum()))(torch.ones(3, 4))\n",
        "g @ torch.ones(4)",
        "g @ torch.ones(3)",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_works_is_silent_and_what_does_not_is_found(tmp_path, name):
    first, good, bad = PROGRAMS[name]
    assert not faults_of(tmp_path, f"{first}{good}\n")
    (fault,) = faults_of(tmp_path, f"{first}{good}\n{bad}\n")
    assert line_of(tmp_path, fault) == bad
    assert not fault.presumed
