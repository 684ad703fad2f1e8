"""Types at random through the protocol, and looks whether the server lives, keeps its memory, and still sees right.

    python benchmarks/editor_fuzz.py [--edits 10000] [--seed 1]

Inserts and deletes arbitrary text, undoes, replaces everything, renames, closes, opens again, and asks for hovers,
hints and actions in between. Now and then, and at the end, the diagnostics must be those of `torchlint check`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

from editor_client import Client
from editor_latency import RESNET, SERVERS, script

FIXTURES = Path(__file__).parent.parent / "fixtures"
NEWLINE = re.compile(r"\r\n|\r|\n")
SNIPPETS = [
    *"()[]{}:=.,#'\"\\\n\t %!?\r\0é",
    "𝄞",
    "\u2028",
    "\x0c",
    "\ufeff",
    "\u202e",
    "'''",
    '"""',
    "\r\n",
    "    ",
    "\n\n",
    "x" * 200,
    "(" * 80,
    "-" * 80 + "1",
    "import torch\n",
    "def f(x):\n",
    "class Net(nn.Module):\n",
    "    return x\n",
    "for x in y:\n    pass\n",
    "lambda: ",
    "F.cross_entropy(F.softmax(x, dim=1), y)\n",
    "x = x.view(-1, 10)\n",
    "x += 1\n",
    "self.fc = nn.Linear(3, 4)\n",
    "# noqa: TL101",
    "torch.zeros(3).cuda()\n",
    "loss.backward()\n",
    "if True:\n",
    "else:\n",
    "with torch.no_grad():\n    ",
    "0x",
    "1e999",
    "f'{x!r:>{w}}'",
]


class Document:
    """A text as the editor has it; positions are counted in UTF-16 units, as the protocol says."""

    def __init__(self, text: str):
        self.original = self.text = text
        self.before: list[str] = []
        self.version = 0

    def place(self, offset: int) -> tuple[int, int]:
        ends = [0, *(match.end() for match in NEWLINE.finditer(self.text))]
        line = max(index for index, start in enumerate(ends) if start <= offset)
        return line, len(self.text[ends[line] : offset].encode("utf-16-le", "surrogatepass")) // 2

    def edit(self, start: int, end: int, new: str) -> tuple[tuple[int, int], tuple[int, int], str]:
        # Nobody can put a cursor between the two characters of one line end.
        if self.text[start - 1 : start + 1] == "\r\n":
            start -= 1
        if self.text[end - 1 : end + 1] == "\r\n":
            end += 1
        ends = self.place(start), self.place(end)
        self.before = [*self.before[-20:], self.text]
        self.text = self.text[:start] + new + self.text[end:]
        return *ends, new


