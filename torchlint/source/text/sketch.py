"""A sketch of a program, drawn from its text alone, so that a thousand files can be looked at: what it defines at its
top, what each definition names, and of what it takes things by names that are not written down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.project import Project
from torchlint.vocabulary import words_of

_TOP = re.compile(rb"\n(?=[A-Za-z_@])")
_DEFINITION = re.compile(rb"(?:async[ \t]+)?(def|class)[ \t]+(\w+)")
_GOES_ON = re.compile(rb"(?:else|elif|except|finally)\b")
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)\b(?:[^\n(]*\([^()]*\)|(?:[^\n\\]|\\\n?)*)", re.MULTILINE)
_RENAMED = re.compile(rb"\b(\w+)[ \t]+as[ \t]+(\w+)")
_BLOCK = re.compile(rb"(?:if|try|with)\b")
_BINDS = re.compile(  # the beginning of a line that does nothing but give names, and set how Python, torch or plots are
    rb"(?:[\w.]+(?:\[[^\]\n]*\])?[ \t]*(?:,[ \t]*[\w.]+[ \t]*)*(?::[^=\n]*)?=(?!=)"
    rb"|(?:pass|try|except|else|elif|finally|raise|def|class|async|return|if|import|from|global|del|assert)\b"
    rb"|(?:sys\.path|warnings|logging|logger|matplotlib|plt|mpl|os\.environ)\.\w+\("
    rb"|(?:torch|np|numpy|random)\.(?:random\.)?(?:manual_)?seed\(|(?:torch|np|numpy|pd|pandas)\.(?:\w+\.)?set_\w+\("
    rb"|\w{0,2}[\"'])"
)
_LINE = 200  # bytes of a line that say what it does
_MAIN = re.compile(rb"if[ \t]*(?:\([ \t]*)?(?:__name__\b|[\"']__main__[\"'])")
_TEXT = re.compile(rb"[\"'][\w.:/-]+[\"']")  # that may be a name or a path
_METHOD = re.compile(rb"\n[ \t]+(?:async[ \t]+)?def[ \t]+(\w+)")
_OWN_PART = re.compile(rb"\bself\.(\w+)|\bdef[ \t]+\w+")
_FILES = {  # by what stands there, which is found faster: most texts are long, and name none
    b"import ": re.compile(rb"\bimport (?=(\w+))"),
    b"from ": re.compile(rb"\bfrom (?=(\w+))"),
    b"-m ": re.compile(rb"-m (?=(\w+))"),
    b".py": re.compile(rb"(?<!\w)\w+(?=\.py\b)"),
}
_BELOW = re.compile(rb"(?<!\w)(\w+)[./\\]+(?=(\w+))")  # what a path, or a dotted name, says to lie in what
_BEGUN = re.compile(rb"(?<![\w./\\-])\w+(?=[./\\:]\w)")  # where one begins
_IN_PATHS = re.compile(rb"[./\\:]")  # one of these stands in each path and dotted name: most lines have none
_STAR = re.compile(rb"\bimport[ \t]*(?:\([ \t\n]*)?\*")
_LIST_OF_ALL = re.compile(rb"__all__\b")  # names what there is, whoever uses it
_LONG_TEXT = re.compile(  # without its end it goes on to that of the file: a search that fails begins again and again
    rb'"""[^"\\]*(?:(?:\\.?|"(?!""))[^"\\]*)*(?:"""|\Z)|'
    rb"'''[^'\\]*(?:(?:\\.?|'(?!''))[^'\\]*)*(?:'''|\Z)",
    re.DOTALL,
)
_DATA = re.compile(rb"/[^/]+\.(?:csv|tsv|npy|npz|png|jpe?g|pdf|svg|pkl|pickle|pth?|ckpt|log)[\"']\Z")  # a file of such
_QUOTED = re.compile(rb"\"(?:[^\"\\\n]|\\.?)*\"?|'(?:[^'\\\n]|\\.?)*'?")  # each quote begins one: none is tried again
WRAPPERS = frozenset(  # decorators (some of torch.jit) that change what they are put on, and do not keep it for others
    "no_grad enable_grad inference_mode autocast custom_fwd custom_bwd jit script script_method njit compile "
    "unused ignore lru_cache cache dataclass total_ordering runtime_checkable typechecked jaxtyped beartype override "
    "final".split()
)
_DECORATOR = re.compile(rb"@(?:(?:\w+\.)*partial\([ \t]*)?(?:\w+\.)*(\w+)")
EXAMPLE = re.compile(rb">>>|```|::|\bExamples?\b")

