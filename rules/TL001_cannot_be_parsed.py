"""The file is not Python that torchlint can read, so no rule has looked at it.

It may hold a syntax error, text in another encoding than it declares, Python 2, or syntax newer than the Python that
runs torchlint. The message is the parser's own; where the syntax is known to be newer, it names the Python that is
needed. Where code is left to whoever does an exercise (`x = # YOUR CODE`), nothing is said.
"""
