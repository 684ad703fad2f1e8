"""What is filled at a place that nobody knows may be any item of its container."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of


@pytest.mark.parametrize(
    "program",
    [
        # who gives a dict its entry at an unknown place may have given it to each
        """
        from unheard import weights, count, names

        parts = [{} for _ in range(2)]
        for i, chunk in enumerate(torch.chunk(weights, count)):
            parts[i]["weight"] = chunk.clone()
        print(parts[0]["weight"].shape)
        of_names = {"a": [], "b": []}
        for name in names:
            of_names[name].append(3)
        print(of_names["a"][0])
        """,
        # a dict that makes what it lacks has got it when it was asked for it
        """
        import json
        from collections import defaultdict

        by_image = defaultdict(list)
        for note in json.load(open("notes.json")):
            by_image[note["image"]].append(note)
        found = []
        for image, notes in by_image.items():
            found.append([image, notes[0]])
        print(found[0])
        """,
        # so may who is given a list of them
        """
        import unheard

        parts = [{}, {}]
        unheard.fill(parts)
        print(parts[0]["weight"])
        """,
    ],
)
def test_nothing_is_said(tmp_path, program):
    assert faults_of(tmp_path, program) == ()


def test_who_fills_one_dict_of_several_fills_no_other(tmp_path):
    program = """
    parts = [{} for _ in range(2)]
    for i, chunk in enumerate(torch.chunk(torch.randn(4, 2), 1)):
        parts[i]["weight"] = chunk.clone()
    print(parts[1]["weight"].shape)
    """
    (fault,) = faults_of(tmp_path, program)
    assert fault.message == "there is no 'weight' in an empty dict"