# What takes something by a name that is put together or given: of a file's own names, of one thing, of all modules.
_OF_ITSELF = re.compile(  # `"name" in globals()` only asks
    rb"(?<![.\w])(?:(?<!\"[ \t]in[ \t])(?<!'[ \t]in[ \t])(?<![\"'][ \t]not[ \t]in[ \t])(?:globals|locals)\(\)"
    rb"|(?:globals|locals)\(\)(?=[ \t]*[\[.])|(?:fire\.)?Fire\(\)|(?P<eval>e(?:val|xec)\((?!\))))|modules\[__name__\]"
)
_FOR_AN_IMPORT = re.compile(rb"(__import__\([^()]*)\bglobals\(\),[ \t\n]*locals\(\)")  # which takes nothing from there
_TAKING_OF_ITSELF = (b"globals()", b"locals()", b"Fire()", b"eval(", b"exec(", b"modules[__name__]")  # found faster
_OWN_EVAL = re.compile(rb"\bdef[ \t]+e(?:val|xec)\(|^[ \t]*(?:from|import)\b[^\n]*\be(?:val|xec)\b", re.MULTILINE)
_BY_CALL = rb"\bgetattr\([ \t\n]*([\w.]+)[ \t\n]*,[ \t\n]*[^\"' \t\n]|\b(?:vars|dir|getmembers)\([ \t\n]*([\w.]+)"
_OF_ONE_BY_CALL = re.compile(_BY_CALL)
_OF_ONE = re.compile(_BY_CALL + rb"|(?<![\w.])([\w.]+)\.__dict__(?!\[[\"'])")  # is tried at each word
_A_MODULE = re.compile(
    rb"(?:\bimport_module|(?<![.\w])__import__)\([ \t\n]*(?:name[ \t]*=[ \t]*)?(?:f?[\"']([\w.]*)(.))?"
)
_ITS_FOLDER = rb"[ \t\n]*(?:path[ \t]*=[ \t]*)?(?:__path__\b|\[[^\[\]\n]*\b__file__\b)"
_ANY_FILE = re.compile(rb"\b(?:walk_packages|iter_modules)\((?!\)|" + _ITS_FOLDER + rb")")
_A_FILE = re.compile(  # of its own folder, or of a path that somebody gives
    rb"\b(?:walk_packages|iter_modules)\(" + _ITS_FOLDER + rb"|\bexec_module\(|\.load_module\("
    rb"|\brunpy\b(?:\.\w+)?(?:\(|[ \t])(?![ \t\n]*[\"'])"
)
_IMPORTING_FILES = (b"exec_module", b"load_module", b"walk_packages", b"iter_modules", b"runpy")  # found faster
_NAMING_FILES = re.compile(rb"glob\b|listdir\b|scandir\b")  # `__all__ = [file[:-3] for file in os.listdir(folder)]`
_MADE_LIST = re.compile(
    rb"__all__[ \t]*(?:\+?=|\.\w+\()(?![ \t\n]*(?:[\[(][ \t\n]*)?[\"'\])])"
)  # not of words that stand there
_ALL_CLASSES = (b"__subclasses__", b"__init_subclass__", b"LightningCLI")
_TAKERS = (b"getattr(", b"__dict__", b"vars(", b"dir(", b"getmembers(")


class Piece(NamedTuple):
    """A definition, or what stands between them: the words in it. Without a name it is run when the file is."""

    name: str
    kind: str  # def, class, or what else: binds, does, main
    is_taken: bool  # by a decorator
    is_registered: bool  # by one that only keeps it in a list, for which somebody has to import its file
    words: frozenset[bytes]
    texts: frozenset[bytes]  # those of them in quotes, that may be names or paths


class Sketch(NamedTuple):
    """What a file has, and takes by names that are put together: of itself, of `homes`, of the modules that its imports
    by text may mean (`modules`: the last word of one, or of what all begin with; None for any), and of those in its own
    folder and below, if that is all that is known of a name.
    """

    pieces: tuple[Piece, ...]
    texts: frozenset[bytes]  # words in quotes
    places: frozenset[bytes]  # what of them may be a file
    takes_of_itself: bool
    homes: frozenset[str]
    modules: frozenset[str] | None
    takes_of_those_near: bool
    takes_all_classes: bool

    @property
    def defines(self) -> bool:
        """Is there a function or a class in it?"""
        return any(piece.name for piece in self.pieces)

    @property
    def is_run(self) -> bool:
        """Does something happen where it is run by hand?"""
        return any(piece.kind in ("does", "main") for piece in self.pieces)

    @property
    def only_defines(self) -> bool:
        return self.defines and not self.is_run


