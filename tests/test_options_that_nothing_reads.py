"""`type=bool` of an option that nothing reads is a remark: who else says its name must be able to see what is parsed."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
ALL = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
OPTIONS = 'parser = argparse.ArgumentParser()\nparser.add_argument("--with_gan", type=bool, default=True)\n'
MAIN = 'if __name__ == "__main__":\n' + "".join(f"    {line}\n" for line in OPTIONS.splitlines())
OTHER = {
    "other.py": "import torch\n\n\ndef load(with_gan):\n    return with_gan\n",
    "main.py": "import a\nprint(a.args.with_gan)\n",
}


def said(tree, text: str) -> str:
    tree({"a.py": "import argparse\nimport torch\nfrom other import load\n" + text, **OTHER})
    (severity,) = [f.severity for f in check(["."], ALL).findings if f.code == "TL715"]
    return severity


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (MAIN + "    args = parser.parse_args()\n    print(1)\n", "info"),
        (MAIN + "    args = parser.parse_args()\n    # load(args.with_gan)\n", "info"),
        (MAIN + "    args = parser.parse_args()\n    load(args.with_gan)\n", "warning"),
        (MAIN + "    args = parser.parse_args()\n    load(args)\n", "warning"),
        (MAIN + "    args = parser.parse_args()\n    load(**args.__dict__)\n", "warning"),
        (MAIN + "    args = parser.parse_args()\n    load(**vars(args))\n", "warning"),
        (MAIN + "    load(parser.parse_args())\n", "warning"),
        (OPTIONS + "args = parser.parse_args()\n", "warning"),  # others may import it
    ],
)
def test_who_says_an_option_must_see_what_is_parsed(tree, text, severity):
    assert said(tree, text) == severity
