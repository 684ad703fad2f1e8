"""Draws docs/demo.svg, the picture that moves: a terminal in which commands appear, and their answers.

    python docs/picture.py

It is a text of its own: no script, no font, no recording; `make readme` draws it anew.
"""

from __future__ import annotations

import re
import subprocess
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMMANDS = (
    "torchlint check --select TL101 fixtures/demo",
    "torchlint check --select TL401 --diff fixtures/demo",
    "torchlint shapes fixtures/demo/digits.py",
)
COLUMNS, LINES = 128, 22
WIDE, HIGH = 8.45, 19  # of a character, in pixels
TYPED, SHOWN, READ = 0.045, 0.03, 4.0  # seconds for a key, for a line, and to read an answer
COLORS = {"1": "b", "31": "red", "32": "green", "33": "yellow", "34": "blue", "35": "pink", "36": "cyan", "2": "dim"}
STYLE = """\
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d6dae2; white-space: pre }
.b { font-weight: bold; fill: #fff } .dim { fill: #8a92a2 } .red { fill: #ff6b5e } .green { fill: #7fd88f }
.yellow { fill: #e8c46a } .blue { fill: #6aa8ff } .pink { fill: #d59bf6 } .cyan { fill: #6ad0d8 }
.scene, .late { visibility: hidden }
@keyframes shown { from, to { visibility: visible } }
@media (prefers-reduced-motion) { .late { animation: none !important; visibility: inherit } }
"""


def drawn(scenes: list[tuple[str, str]]) -> str:
    """The picture of commands and their coloured answers, one after the other, for ever."""
    lengths = [len(command) * TYPED + min(answer.count("\n"), LINES) * SHOWN + READ for command, answer in scenes]
    whole, begins, parts, rules = sum(lengths), 0.0, [], []
    for number, ((command, answer), length) in enumerate(zip(scenes, lengths)):
        rules.append(_turn(f"scene{number}", begins, begins + length, whole))
        lines = [_late(f'<tspan class="green">$</tspan> {escape(command)}', 0, begins, begins + length, whole, rules)]
        at = begins + len(command) * TYPED
        for row, line in enumerate(answer.split("\n")[: LINES - 2], 1):
            lines.append(_late(_coloured(line), row, at + row * SHOWN, begins + length, whole, rules))
        parts.append(f'<g class="scene scene{number}">{"".join(lines)}</g>')
        begins += length
    width, height = COLUMNS * WIDE + 32, LINES * HIGH + 44
    dots = "".join(
        f'<circle cx="{20 + 18 * n}" cy="18" r="6" fill="{fill}"/>'
        for n, fill in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img">'
        "<title>torchlint finds a mistake, shows a fix, and prints the shapes of a model</title>"
        f"<style>{STYLE}{''.join(dict.fromkeys(rules))}</style>"
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="10" fill="#1d2129"/>{dots}{"".join(parts)}</svg>\n'
    )


def _late(text: str, row: int, since: float, until: float, whole: float, rules: list[str]) -> str:
    name = f"t{round(since * 100)}"
    rules.append(_turn(name, since, until, whole))
    return f'<text class="late {name}" x="16" y="{52 + row * HIGH}">{text}</text>'


def _turn(name: str, since: float, until: float, whole: float) -> str:
    """A style that shows something from one moment to another of each round."""
    first, last = 100 * since / whole, 100 * until / whole
    frames = (
        f"0%, {first:.2f}% {{ visibility: hidden }} {first + 0.01:.2f}%, {last - 0.01:.2f}% {{ visibility: visible }}"
    )
    end = "" if last > 99.9 else f" {last:.2f}%, 100% {{ visibility: hidden }}"
    return f"@keyframes {name} {{ {frames}{end} }}\n.{name} {{ animation: {name} {whole:.2f}s step-end infinite }}\n"


def _coloured(line: str) -> str:
    """A line with the colours of a terminal."""
    parts, classes = [], ""
    for code, text in re.findall(r"(?:\x1b\[([\d;]*)m)?([^\x1b]*)", line[: COLUMNS * 2]):
        classes = " ".join(COLORS[one] for one in code.split(";") if one in COLORS) if code else classes
        if text:
            parts.append(f'<tspan class="{classes}">{escape(text)}</tspan>' if classes else escape(text))
    return "".join(parts)


def answer(command: str) -> str:
    words = command.split()[1:]
    more = ["--isolated", "--no-cache"] if words[0] == "check" else []
    command_line = [sys.executable, "-m", "torchlint", *words, *more, "--color", "always"]
    return subprocess.run(command_line, cwd=ROOT, capture_output=True, text=True).stdout.rstrip()


def picture() -> str:
    return drawn([(command, answer(command)) for command in COMMANDS])


if __name__ == "__main__":
    (ROOT / "docs" / "demo.svg").write_text(picture())