def sketch(project: Project, path: str) -> Sketch:
    """What a file of the project has; kept as long as it says the same."""
    kept: dict[str, tuple[bytes, Sketch]] = project.__dict__.setdefault("sketches", {})
    data = project.bytes(path) or b""
    if path not in kept or kept[path][0] != data:
        kept[path] = data, _read(b"\n" + without_comments(_LONG_TEXT.sub(_on_one_line, data)))
    return kept[path][1]


def _read(data: bytes) -> Sketch:
    """Of a text before each line of which another one ends."""
    pieces, imports = tuple(_pieces(data)), _IMPORT.findall(data)
    renamed = {there.decode(): here.decode() for said in imports for here, there in _RENAMED.findall(said)}
    homes = set()
    for home in _homes(data, imports) if any(word in data for word in _TAKERS) else ():
        homes.update((home, renamed.get(home, home)))
    texts = frozenset().union(*(piece.texts for piece in pieces))
    modules, takes_of_those_near = _modules(data, texts)
    return Sketch(
        pieces,
        texts,
        places_in(b" ".join(_TEXT.findall(data))),
        _takes_of_itself(data),
        frozenset(homes),
        modules,
        takes_of_those_near,
        any(word in data for word in _ALL_CLASSES),
    )


def places_in(text: bytes, is_program: bool = False) -> frozenset[bytes]:
    """What of a text may name a file: an import, its name with its ending, `folder/it` (also for `folder.it`), or `/it`
    where a path begins. In a program that is any variable of which something is taken.
    """
    paths = b"\n".join(filter(_IN_PATHS.search, text.splitlines()))
    found = {b"/".join(pair) for pair in _BELOW.findall(paths)}
    found.update(*(named.findall(text) for sign, named in _FILES.items() if sign in text))
    found.update(() if is_program else (b"/" + word for word in _BEGUN.findall(paths)))
    return frozenset(found)


def imports_by_text(data: bytes) -> bool:
    """May a program import what a text or a folder says?"""
    return _names_modules(data) or _imports_any_file(data) or _imports_files_near(data)


def _names_modules(data: bytes) -> bool:
    return b"import_module" in data or b"__import__" in data


def _imports_any_file(data: bytes) -> bool:
    return any(word in data for word in _IMPORTING_FILES) and _ANY_FILE.search(data) is not None


def _imports_files_near(data: bytes) -> bool:
    if any(word in data for word in _IMPORTING_FILES) and _A_FILE.search(data):
        return True
    return b"__all__" in data and _MADE_LIST.search(data) is not None and _NAMING_FILES.search(data) is not None


def _takes_of_itself(data: bytes) -> bool:
    """Does it take any of the names that it has? What it calls `eval` itself does not."""
    if not any(word in data for word in _TAKING_OF_ITSELF):
        return False
    data = _FOR_AN_IMPORT.sub(rb"\1", data)
    is_own = _OWN_EVAL.search(data) is not None
    return any(not (found["eval"] and is_own) for found in _OF_ITSELF.finditer(data))


def _homes(data: bytes, imports: list[bytes]) -> Iterator[str]:
    """Of what it takes things by names that are put together. What it does not import is no file of the project."""
    known = frozenset({b"self"}.union(*map(words_of, imports)))
    takes_all = any(_STAR.search(said) for said in imports)
    for found in (_OF_ONE if b"__dict__" in data else _OF_ONE_BY_CALL).findall(data):
        home = next(filter(None, found))
        if home == b"self" and any(found[2:]):
            continue  # `self.__dict__` has what an object is given, and none of its methods
        if takes_all or home.partition(b".")[0] in known:
            yield home.rpartition(b".")[2].decode()


def _modules(data: bytes, texts: frozenset[bytes]) -> tuple[frozenset[str] | None, bool]:
    """The last words of the modules that are imported by text, and may it be any near by? A name of which nothing is
    known stands somewhere: in a text, or in the quotes of the program itself, which may be put together.
    """
    if _imports_any_file(data):
        return None, True
    found, is_open = set(), _imports_files_near(data)
    for name, end in _A_MODULE.findall(data) if _names_modules(data) else ():
        word = name.rstrip(b".").rpartition(b".")[2]
        if word and (name.endswith(b".") or end in b"\"'"):
            found.add(word)
        else:
            is_open = True
    return frozenset(map(bytes.decode, found | texts if is_open else found)), is_open


