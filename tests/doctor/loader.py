#!/usr/bin/env python3
"""loader.py FULLWARP CC: what 'doctor --for' says a program loads, against this machine's loader (ld.so --list).

Programs and libraries are built with RPATH, RUNPATH or neither, run with and without LD_LIBRARY_PATH, directly and
through a link; the loader's own list is the truth.
"""
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LIBRARY = "libcudart.so.12"


def link(compiler, out, code, *flags):
    out.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([compiler, "-x", "c", "-", "-x", "none", "-o", out, *flags], input=code, text=True, check=True)


def tags(kind, folder):
    return {"none": [], "rpath": ["-Wl,--disable-new-dtags", f"-Wl,-rpath,{folder}"],
            "runpath": ["-Wl,--enable-new-dtags", f"-Wl,-rpath,{folder}"]}[kind]


def build(compiler, top, program, library):
    for place in ("lib", "own", "other"):
        link(compiler, top / place / LIBRARY, "int f(void) { return 1; }", "-shared", f"-Wl,-soname,{LIBRARY}")
    link(compiler, top / "lib" / "libmodel.so", "int f(void); int g(void) { return f(); }", "-shared",
         "-Wl,-soname,libmodel.so", top / "lib" / LIBRARY, *tags(library, "$ORIGIN/../own"))
    link(compiler, top / "bin" / "serve", "int g(void); int main(void) { return g(); }",
         "-Wl,--allow-shlib-undefined", top / "lib" / "libmodel.so", *tags(program, "${ORIGIN}/../lib"))
    (top / "link").symlink_to(top / "bin" / "serve")


def truth(program, env):
    """The path that the loader takes; None: not found. Also when libmodel.so itself is not found."""
    listed = subprocess.run([program], env={**env, "LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True,
                            check=False).stdout
    match = re.search(re.escape(LIBRARY) + r" => (/\S+)", listed)
    return match and match[1]


def told(fullwarp, program, env):
    done = subprocess.run([fullwarp, "doctor", "--only", "program-libraries", "--for", program, "--format", "json"],
                          env=env, capture_output=True, text=True, check=False)
    message = json.loads(done.stdout)["checks"][0]["message"]
    match = re.search(r"(/\S*/" + re.escape(LIBRARY) + ")", message)
    return match and match[1], message


def main():
    fullwarp, compiler = sys.argv[1:3]
    wrong = count = 0
    plain = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    for program, library in itertools.product(("none", "rpath", "runpath"), repeat=2):
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder)
            build(compiler, top, program, library)
            for path, name in itertools.product((None, "other:lib"), ("bin/serve", "link")):
                env = dict(plain)
                if path:
                    env["LD_LIBRARY_PATH"] = ":".join(str(top / place) for place in path.split(":"))
                expected = truth(top / name, env)
                got, message = told(fullwarp, top / name, env)
                count += 1
                if expected != got:
                    wrong += 1
                    print(f"program {program}, library {library}, LD_LIBRARY_PATH {path}, {name}: the loader takes "
                          f"{expected}, doctor says: {message}")
    print(f"{count} programs, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