class Fuzz:
    def __init__(self, client: Client, root: Path, seed: int):
        self.client = client
        self.root = root
        self.rng = random.Random(seed)
        self.documents: dict[str, Document] = {}
        self.version = 1
        self.count = 0

    def open(self, name: str, text: str) -> None:
        uri = (self.root / name).as_uri()
        self.documents[uri] = Document(text)
        self.version += 1
        self.documents[uri].version = self.version
        self.client.open(uri, text, self.version)

    def send(self, uri: str, start: int, end: int, new: str) -> None:
        self.version += 1
        self.documents[uri].version = self.version
        self.client.edit(uri, self.version, *self.documents[uri].edit(start, end, new))

    async def step(self) -> None:
        rng = self.rng
        uri = rng.choice(list(self.documents))
        document = self.documents[uri]
        size = len(document.text)
        self.count += 1
        match rng.random():
            case x if x < 0.5:
                at = rng.randrange(size + 1)
                self.send(uri, at, at, rng.choice(SNIPPETS))
            case x if x < 0.75:
                start = rng.randrange(size + 1)
                self.send(uri, start, min(size, start + rng.choice((1, 1, 3, 30, 300))), "")
            case x if x < 0.9 and document.before:
                self.send(uri, 0, size, document.before.pop())
            case x if x < 0.93:
                self.send(uri, 0, size, document.original)
            case x if x < 0.95:
                self.client.close(uri)
                del self.documents[uri]
                renamed = f"renamed_{self.count}.py" if rng.random() < 0.5 else uri.rsplit("/", 1)[1]
                original = document.original
                self.open(renamed, document.text)
                self.documents[(self.root / renamed).as_uri()].original = original
            case _:
                await self.ask(uri)
        if rng.random() < 0.02:
            await asyncio.sleep(rng.choice((0.01, 0.1, 0.5)))

    async def ask(self, uri: str) -> None:
        rng = self.rng
        position = {"line": rng.randrange(60), "character": rng.randrange(80)}
        everything = {"start": {"line": 0, "character": 0}, "end": {"line": 5000, "character": 0}}
        document = {"textDocument": {"uri": uri}}
        diagnostics = self.client.published.get(uri, {}).get("diagnostics", [])
        await self.client.ask("textDocument/hover", {**document, "position": position})
        await self.client.ask("textDocument/inlayHint", {**document, "range": everything})
        await self.client.ask("textDocument/codeLens", document)
        action = {**document, "range": everything, "context": {"diagnostics": diagnostics[:3]}}
        await self.client.ask("textDocument/codeAction", action)

    async def compare(self) -> None:
        """The diagnostics of every open document must become those of the command line."""
        for uri, document in self.documents.items():
            path = Path(uri.removeprefix("file://"))
            path.write_bytes(document.text.encode("utf-8"))
        wanted = self.checked()
        deadline = monotonic() + 60
        while (found := self.shown()) != wanted:
            if monotonic() > deadline:
                for uri in self.documents:
                    name = uri.rsplit("/", 1)[1]
                    if found[name] != wanted[name]:
                        raise SystemExit(f"{name}: the server says {found[name]}, the command line {wanted[name]}")
            await asyncio.sleep(0.05)
        for path in self.root.glob("*.py"):
            path.unlink()

    async def memory(self) -> int:
        """Bytes of the server and its workers, when both of these have come to rest."""
        probe = (self.root / f"probe_{self.count}.py").as_uri()
        everything = {"start": {"line": 0, "character": 0}, "end": {"line": 5000, "character": 0}}
        self.client.open(probe, RESNET)
        deadline = monotonic() + 60
        while not await self.client.ask(
            "textDocument/inlayHint", {"textDocument": {"uri": probe}, "range": everything}
        ):
            if monotonic() > deadline:
                raise SystemExit("no shapes any more")
            await asyncio.sleep(0.1)
        self.client.close(probe)
        return memory(self.client.process.pid)

    def checked(self) -> dict[str, list]:
        command = [sys.executable, "-m", "torchlint", "check", "--no-cache", "--output-format", "json", "."]
        output = subprocess.run(command, cwd=self.root, capture_output=True, text=True).stdout
        found: dict[str, list] = {uri.rsplit("/", 1)[1]: [] for uri in self.documents}
        for record in json.loads(output):
            place = record["location"]
            found[Path(record["filename"]).name].append(
                (record["code"], place["row"], place["column"], record["message"])
            )
        return {name: sorted(records) for name, records in found.items()}

    def shown(self) -> dict[str, list]:
        found = {}
        for uri, document in self.documents.items():
            lines = NEWLINE.split(document.text)
            records: list = []
            if self.client.published.get(uri, {}).get("version") != document.version:
                found[uri.rsplit("/", 1)[1]] = ["nothing yet about this version"]
                continue
            for one in self.client.published.get(uri, {}).get("diagnostics", []):
                start = one["range"]["start"]
                before = lines[start["line"]].encode("utf-16-le")[: start["character"] * 2].decode("utf-16-le")
                records.append((one["code"], start["line"] + 1, len(before) + 1, one["message"].split("\n")[0]))
            found[uri.rsplit("/", 1)[1]] = sorted(records)
        return found


def memory(process: int) -> int:
    """Bytes that a process and its children hold."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    own = int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096
    return own + sum(memory(int(child)) for child in children)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        client = await Client.start(SERVERS["torchlint (and dry run)"][0], folder)
        fuzz = Fuzz(client, root, arguments.seed)
        fuzz.open("resnet.py", RESNET)
        fuzz.open("train.py", script(200))
        for kind in ("bugs", "models"):
            for path in sorted((FIXTURES / kind).glob("*.py"))[:4]:
                fuzz.open(f"{kind}_{path.name}", path.read_text())
        await fuzz.compare()
        first = 0
        started = monotonic()
        for number in range(1, arguments.edits + 1):
            await fuzz.step()
            if client.process.returncode is not None:
                raise SystemExit(f"the server ended with {client.process.returncode} at edit {number}")
            if number == 100:
                await fuzz.compare()
                first = await fuzz.memory()
            elif number % 1000 == 0:
                await fuzz.compare()
                now = await fuzz.memory()
                print(
                    f"{number} edits, {monotonic() - started:.0f} s, {now >> 20} MB ({(now - first) / 2**20:+.0f})",
                    flush=True,
                )
        for uri, document in fuzz.documents.items():
            fuzz.send(uri, 0, len(document.text), document.original)
        await fuzz.compare()
        findings = sum(len(records) for records in fuzz.shown().values())
        print(f"the end: {len(fuzz.documents)} documents with {findings} findings, as the command line says")
        print(f"exit code {await client.stop()}")


if __name__ == "__main__":
    asyncio.run(main())
