"""Where a tree of files ends: the repository around a folder, and the paths in a tree that lead out of it."""

# `safe_path` needs this before anything else may be imported.
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_repositories: dict[str, str] = {}


def repository(folder: str) -> str:
    """The innermost repository that holds a folder, empty if it is in none."""
    climbed = []
    while folder not in _repositories:
        parent = os.path.dirname(folder)
        if any(os.path.exists(os.path.join(folder, name)) for name in (".git", ".hg")):
            _repositories[folder] = folder
        elif parent == folder:
            _repositories[folder] = ""
        else:
            climbed.append(folder)
            folder = parent
    found = _repositories[folder]
    _repositories.update(dict.fromkeys(climbed, found))
    return found


def tree_of(path: str, configured: str) -> str:
    """The tree that a path belongs to: the folder of the configuration in force, else the repository, empty if to
    none.
    """
    return configured if configured and is_below(path, configured) else repository(path)


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder or in it, as it is written."""
    return path == folder or path.startswith(os.path.join(folder, ""))


def stays_in(path: str, tree: str) -> bool:
    """Whether what a path means, links followed, lies in a tree."""
    try:
        return is_below(os.path.realpath(path), os.path.realpath(tree))
    except (OSError, ValueError):  # a name that no file can have
        return False


def leads_out(path: str, trees: "Iterable[str]") -> bool:
    """Whether a path that is written as one in these trees means something outside: whoever made the tree put a link
    there.
    """
    around = [tree for tree in trees if is_below(path, tree)]
    return bool(around) and not any(stays_in(path, tree) for tree in around)
