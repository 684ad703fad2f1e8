"""The file is not Python that torchlint can read, so no rule has looked at it.

It may hold a syntax error, text in another encoding than it declares, or Python 2. The message is the parser's own. A
file in the syntax of a newer Python than the one that runs torchlint, or a notebook that was written out as a script
with its `!pip` lines, is not called wrong: a warning names it as not linted. Where code is left to whoever does an
exercise (`x = # YOUR CODE`), nothing is said. One that ends with the head of a block, and that nothing in its project
names, is unfinished and no more than noted. What was typed into a notebook's cell after it had run, and no other
cell needs, is only remarked on.
"""