def _pieces(data: bytes) -> Iterator[Piece]:
    starts = [match.end() for match in _TOP.finditer(data)] or [len(data)]
    pieces = [data[start:end] for start, end in zip(starts, [*starts[1:], len(data)], strict=True)]
    methods = frozenset(_METHOD.findall(data))
    decorators: list[bytes] = []
    held: list[bytes] = []  # the branches of one statement
    for piece in [*pieces, b"pass"]:
        if held and not _GOES_ON.match(piece):
            yield _piece(b"".join(held), b"".join(decorators), methods)
            held, decorators = [], []
        if piece.startswith(b"@"):
            decorators.append(piece)
        else:
            held.append(piece)


def _piece(text: bytes, decorators: bytes, methods: frozenset[bytes]) -> Piece:
    """`methods` are those of all classes in the file: `self.step` is none of its functions that is called `step`."""
    named = b"" if _LIST_OF_ALL.match(text) else _IMPORT.sub(_what_is_renamed, decorators + text)
    code = _QUOTED.sub(_what_is_no_sentence, named)
    others = _OWN_PART.sub(lambda own: own[0] if own[1] and own[1] not in methods else b"", code)
    words = frozenset(words_of(others))
    texts = frozenset(words_of(b" ".join(said for said in _TEXT.findall(named) if not _DATA.search(said))))
    if found := _DEFINITION.match(text):
        lines = [line for line in decorators.splitlines() if line.startswith(b"@")]
        is_registered = all(b"regist" in line for line in lines)
        return Piece(
            found[2].decode(), found[1].decode(), not all(map(_only_wraps, lines)), is_registered, words, texts
        )
    kind = "main" if _MAIN.match(text) else "binds" if _only_binds(text) else "does"
    return Piece("", kind, False, False, words, texts)


def _only_wraps(decorator: bytes) -> bool:
    by = _DECORATOR.match(decorator)
    return by is not None and by[1].decode() in WRAPPERS


def _what_is_renamed(said: re.Match[bytes]) -> bytes:
    """An import names nothing, but for what is to be known by another name."""
    return b" ".join(name for name, _ in _RENAMED.findall(said[0]))


def _only_binds(text: bytes) -> bool:
    """A constant, a text, an import, or a choice of such."""
    if not _BINDS.match(text[:_LINE]) and not _BLOCK.match(text):
        return False
    if not _BLOCK.match(text):
        return True
    lines = [line.strip()[:_LINE] for line in text.split(b"\n")[1:]]
    return all(_BINDS.match(line) or not line[:1].isalpha() for line in lines)


def _on_one_line(text: re.Match[bytes]) -> bytes:
    """A text over several lines begins none of them; the words in it count, if it is more than something said."""
    return b'""' if _is_only_said(text) else text[0].replace(b"\n", b"\n ")


def imports_in(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The imports of a program, with where they end."""
    return ((said.end(), said[0]) for said in _IMPORT.finditer(data))


def without_imports(data: bytes) -> bytes:
    return _IMPORT.sub(b"", data)


def without_data(data: bytes) -> bytes:
    """A program without the names of files of data in it."""
    return _QUOTED.sub(lambda text: b"" if b"{" not in text[0] and _DATA.search(text[0]) else text[0], data)


def without_said(data: bytes) -> bytes:
    """A program without the texts over several lines that are only said, each line where it was."""
    return _LONG_TEXT.sub(_with_its_lines, data)


def _with_its_lines(text: re.Match[bytes]) -> bytes:
    return b'""' + b"\n" * text[0].count(b"\n") if _is_only_said(text) else text[0]


def _is_only_said(text: re.Match[bytes]) -> bool:
    """Does a text stand alone, and show no example of what may be called?"""
    before = b"\n" + text.string[max(0, text.start() - _LINE) : text.start()]
    return not before[before.rfind(b"\n") :].strip() and not EXAMPLE.search(text[0])


def _what_is_no_sentence(text: re.Match[bytes]) -> bytes:
    """A name may be looked up, a sentence or a file of data is read. What is put into it, or split, counts."""
    is_put_together = b"{" in text[0] or text.string.startswith(b".split", text.end())
    return text[0] if is_put_together or b" " not in text[0] and not _DATA.search(text[0]) else b""


def without_comments(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join(line.partition(b"#")[0] + b"\n" if b"#" in line and has_comment(line) else line for line in lines)


def has_comment(line: bytes) -> bool:
    """Does a comment begin in a line, or in its beginning, and no string that holds the hash?"""
    if b"#" not in line:
        return False
    before, _, _ = line.partition(b"#")
    return not (before.count(b'"') % 2 or before.count(b"'") % 2)
