"""What a program takes for a variable of the environment that is not set, unless it may have set it itself."""

import pytest

pytest.importorskip("torch")
from dry import failing_lines

WRAPPED = """
    import os
    from os import environ
    {before}

    def processes():
        return int({asked})

    model = nn.Linear(3, 3)
    if processes() > 1:
        model = nn.parallel.DistributedDataParallel(model)
    saved = {saved}.state_dict()
"""
ALONE, EITHER = "model.module", "(model.module if processes() > 1 else model)"


@pytest.mark.parametrize(
    "asked",
    ['os.environ.get("WORLD_SIZE", "1")', 'environ.get("WORLD_SIZE", 1)', 'os.getenv("WORLD_SIZE", default="1")'],
)
@pytest.mark.parametrize(
    "before", ["pass", 'os.environ["OMP_NUM_THREADS"] = "4"', 'print(dict(environ), "A" in environ)']
)
def test_it_is_started_without_more_ado(tmp_path, asked, before):
    assert failing_lines(tmp_path, WRAPPED.format(asked=asked, before=before, saved=ALONE)) == [
        "saved = model.module.state_dict()"
    ]
    assert failing_lines(tmp_path, WRAPPED.format(asked=asked, before=before, saved=EITHER)) == []


@pytest.mark.parametrize(
    "before",
    [
        'os.environ["WORLD_SIZE"] = "2"',
        'environ.setdefault("WORLD_SIZE", "2")',
        'environ.update({"WORLD_SIZE": "2"})',
        'environ.update(WORLD_SIZE="2")',
        'for name in ["RANK", "WORLD_SIZE"]: os.environ[name] = "2"',
    ],
)
@pytest.mark.parametrize("asked", ['os.environ.get("WORLD_SIZE", "1")', 'os.getenv("WORLD_SIZE", "1")'])
def test_what_a_program_sets_is_not_as_it_was(tmp_path, asked, before):
    program = f"""
    import os
    from os import environ
    {before}
    print(nn.Linear(2, 3)(torch.zeros(1, int({asked}))))
    """
    assert failing_lines(tmp_path, program) == []


@pytest.mark.parametrize(
    "asked", ['os.environ["SIZE"]', 'os.environ.get("SIZE")', 'dict(os.environ).get("SIZE", 4)', "len(os.environ)"]
)
def test_nobody_knows_the_rest(tmp_path, asked):
    assert failing_lines(tmp_path, f"import os\nprint(nn.Linear(2, 3)(torch.zeros(1, int({asked}))))") == []
