"""Which words stand in a text: the same whether few or many are asked for."""

from __future__ import annotations

from torchlint.vocabulary import Words

TEXT = "import torch.optim as optimizer\nx.backward()  # naïve, größe\nself.x_1 = 'a b'\n"


def test_parts_of_words_and_what_is_between_words_are_found():
    asked = [
        "optim",
        "torch.optim",
        "backward(",
        "x_1",
        "x_12",
        "torchoptim",
        "größe",
        "na",
        "ïve",
        "a b",
        "elf.x",
        "softmax",
    ]
    asked += [f"nothing{number}" for number in range(30)]
    words = Words(lambda: TEXT)
    for _ in range(2):
        assert [word for word in asked if words.says(word)] == [word for word in asked if word in TEXT]
    late = Words(lambda: TEXT)
    assert [word for word in reversed(asked) if late.says(word)] == [word for word in reversed(asked) if word in TEXT]
