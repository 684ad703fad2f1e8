"""What runs only with an option that no parser lets through is a remark."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
ALL = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
USE = """\
import torch


def choose({parameter}):
    if {test}:
        return 1
    torch.cuda.amp.GradScaler()
"""
PARSER = """\
import argparse
import use


def main(args):
    print(use.choose({given}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument({argument})
    args = parser.parse_args()
    {more}
    main(args)
"""
MODE = '"--mode", choices=["a", "b"], default="a"'
OTHER = PARSER.format(argument=MODE.replace('"b"', '"c"'), given="args", more="pass").replace(
    "import use", "import other as use"
)


def program(test="args.mode in ('a', 'b')", parameter="args", argument=MODE, given="args", more="pass"):
    return {
        "use.py": USE.format(test=test, parameter=parameter),
        "main.py": PARSER.format(argument=argument, given=given, more=more),
    }


def severities() -> set[str]:
    return {f.severity for f in check(["."], ALL).findings if f.code == "TL803" and "use" in str(f.path)}


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        (program(), "info"),
        (program(test="args['mode'] in ('a', 'b')", given="vars(args)"), "info"),
        (program(argument="'-m', '--mode', dest='mode', required=True, choices=('a', 'b')"), "info"),
        (program(argument="'mode', choices=('a', 'b')"), "info"),
        (program(more="args.mode = 'b'"), "info"),
        (program() | {"other.py": "def choose(args):\n    pass\n", "run.py": OTHER}, "info"),
        (program() | {"run.sh": "python main.py --mode b\n"}, "info"),
        (program(argument=MODE.replace('"b"', '"b", "c"')), "warning"),
        (program(argument=MODE.replace('default="a"', "type=str")), "warning"),  # it may be left out
        (program(argument=MODE.replace('default="a"', 'default="all"')), "warning"),
        (program(argument=MODE.replace("]", "] + MORE")), "warning"),
        (program(argument='"--mode", default="a"'), "warning"),
        (program(argument='"--kind", choices=["a", "b"], default="a"'), "warning"),
        (program(more="args.mode = 'c'"), "warning"),
        (program(more="args.mode = read()"), "warning"),
        (program(more="setattr(args, 'mode', read())"), "warning"),
        (program(more="args.__dict__.update({'mode': read()})"), "warning"),
        (program(more="parser.set_defaults(mode='c')"), "warning"),
        (program() | {"base.yaml": "mode: c\n"}, "warning"),
        (program() | {"run.py": OTHER.replace("import other", "import main, use")}, "warning"),
        (program(test="args.mode == 'a'"), "warning"),
    ],
)
def test_what_a_parser_lets_through(tree, files, severity):
    tree(files)
    assert severities() == {severity}


CHAIN = """\
import torch


def choose(args, x):
    if args.mode == "a":
        x = x + 1
    elif args.mode in ("b", "c"):
        x = x - 1
    else:
        {leaves}
    {between}
    for part in x:
        if args.mode == "a":
            print(part)
        elif args.mode == "b" or args.mode == "c":
            print(part)
        else:
            torch.cuda.amp.GradScaler()
"""


@pytest.mark.parametrize(
    ("leaves", "between", "severity"),
    [
        ("raise ValueError(args.mode)", "x = x * 2", "info"),
        ("return None", "x = x * 2", "info"),
        ("print(x)", "x = x * 2", "warning"),
        ("raise ValueError(args.mode)", "args.mode = 'd'", "warning"),
        ("raise ValueError(args.mode)", "args = args.parent", "warning"),
    ],
)
def test_what_an_earlier_chain_lets_through(tree, leaves, between, severity):
    text = CHAIN.format(leaves=leaves, between=between)
    tree({"use.py": text, "main.py": "import use\n\nuse.choose(read(), 3)\n"})
    assert severities() == {severity}
    tree({"use.py": text.replace('or args.mode == "c"', "")})
    assert severities() == {"warning"}


@pytest.mark.parametrize(
    ("argument", "severity"),
    [
        ('dest="mode", choices=["a", "b"]', "info"),  # an argument that is always given
        (f'"--mode", dest=0x{"f" * 6000}, choices=["a", "b"]', "warning"),
        (f'0x{"f" * 6000}, dest="mode", choices=["a", "b"]', "info"),
        (f'0x{"f" * 6000}, choices=["a", "b"]', "warning"),
    ],
    ids=["no flag", "number for a name", "number for a flag", "number"],
)
def test_arguments_that_are_called_in_odd_ways(tree, argument, severity):
    program = PARSER.format(argument=argument, given="args", more="pass")
    tree({"use.py": USE.format(parameter="args", test='args.mode != "c"'), "main.py": program})
    found = check(["."], ALL).findings
    assert "TL000" not in {f.code for f in found}
    assert {f.severity for f in found if f.code == "TL803"} == {severity}
