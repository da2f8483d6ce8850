#!/usr/bin/env python3
"""run.py FULLWARP NVML FILE.cases...: runs 'fullwarp doctor --root' on environments built from short descriptions.

A case begins with '== NAME: where it was met, or why'. Its lines, each taking effect after those before it:
  use CASE           everything that an earlier case set (not what it expected)
  file PATH TEXT     a file; further lines that begin with four blanks are its text instead
  link PATH TARGET   a symbolic link          dir PATH      an empty folder
  big PATH SIZE      a file of SIZE zero bytes (sparse)    hex PATH BYTES    a file of these bytes
  after PATH SIZE TEXT      SIZE zero bytes, then a line of text
  copy PATH SOURCE   a file of this repository
  elf PATH KEY=VALUE...     a library: needed=A,B rpath= runpath= soname= machine=
  cache NAME=PATH...        an ld.so.cache for x86-64
  pipe PATH          a named pipe             none PATH     takes a path away again
  env NAME=VALUE     a variable; 'unset NAME' takes it away; 'noenv': the variables are not known
  nvml LINE          a line of the stand-in for NVML's states (tests/fake/nvml.c)
  args ARG...        further arguments; ROOT stands for the root
  expect ID STATUS [TEXT]   that check's status, and a part of its message or fix
  refuse ID TEXT            no part of that check's message or fix
Without 'nvml' lines NVML is not asked. Prints what differs; exit 1 if anything does.
"""
import json
import os
import pathlib
import shlex
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Case:
    def __init__(self, name):
        self.name, self.tree, self.env, self.nvml, self.args, self.expected = name, {}, {}, [], [], []

    def use(self, other):
        self.tree.update(other.tree)
        self.env.update(other.env)
        self.nvml += other.nvml


def read_line(case, line, known):
    word, _, rest = line.partition(" ")
    path, _, value = rest.partition(" ")
    if word == "use":
        case.use(known[rest])
    elif word in ("file", "link", "dir", "big", "hex", "pipe", "copy", "elf", "after"):
        case.tree[path] = (word, value)
        return path
    elif word == "cache":
        case.tree["/etc/ld.so.cache"] = (word, rest)
    elif word == "none":
        case.tree = {p: v for p, v in case.tree.items() if p != path and not p.startswith(path + "/")}
    elif word == "env":
        name, _, text = rest.partition("=")
        case.env[name] = text
    elif word == "noenv":
        case.env = None
    elif word == "unset":
        case.env.pop(rest, None)
    elif word == "nvml":
        case.nvml.append(rest)
    elif word == "args":
        case.args += shlex.split(rest)
    elif word in ("expect", "refuse"):
        case.expected.append((word, *rest.split(" ", 2)) if word == "expect" else (word, *rest.split(" ", 1)))
    else:
        raise SystemExit(f"{case.name}: '{line}' is not understood")
    return None


def read_cases(path, known):
    cases, open_file = [], None
    for line in path.read_text().splitlines():
        if line.startswith("== "):
            case = Case(line[3:].split(":")[0])
            known[case.name] = case
            cases.append(case)
            open_file = None
        elif line.startswith("    ") and open_file:
            case.tree[open_file] = ("file", case.tree[open_file][1] + line[4:] + "\n")
        elif line and not line.startswith("#"):
            open_file = read_line(case, line, known)
    return cases


def make_elf(text):
    """Headers, a PT_LOAD over all of it, a PT_DYNAMIC, and the strings it names (System V ABI)."""
    words = dict(word.split("=", 1) for word in text.split())
    strings, entries = b"\0", []

    def add(tag, value):
        nonlocal strings
        entries.append((tag, len(strings)))
        strings += value.encode() + b"\0"

    for name in filter(None, words.get("needed", "").split(",")):
        add(1, name)
    for tag, key in ((14, "soname"), (15, "rpath"), (29, "runpath")):
        if key in words:
            add(tag, words[key])
    at = 64 + 2 * 56
    strings_at = at + 16 * (len(entries) + 3)
    entries += [(5, strings_at), (10, len(strings)), (0, 0)]
    size = strings_at + len(strings)
    return (struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, int(words.get("machine", 62)), 1, 0, 64, 0, 0, 64,
                        56, 2, 64, 0, 0) +
            struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, size, size, 4096) +
            struct.pack("<IIQQQQQQ", 2, 4, at, at, at, 16 * len(entries), 16 * len(entries), 8) +
            b"".join(struct.pack("<qQ", *entry) for entry in entries) + strings)


