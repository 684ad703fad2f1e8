"""Builds the site: pages of rules, options and schema beside those of this folder; then every link is followed."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote, urldefrag

from picture import picture

from torchlint.config_schema import schema
from torchlint.frontends.about import describe_options
from torchlint.frontends.described import commands
from torchlint.frontends.rule_manual import Manual, manual
from torchlint.reports.links import SITE
from torchlint.rule import load_rules

ROOT = Path(__file__).parent.parent
PAGES, OUT = ROOT / "build" / "docs", ROOT / "build" / "site"
COPIES = {"VERSIONING.md": "versions", "SECURITY.md": "security", "CHANGELOG.md": "changes"}
GALLERY = ("docs/programs/resnet.py", "docs/programs/transformer.py", "fixtures/demo/digits.py")
REPOSITORY = "https://github.com/torchlint/torchlint/blob/main"
_MADE = re.compile(r"^<!-- (\w+) -->$", re.MULTILINE)


def main() -> int:
    if (ROOT / "docs" / "demo.svg").read_text() != picture():
        sys.exit("docs/demo.svg shows what torchlint once said: run `make readme`")
    write()
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    broken = sorted(broken_links(OUT))
    for line in broken:
        print(f"broken link: {line}", file=sys.stderr)
    print(f"{len(list(OUT.rglob('*.html')))} pages in {OUT.relative_to(ROOT)}")
    return 1 if broken else 0


def write() -> None:
    """All pages as Markdown."""
    shutil.rmtree(PAGES, ignore_errors=True)
    for name, text in pages().items():
        path = PAGES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for program in GALLERY:
        path = PAGES / "gallery" / Path(program).with_suffix(".html").name
        path.parent.mkdir(exist_ok=True)
        command = ["shapes", program, "--output-format", "html", "--output-file", str(path)]
        subprocess.run([sys.executable, "-m", "torchlint", *command], cwd=ROOT, capture_output=True)
        assert "<svg" in path.read_text()


def pages() -> dict[str, str]:
    """The pages by their names."""
    here = Path(__file__).parent
    made = {str(path.relative_to(here)): _filled(path.read_text()) for path in sorted(here.rglob("*.md"))}
    made |= {name: (here / name).read_text() for name in ("site.css", "demo.svg")}
    made["torchlint.schema.json"] = json.dumps(schema(), indent=2) + "\n"
    for source, name in COPIES.items():
        made[f"about/{name}.md"] = _moved((ROOT / source).read_text())
    rules = load_rules()
    manuals = [manual(rule, rules) for rule in rules.values()]
    made["rules/index.md"] = "\n".join(_all_rules(manuals))
    made |= {f"rules/{one.code}.md": "\n".join(_rule_page(one)) for one in manuals}
    made["configuration.md"] = "\n".join(_configuration())
    made["options.md"] = "\n".join(_options())
    return made


def _filled(text: str) -> str:
    """A page with what torchlint prints in the place of its marks."""
    output = {
        "demo": ("check --select TL101 fixtures/demo/train.py", ROOT),
        "hour": ("check --output-format concise fixtures/demo", ROOT),
        "shapes": ("shapes fixtures/demo/digits.py", ROOT),
        "report": ("shapes blocks.py:Net --fold --memory 24GiB", ROOT / "docs" / "programs"),
        "said": ("check --output-format concise train.py", ROOT / "docs" / "programs"),
        "old": ("check --output-format concise old.py", ROOT / "docs" / "programs"),
        "program": ("train.py", ROOT / "docs" / "programs"),
    }

    def fill(match: re.Match[str]) -> str:
        words, folder = output[match[1]]
        if words.endswith(".py") and " " not in words:
            return f'```python title="{words}" linenums="1"\n{(folder / words).read_text()}```'
        arguments = [*shlex.split(words), *(["--isolated", "--no-cache"] if words.startswith("check") else [])]
        command = [sys.executable, "-m", "torchlint", *arguments]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert ran.returncode == (match[1] != "report"), ran
        return f"```console\n$ torchlint {words}\n{ran.stdout.rstrip()}\n```"

    return _MADE.sub(fill, text)


def _moved(text: str) -> str:
    """A page of the repository: its links into the repository lead to pages of the site, or to the repository."""

    def lead(match: re.Match[str]) -> str:
        target = match[1]
        return f"]({COPIES[target]}.md)" if target in COPIES else f"]({REPOSITORY}/{target})"

    return re.sub(r"\]\((?!https?:|#)([^)]+)\)", lead, text)


def _all_rules(manuals: list[Manual]) -> Iterator[str]:
    yield "# Rules\n\nA code and a name for each; `torchlint rule CODE` says the same in a terminal."
    for group, members in groupby(manuals, key=lambda one: one.group):
        yield f"\n## {group[0].upper()}{group[1:]}\n\n| code | what to do | fix |\n|--|--|--|"
        for one in members:
            off = f" *({one.by_default})*" if one.by_default else ""
            fix = "" if one.fix == "none" else one.fix.split(" (")[0]
            summary = one.summary.rstrip(".").replace("|", "\\|")
            yield f"| [{one.code}]({one.code}.md) | {summary}{off}<br>`{one.name}` | {fix} |"


def _rule_page(one: Manual) -> Iterator[str]:
    summary = one.summary.replace('"', "'")
    yield f'---\ntitle: "{one.code} {one.name}"\ndescription: "{summary}"\n---\n'
    yield f"# {one.code} {one.name.replace('_', ' ')}\n"
    yield f"`{one.name}` · {one.group} · {one.state} · fix: {one.fix}\n{{ .rule-facts }}\n\n{one.prose}\n"
    for title, text in (("Found", one.found), ("Better", one.better), ("Looks the same, and is right", one.right)):
        if text:
            yield f"## {title}\n\n```python\n{text.rstrip()}\n```\n"
    if one.related:
        yield "## Related\n"
        yield from (f"- [{code}]({code}.md): {summary}" for code, summary in one.related)
    yield "\n## Silence it\n"
    yield f"```python\n...  # noqa: {one.code}\n```\n"
    yield f'```toml\n[tool.torchlint]\nignore = ["{one.code}"]\n```\n'
    if one.torch:
        yield "## torch's manual\n"
        yield from (f"- [{address.rsplit('/', 1)[-1].replace('.html', '')}]({address})" for address in one.torch)
    yield f"\n`torchlint rule {one.code} --examples` shows all {one.examples} examples; they are the rule's tests."


def _configuration() -> Iterator[str]:
    yield "# Configuration\n"
    yield "The nearest `pyproject.toml` with a `[tool.torchlint]` table, or `torchlint.toml`, above a file. Nothing is"
    yield "merged except what `extend` names. `torchlint config` lists the options, and there is a"
    yield "[JSON schema](torchlint.schema.json).\n"
    for name, about in describe_options().items():
        yield f"## {name}\n\n{about['description']}\n\nDefault: `{about['default']}` · Type: `{about['type']}`\n"
        yield f"```toml\n[tool.torchlint]\n{name} = {about['example']}\n```\n"


def _options() -> Iterator[str]:
    yield "# Options\n\nEvery command and its options, as `torchlint COMMAND --help` lists them."
    for command in commands():
        yield f"\n## torchlint {command.name}\n\n{command.help}\n"
        for option in command.options:
            words = ", ".join(f"`{word}`" for word in option.words)
            values = ", ".join(f"`{value}`" for value in option.values if len(option.values) < 20)
            given = f" {values}" if values else f" `{option.metavar}`" if option.metavar else ""
            yield f"- **{words}**{given}: {html.escape(option.help, quote=False)}"


class _Page(HTMLParser):
    """The addresses that a page names, and the places in it that can be named."""

    def __init__(self, text: str):
        super().__init__()
        self.targets: set[str] = set()
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.targets.add(value)
            elif name == "id" and value:
                self.places.add(value)


def broken_links(site: Path) -> Iterator[str]:
    """Links that lead nowhere in the site. Those to other sites are not followed."""
    read = {path: _Page(path.read_text()) for path in site.rglob("*.html")}
    for path, page in read.items():
        for target in page.targets:
            address, place = urldefrag(target.removeprefix(f"{SITE}/") if target.startswith(SITE) else target)
            if re.match(r"[a-z]+:|//", address) or path.name == "404.html":
                continue
            start = site if target.startswith(SITE) else path.parent
            found = Path(os.path.normpath(start / unquote(address))) if address else path
            found = found / "index.html" if found.is_dir() else found
            if not found.exists() or place and found in read and unquote(place) not in read[found].places | {"__top"}:
                yield f"{path.relative_to(site)}: {target}"


if __name__ == "__main__":
    sys.exit(main())
