"""What blinds the dry run: the first unknown of each script that reaches a layer, a loss, an index or a backward pass.

    python benchmarks/first_unknowns.py FOLDER… [--most 40] [--sample 300] [--files]

Runs each file that says `torch` as a script, and counts how far they came and why the others did not. With
`--sample` it takes that many files, evenly spread over all there are.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from pathlib import Path

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--files", action="store_true", help="name a few scripts of each reason")
    given = parser.parse_args()
    files = [(folder, path) for folder in given.folders for path in sorted(folder.rglob("*.py")) if _is_script(path)]
    if given.sample and given.sample < len(files):
        files = [files[i * len(files) // given.sample] for i in range(given.sample)]
    counts: Counter[str] = Counter()
    unknowns: Counter[str] = Counter()
    examples: dict[str, list[str]] = defaultdict(list)
    projects: dict[Path, Project] = {}
    for folder, path in files:
        root = _root(folder, path)
        project = projects.setdefault(root, Project(root))
        result = dry_run(path.read_text(errors="replace"), str(path), project.view(str(path)))
        counts.update({k: n for k, n in result.statistics.items() if k.startswith("scripts")})
        for reason in result.unknowns:
            reason = re.sub(r"\d+", "N", reason)
            unknowns[reason] += 1
            examples[reason].append(str(path))
    print(f"{len(files)} files; " + ", ".join(f"{key}: {number}" for key, number in counts.items()))
    for reason, number in unknowns.most_common(given.most):
        print(f"{number:>6}  {reason}")
        for path in examples[reason][:3] if given.files else ():
            print(f"          {path}")


def _is_script(path: Path) -> bool:
    """Whether a file may train or run something itself."""
    if not path.is_file():
        return False
    text = path.read_text(errors="replace")
    return "torch" in text and (".backward(" in text or "__main__" in text)


def _root(folder: Path, path: Path) -> Path:
    """The repository a file is in: the folder that was named, or the one below it that holds the file."""
    first = folder / path.relative_to(folder).parts[0]
    return first if first.is_dir() and not (folder / ".git").exists() and not any(folder.glob("*.py")) else folder


if __name__ == "__main__":
    main()
