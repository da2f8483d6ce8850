#!/usr/bin/env python3
"""Plants one fault at a time in a small tree and expects the check of scripts/ to name it."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"

LAYERS = "base:\ntrace: base\ngpu: base\n"


def run_check(name, *arguments):
    run = subprocess.run([sys.executable, "-B", SCRIPTS / f"check_{name}.py", *map(str, arguments)],
                         capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


class Planted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name).resolve()

    def write(self, name, text=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def clean(self, name, *more):
        status, said = run_check(name, self.root, *more)
        if status == 77:
            self.skipTest(said)
        self.assertEqual((status, said[:3]), (0, "ok:"), said)

    def fails(self, name, *expected, more=()):
        status, said = run_check(name, self.root, *more)
        if status == 77:
            self.skipTest(said)
        self.assertEqual(status, 1, said)
        for text in expected:
            self.assertIn(text, said)
        self.assertEqual(len(said.strip().splitlines()), len(expected), said)


class Layers(Planted):
    def setUp(self):
        super().setUp()
        self.write("scripts/layers.txt", LAYERS)
        self.write("src/trace/read.c", '#include "base/error.h"\n#include "fullwarp/trace.h"\n#include <stdio.h>\n')
        self.write("src/gpu/load.c", "#include <dlfcn.h>\n")
        self.write("include/fullwarp/trace.h", '#include "fullwarp/fullwarp.h"\n')

    def test_clean(self):
        self.clean("layers")

    def test_upward(self):
        self.write("src/base/error.c", '#include "base/error.h"\n#include "trace/trace.h"\n')
        self.fails("layers", "src/base/error.c:2: base may not include trace/")

    def test_sideways_in_a_table(self):
        self.write("src/trace/rows.def", '#include "gpu/load.h"\n')
        self.fails("layers", "src/trace/rows.def:1: trace may not include gpu/")

    def test_library_opened_outside_gpu(self):
        self.write("src/trace/open.c", "#  include <dlfcn.h>\n")
        self.fails("layers", "src/trace/open.c:1: only src/gpu opens libraries")

    def test_public_header_reaches_in(self):
        self.write("include/fullwarp/bad.h", '#include "base/vec.h"\n')
        self.fails("layers", "include/fullwarp/bad.h:1: fullwarp may not include base/")

    def test_path_without_layer(self):
        self.write("src/trace/near.c", '#include "read.h"\n#include "../base/vec.h"\n')
        self.fails("layers", 'near.c:1: include as "layer/file"', 'near.c:2: include as "layer/file"')

    def test_unknown_layer(self):
        self.write("src/attic/old.c")
        self.write("src/loose.c")
        self.fails("layers", "layer attic is not in", "src/loose.c: belongs in a layer's folder")

    def test_cycle(self):
        self.write("scripts/layers.txt", "base: trace\ntrace: base\ngpu: base\n")
        self.fails("layers", "base names trace, which is not listed above it")


class Catalog(Planted):
    def setUp(self):
        super().setUp()
        self.write("src/cli/commands.def", '/* FW_CMD(ghost, x) */\nFW_CMD(report, "reads")\n')
        for name in ("src/cli/cmd_report.c", "docs/man/fullwarp-report.1", "docs/man/fullwarp.1",
                     "tests/cli/report-help/cmd"):
            self.write(name)
        self.write("src/rules/rules.def", "FW_RULE(input_bound)\n")
        for name in ("src/rules/input_bound.c", "src/rules/rules.c", "docs/rules/input-bound.md",
                     "docs/rules/README.md", "tests/rules/input-bound/fires.json", "tests/rules/make.py"):
            self.write(name)
        self.write("src/import/kineto.h", "fw_status fw_kineto_import(struct fw_source *source);\n")
        for name in ("src/import/kineto.c", "docs/format/kineto.md", "tests/fuzz/fuzz_kineto.c",
                     "tests/fuzz/corpus/kineto/empty"):
            self.write(name)

    def test_clean(self):
        self.clean("catalog")

    def test_each_missing_piece(self):
        for name in ("src/cli/cmd_report.c", "docs/man/fullwarp-report.1", "src/rules/input_bound.c",
                     "docs/rules/input-bound.md", "docs/format/kineto.md"):
            with self.subTest(name):
                (self.root / name).unlink()
                self.fails("catalog", f"{name} is missing")
                self.write(name)

    def test_missing_tests(self):
        shutil.rmtree(self.root / "tests/cli/report-help")
        shutil.rmtree(self.root / "tests/rules/input-bound")
        self.fails("catalog", "command report: tests/cli/report*/cmd is missing",
                   "rule input_bound: tests/rules/input-bound/ is missing")

    def test_orphans(self):
        self.write("src/cli/cmd_old.c")
        self.write("docs/man/fullwarp-old.1")
        self.write("docs/rules/old-rule.md")
        self.write("tests/rules/old-rule/fires.json")
        self.fails("catalog", "src/cli/cmd_old.c: src/cli/commands.def lists no command 'old'",
                   "docs/man/fullwarp-old.1:", "docs/rules/old-rule.md:", "tests/rules/old-rule/fires.json:")

    def test_fuzz(self):
        self.write("tests/fuzz/fuzz_nsys.c")
        self.write("tests/fuzz/corpus/elf/a")
        self.fails("catalog", "tests/fuzz/corpus/nsys/ is missing", "tests/fuzz/fuzz_elf.c is missing")

    def test_doctor(self):
        self.write("src/doctor/checks.def", 'FW_CHECK(shm_size, ALWAYS, "x")\n')
        self.write("src/doctor/shm_size.c")
        self.write("docs/doctor.md", "| `shm-size` | x |\n")
        cases = "expect shm-size ok\nexpect shm-size problem\nexpect shm-size unknown\n"
        self.write("tests/doctor/a.cases", cases)
        self.clean("catalog")
        self.write("docs/doctor.md", "nothing\n")
        self.write("tests/doctor/a.cases", cases.replace("unknown", "ok"))
        self.fails("catalog", "docs/doctor.md does not say", "does not say 'expect shm-size unknown'")

    def test_service(self):
        self.write("src/serve/commands.def", 'FW_CMD(plan, "shows")\n')
        self.write("src/serve/cmd_plan.c")
        self.write("docs/man/fullwarp-serve.1", ".SS plan\n")
        self.write("docs/nn.md", "`fullwarp-serve plan`\n")
        self.write("tests/serve/plan-text/cmd")
        self.clean("catalog")
        self.write("src/serve/cmd_old.c")
        self.write("docs/nn.md", "nothing\n")
        self.fails("catalog", "docs/nn.md does not say '`fullwarp-serve plan'",
                   "src/serve/cmd_old.c: src/serve/commands.def lists no command of the service 'old'")

    def test_twice(self):
        self.write("src/rules/rules.def", "FW_RULE(input_bound)\nFW_RULE(input_bound)\n")
        self.fails("catalog", "input_bound is listed twice")


class Length(Planted):
    def function(self, lines):
        return "int f(int a)\n{\n" + "\ta++;\n" * (lines - 4) + "\treturn a;\n}\n"

    def test_clean(self):
        self.write("src/base/a.c", self.function(60))
        self.clean("length")

    def test_past_60_needs_a_reason(self):
        self.write("src/base/a.c", self.function(61))
        self.fails("length", "src/base/a.c:1: f has 61 lines: past 60 it needs a reason")
        self.write("scripts/long_functions.txt", "src/base/a.c f: one table of forty cases\n")
        self.clean("length")

    def test_past_100_fails_with_a_reason_too(self):
        self.write("src/base/a.c", self.function(101))
        self.write("scripts/long_functions.txt", "src/base/a.c f: one table of forty cases\n")
        self.fails("length", "f has 101 lines, at most 100")

    def test_stale_reason(self):
        self.write("src/base/a.c", self.function(60))
        self.write("scripts/long_functions.txt", "src/base/a.c f: one table of forty cases\nnonsense\n")
        self.fails("length", "long_functions.txt:1: f is not that long any more", "long_functions.txt:2: not 'file")

    def test_file(self):
        self.write("include/fullwarp/a.h", "\n" * 1001)
        self.fails("length", "include/fullwarp/a.h: 1001 lines, at most 1000")


class Format(Planted):
    def setUp(self):
        super().setUp()
        shutil.copy(SCRIPTS.parent / ".clang-format", self.root)
        self.write("src/base/a.c", "int a;\n")

    def test_clean(self):
        self.clean("format")

    def test_fault(self):
        self.write("tests/unit/test_a.c", "int  b;\n")
        self.fails("format", "tests/unit/test_a.c:1:4: error: code should be clang-formatted")


class Banned(Planted):
    HEADER = ("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n"
              "#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok gets\n"
              "#pragma GCC poison atoi localtime gmtime mktemp system\n")

    def setUp(self):
        super().setUp()
        self.header = self.root / "src/base/banned.h"
        self.write("src/base/banned.h", self.HEADER)
        self.commands(f"cc -D_GNU_SOURCE -include {self.header} -o a.o -c {self.root}/src/a.c")

    def commands(self, command):
        self.write("compile_commands.json",
                   json.dumps([{"file": f"{self.root}/src/a.c", "directory": str(self.root), "command": command}]))

    def test_clean(self):
        self.clean("banned", self.root)

    def test_function_let_back_in(self):
        self.write("src/base/banned.h", self.HEADER.replace("strncpy ", ""))
        self.fails("banned", "strncpy is not banned", more=(self.root,))

    def test_file_compiled_without_the_ban(self):
        self.commands(f"cc -D_GNU_SOURCE -o a.o -c {self.root}/src/a.c")
        status, said = run_check("banned", self.root, self.root)
        self.assertEqual(status, 1)
        self.assertIn("src/a.c: is compiled without src/base/banned.h", said)
        self.assertIn("strcpy is banned, and still compiles", said)


class Results(Planted):
    def good(self):
        return {"schema": 1, "what": "import", "machine": "2 cores", "gpu": None, "driver": None,
                "versions": {"python": "3.11"}, "commit": "0123abc", "date": "2026-01-31",
                "rows": [{"name": "ours", "unit": "MB/s", "runs": [3, 1, 2.0], "median": 2, "min": 1, "max": 3,
                          "peer": False}],
                "targets": [{"name": "import_mb_s", "op": ">=", "target": 500, "measured": 2, "met": False,
                             "why": "slow machine"}]}

    def result(self, change=lambda data: None, name="import-cpu.json"):
        data = self.good()
        change(data)
        self.write(f"bench/results/{name}", json.dumps(data))

    def test_clean(self):
        self.result()
        self.clean("results")

    def test_faults(self):
        faults = (
            (lambda d: d.pop("driver"), "'driver' is missing"),
            (lambda d: d.update(notes="x"), "'notes' is not a key of the schema"),
            (lambda d: d.update(schema=2), "schema is 1"),
            (lambda d: d.update(commit="main"), "commit is a git commit"),
            (lambda d: d.update(date="yesterday"), "date is YYYY-MM-DD"),
            (lambda d: d.update(what="binary"), "is not named binary-"),
            (lambda d: d.update(rows=[]), "has no row"),
            (lambda d: d["rows"][0].update(runs=[]), "every run's value is kept"),
            (lambda d: d["rows"][0].update(median=2.1), "median is 2.1, of the runs it is 2.0"),
            (lambda d: d["rows"][0].update(max=4), "max is 4, of the runs it is 3"),
            (lambda d: d["rows"][0].update(peer=None), "peer is true or false"),
            (lambda d: d["targets"][0].update(name="speed"), "'speed' is not a target's name"),
            (lambda d: d["targets"][0].update(met=True), "met says True"),
            (lambda d: d["targets"][0].update(why=""), "a target missed says why"),
            (lambda d: d["targets"][0].update(measured="fast"), "measured is a number, or null"),
        )
        for change, expected in faults:
            with self.subTest(expected):
                self.result(change)
                self.fails("results", expected)

    def test_not_json(self):
        self.write("bench/results/import-cpu.json", "{")
        self.fails("results", "bench/results/import-cpu.json: Expecting")


class Words(Planted):
    def test_clean(self):
        self.write("docs/a.md", "Work in your home folder, /etc/passwd, $DIR/root, ~/work/x, http://a.b/work\n")
        self.write("examples/a.json", '{"path": "/' + 'root/x.py"}')
        self.clean("words")

    def test_faults(self):
        self.write("docs/a.md", "fine\nsee /" + "work/a\n")
        self.write("src/a.c", "/* /" + "home/someone/x */\n")
        self.write("src/b.c", "<<" + "<<<<< HEAD\n=======\n")
        self.fails("words", "docs/a.md:2: '/" + "work'", "src/a.c:1: '/" + "home/s",
                   "src/b.c:1: a merge left its mark")


class Readmes(Planted):
    ENGLISH = "# Why\nSee [this](docs/a.md), `make test`.\n## How\n```console\n$ make demo\n```\n"

    def setUp(self):
        super().setUp()
        self.write("README.md", self.ENGLISH + "[\u4e2d\u6587](README.zh-CN.md)\n")

    def chinese(self, old="", new=""):
        self.write("README.zh-CN.md", self.ENGLISH.replace("Why", "\u4e3a\u4ec0\u4e48").replace(old, new))

    def test_clean(self):
        self.chinese()
        self.clean("readmes")

    def test_faults(self):
        for old, new, expected in (("## How", "### How", "README.zh-CN.md:3: heading differs"),
                                   ("## How\n", "", "README.md has 2 of kind 'heading', README.zh-CN.md 1"),
                                   ("make demo", "make dem", "README.zh-CN.md:4: code differs"),
                                   ("docs/a.md", "docs/b.md", "README.zh-CN.md:2: link differs"),
                                   ("`make test`", "make test", "README.zh-CN.md: lacks `make test`")):
            with self.subTest(expected):
                self.chinese(old, new)
                self.fails("readmes", expected)


class Symbols(Planted):
    def build(self, text, *flags):
        self.write("a.c", text)
        subprocess.run(["cc", "-o", self.root / "a.out", self.root / "a.c", *flags], check=True)
        return run_check("symbols", self.root / "a.out")

    def test_clean(self):
        status, said = self.build("#include <stdio.h>\nint main(void) { return puts(\"a\") < 0; }\n")
        self.assertEqual(status, 0, said)

    def test_new_symbol(self):
        # hypot got a new version in glibc 2.35, arc4random came in 2.36.
        status, said = self.build("#include <math.h>\nint main(int n, char **v) { return v && hypot(n, n) > 9; }\n",
                                  "-fno-builtin", "-lm")
        self.assertEqual(status, 1, said)
        self.assertIn("needs hypot of glibc 2.35", said)

    def test_not_a_program(self):
        self.write("a.out", "text")
        status, _ = run_check("symbols", self.root / "a.out")
        self.assertEqual(status, 1)


class Exports(Planted):
    def export(self, text):
        self.write("include/fullwarp/a.h", "FW_API const char *fw_a(int x,\n\tint y);\n/* FW_API int fw_old(void); */\n")
        self.write("a.c", text)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.root / "a.so", self.root / "a.c"], check=True)
        return run_check("exports", self.root, self.root / "a.so")

    def test_clean(self):
        self.assertEqual(self.export("int fw_a(void) { return 0; }\n"), (0, "ok: 1 functions\n"))

    def test_missing_and_undeclared(self):
        status, said = self.export("int fw_b(void) { return 0; }\n")
        self.assertEqual(status, 1)
        self.assertIn("fw_a: declared in include/fullwarp, not exported", said)
        self.assertIn("fw_b: exported, but no public header declares it", said)


class Count(Planted):
    CASES = ('<testcase name="good" status="run"/><testcase name="bad" status="fail"/>'
             '<testcase name="gone" status="notrun"><skipped message="Unable to find executable"/></testcase>'
             '<testcase name="left" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
             '<system-out>looked\nskipped: no corpus</system-out></testcase>')

    def count(self, *arguments):
        run = subprocess.run([sys.executable, "-B", SCRIPTS / "count_tests.py", *map(str, arguments)],
                             capture_output=True, text=True, check=False)
        return run.returncode, run.stdout.splitlines()

    def test_sum_of_two_runs(self):
        for preset in ("dev", "tsan"):
            self.write(f"{preset}/tests.xml", f"<testsuite>{self.CASES}</testsuite>")
        status, said = self.count(self.root / "dev/tests.xml", self.root / "tsan/tests.xml")
        self.assertEqual(status, 1)
        self.assertEqual(said[-1], "2 passed, 4 failed, 2 skipped")
        self.assertIn("failed in dev: gone", said)
        self.assertIn("skipped in tsan: left: no corpus", said)

    def test_missing_results_and_broken_builds_fail(self):
        self.write("dev/tests.xml", '<testsuite><testcase name="good" status="run"/></testsuite>')
        self.assertEqual(self.count(self.root / "dev/tests.xml"), (0, ["1 passed, 0 failed, 0 skipped"]))
        status, said = self.count("--broken=1", self.root / "dev/tests.xml", self.root / "release/tests.xml")
        self.assertEqual((status, said[-1]), (1, "1 passed, 2 failed, 0 skipped"))

    def test_no_test_is_a_failure(self):
        self.write("dev/tests.xml", "<testsuite></testsuite>")
        self.assertEqual(self.count(self.root / "dev/tests.xml"), (1, ["0 passed, 0 failed, 0 skipped"]))


if __name__ == "__main__":
    unittest.main()
