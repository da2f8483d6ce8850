"""The files of a checkout, and how a check ends: 0 clean, 1 problems, 77 could not look."""
import pathlib
import subprocess
import sys

C_FOLDERS = ("src", "include", "tests", "bench", "examples", "contrib")
NOT_OURS = {".git", ".venv", ".gpu", "build", "dist", "__pycache__"}


def root_argument():
    """The checkout: the first argument, else the folder above scripts/."""
    return pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()


def all_files(root):
    """Every file that git tracks or would add; without git, every file outside build folders."""
    git = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         capture_output=True, check=False)
    top = subprocess.run(["git", "-C", root, "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False)
    if git.returncode == 0 and pathlib.Path(top.stdout.strip()) == root:
        names = [root / name for name in git.stdout.decode().split("\0") if name]
        return sorted(p for p in names if p.is_file())
    return sorted(p for p in root.rglob("*") if p.is_file() and not NOT_OURS & set(p.relative_to(root).parts))


def c_files(root, folders=C_FOLDERS):
    """Our .c and .h files under the named folders."""
    return [p for p in all_files(root) if p.suffix in (".c", ".h") and p.relative_to(root).parts[0] in folders]


def finish(problems, looked_at):
    """Prints the problems, or what was looked at, and ends the check."""
    for problem in problems:
        print(problem)
    if not problems:
        print(f"ok: {looked_at}")
    sys.exit(bool(problems))


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)
