"""`python -m torchlint`: the command of exactly this interpreter, for editors and for shells without it on PATH."""

import sys

from torchlint.frontends.cli import main

if __name__ == "__main__":
    sys.exit(main())
