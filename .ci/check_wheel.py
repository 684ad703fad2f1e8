"""Shows that a wheel, installed alone without torch, has the rules, lints, and explains: check_wheel.py BIN WHEEL"""

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

DEMO = Path(__file__).parent.parent / "fixtures/demo/train.py"
RULES = Path(__file__).parent.parent / "rules"


def main(bin_folder: str, wheel: str) -> None:
    shipped = set(zipfile.ZipFile(wheel).namelist())
    missing = [rule.name for rule in RULES.glob("TL*.py") if f"torchlint/rules/{rule.name}" not in shipped]
    assert not missing, f"not in the wheel: {missing}"
    about = next(name for name in shipped if name.endswith(".dist-info/METADATA"))
    page = zipfile.ZipFile(wheel).read(about).decode().split("\n\n", 1)[1]
    assert "# torchlint" in page and not (lost := re.findall(r"\]\((?!https?:|#)[^)]*\)", page)), lost

    with tempfile.TemporaryDirectory() as folder:  # far from the checkout, so that only the installed copy can answer
        Path(folder, "train.py").write_text(DEMO.read_text())
        torchlint = Path(bin_folder, "torchlint")

        def run(*arguments: str) -> subprocess.CompletedProcess:
            return subprocess.run([torchlint, *arguments], cwd=folder, capture_output=True, text=True)

        found = run("check", "--output-format", "json", "train.py")
        codes = {record["code"] for record in json.loads(found.stdout)}
        assert found.returncode == 1 and "TL101" in codes, (found.returncode, codes, found.stderr)
        said = [line for line in found.stderr.splitlines() if "dry run" in line]
        assert len(said) == 1 and "torch" in said[0], found.stderr
        print(f"found {', '.join(sorted(codes))}; said: {said[0]}")

        manual = run("rule", "TL101")
        assert manual.returncode == 0 and "TL101" in manual.stdout and "softmax" in manual.stdout, manual
        print(manual.stdout.strip().splitlines()[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