def make_cache(text):
    """glibc's dl-cache.h: a header of 48 bytes, entries of 24, strings."""
    pairs = [word.split("=", 1) for word in text.split()]
    strings, entries, start = b"", b"", 48 + 24 * len(pairs)
    for name, path in pairs:
        entries += struct.pack("<iIIIQ", 0x0303, start + len(strings), start + len(strings) + len(name) + 1, 0, 0)
        strings += name.encode() + b"\0" + path.encode() + b"\0"
    return struct.pack("<20sIIIIIII", b"glibc-ld.so.cache1.1", len(pairs), len(strings), 2, 0, 0, 0, 0) + entries + strings


def build(case, root):
    for name, (kind, value) in case.tree.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "dir":
            path.mkdir(exist_ok=True)
        elif kind == "link":
            path.symlink_to(value)
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "copy":
            path.write_bytes((SOURCE / value).read_bytes())
        elif kind in ("elf", "cache"):
            path.write_bytes(make_elf(value) if kind == "elf" else make_cache(value))
        elif kind == "after":
            size, _, text = value.partition(" ")
            with path.open("wb") as file:
                file.truncate(int(size))
                file.seek(0, os.SEEK_END)
                file.write(b"\n" + text.encode() + b"\n")
        elif kind == "big":
            with path.open("wb") as file:
                file.truncate(int(value))
        else:
            path.write_bytes(bytes.fromhex(value) if kind == "hex" else value.encode())
    if case.env is not None:
        (root / "environ").write_text("".join(f"{k}={v}\0" for k, v in case.env.items()))


def run(case, fullwarp, library, scratch):
    root = scratch / "root"
    root.mkdir()
    build(case, root)
    states = scratch / "nvml"
    states.write_text("\n".join(case.nvml) + "\n")
    command = [fullwarp, "doctor", "--root", str(root), "--format", "json"]
    if case.nvml:
        command += ["--nvml", library]
    command += [arg.replace("ROOT", str(root)) for arg in case.args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "FW_FAKE_NVML": str(states)})
    try:
        checks = {c["id"]: c for c in json.loads(done.stdout)["checks"]}
    except (ValueError, KeyError):
        return [f"no JSON, exit {done.returncode}: {done.stdout}{done.stderr}"]
    wrong = judge(case, checks)
    code = int(any(c["status"] == "problem" or (c["status"] == "unknown" and "--strict" in case.args)
                   for c in checks.values()))
    if done.returncode != code:
        wrong.append(f"exit {done.returncode}, expected {code}: {done.stderr}")
    return wrong


def judge(case, checks):
    wrong = []
    for what, check, *rest in case.expected:
        got = checks.get(check)
        if not got:
            wrong.append(f"{check} did not run")
            continue
        text = got["message"] + " | " + (got["fix"] or "")
        if got["status"] == "problem" and not got["fix"]:
            wrong.append(f"{check}: a problem without a fix: {text}")
        if what == "refuse" and rest[0] in text:
            wrong.append(f"{check}: must not say '{rest[0]}': {text}")
        elif what == "expect" and (got["status"] != rest[0] or (len(rest) > 1 and rest[1] not in text)):
            wrong.append(f"{check}: expected {' '.join(rest)}; got {got['status']}: {text}")
    return wrong


def main():
    fullwarp, library, *paths = sys.argv[1:]
    known, failed, count = {}, 0, 0
    for path in map(pathlib.Path, paths):
        for case in read_cases(path, known):
            with tempfile.TemporaryDirectory() as scratch:
                wrong = run(case, fullwarp, library, pathlib.Path(scratch))
            count += 1
            failed += bool(wrong)
            for line in wrong:
                print(f"{path.name}: {case.name}: {line}")
    print(f"{count} environments, {failed} wrong")
    return failed > 0 or not count


if __name__ == "__main__":
    sys.exit(main())
