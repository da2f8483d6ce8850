#!/usr/bin/env python3
"""Pages with one wrong line each, and what run_examples.py and check_pages.py must say of them."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import figures

HERE = pathlib.Path(__file__).resolve().parent


class Pages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name).resolve()
        self.fullwarp = self.write("bin/fullwarp", "#!/bin/sh\necho one; echo two; echo err >&2\n"
                                   '[ "$2" = --help ] && echo "  -t, --top N  how many"\n'
                                   '[ "$1" = report ] || exit 3\n')
        self.fullwarp.chmod(0o755)
        self.write("src/cli/commands.def", "FW_CMD(report, x)\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def examples(self, text, name="page.md", **env):
        page = self.write(name, text)
        run = subprocess.run([sys.executable, "-B", HERE / "run_examples.py", self.fullwarp, page], text=True,
                             capture_output=True, env={**os.environ, **env}, check=False)
        return run.returncode, run.stdout + run.stderr

    def pages(self):
        run = subprocess.run([sys.executable, "-B", HERE / "check_pages.py", self.root, self.fullwarp], text=True,
                             capture_output=True, check=False)
        return run.returncode, run.stdout + run.stderr

    def test_right(self):
        status, said = self.examples("```console\n$ fullwarp x\none\ntwo\nerr\n$ echo $?\n3\n```\n"
                                     "```console\n$ printf 'a\\nb\\n\\nc\\n'\na\n...\nc\n```\n")
        self.assertEqual(status, 0, said)
        self.assertIn("3 examples of 1 pages, 0 of them differ", said)

    def test_wrong_output(self):
        for wrong in ("one\ntwo\n", "one\ntwo\nerr\nmore\n", "one\nTWO\nerr\n", "...\ntwo\n", ""):
            with self.subTest(wrong):
                status, said = self.examples(f"```console\n$ fullwarp x\n{wrong}```\n")
                self.assertEqual(status, 1, said)
                self.assertIn("page.md:2: $ fullwarp x", said)

    def test_unfinished_block(self):
        self.assertEqual(self.examples("```console\n$ true\n")[0], 1)

    def test_not_run_is_listed(self):
        status, said = self.examples("```console no-test\n$ make demo\n```\n")
        self.assertEqual(status, 0)
        self.assertIn("page.md:2: make demo", said)

    def test_update(self):
        text = "```console\n$ fullwarp x\nold\n$ echo a \\\n> b\n```\nrest\n"
        self.assertEqual(self.examples(text, UPDATE="1")[0], 0)
        self.assertEqual((self.root / "page.md").read_text(),
                         "```console\n$ fullwarp x\none\ntwo\nerr\n$ echo a \\\n> b\na b\n```\nrest\n")

    def test_man(self):
        page = ".SH EXAMPLES\n.EX\n$ printf \\(aq\\-\\-\\(aq; fullwarp report\n\\-\\-one\ntwo\nerr\n.EE\n"
        self.assertEqual(self.examples(page.replace("printf ", "printf %s "), "a.1")[0], 0)
        self.assertEqual(self.examples(page.replace("two", "too"), "a.1")[0], 1)

    def figures(self, visible, line):
        page = self.write("docs/page.md", f"# A\n{visible}\n<!-- figures\n{line}\n-->\n# B\n9.87 7.5\n")
        problems = []
        figures.look_at(page, figures.Sources(self.root), problems)
        return len(problems), "\n".join(problems)

    def test_figures(self):
        self.write("bench/results/x-h200.json", '{"rows": [{"name": "a: b", "median": 1234.56, "min": 1200, "max": 1300},'
                                                '{"name": "c", "median": 500, "min": 1, "max": 2}],'
                                                '"targets": [{"name": "t", "measured": 7.46}]}')
        self.write("docs/other.md", "It took 3.25 s.\n")
        right = [("1,235 |", "1,235 = x-h200.json: a: b"), ("of 1.2k", "1.2k = x-h200.json: a: b [min]"),
                 ("2.47 times", "2.47 = x-h200.json: a: b // x-h200.json: c"), ("50 %", "50 = x-h200.json: c * 0.1"),
                 ("7.5,", "7.5 = x-h200.json: t [target]"), ("3.25", "3.25 = other.md: took 3.25 s")]
        for visible, line in right:
            self.assertEqual(self.figures(visible, line)[0], 0, line)
        wrong = [("1,234", "1,234 = x-h200.json: a: b"), ("1,2350", "1,235 = x-h200.json: a: b"), ("9.8", "9.87 = x-h200.json: c"),
                 ("2.46", "2.46 = x-h200.json: a: b // x-h200.json: c"), ("500", "500 = x-h200.json: d"),
                 ("500", "500 = y-h200.json: c"), ("500", "500: x-h200.json: c"), ("3.2", "3.2 = other.md: took 3.25 s"),
                 ("3.25", "3.25 = other.md: takes 3.25 s")]
        for visible, line in wrong:
            self.assertEqual(self.figures(visible, line)[0], 1, line)
        self.assertIn("it is 1234.56", self.figures("1,234", "1,234 = x-h200.json: a: b")[1])

    def test_links(self):
        self.write("README.md", "# A b\n[x](docs/a.md#the-part) [y](#a-b) [z](https://a.b/c) `[n](none)`\n")
        self.write("docs/a.md", "## The part\n[up](../README.md)\n")
        self.assertEqual(self.pages()[0], 0)
        self.write("docs/a.md", "## A part\n[up](../READ.md)\n")
        status, said = self.pages()
        self.assertEqual(status, 1)
        self.assertIn("README.md: docs/a.md#the-part: no such heading", said)
        self.assertIn("docs/a.md: ../READ.md leads nowhere", said)

    def test_options(self):
        self.write("docs/man/fullwarp-report.1", ".SH OPTIONS\n.B \\-\\-top\n.SH EXAMPLES\n--other\n")
        self.assertEqual(self.pages()[0], 0)
        self.write("docs/man/fullwarp-report.1", ".SH OPTIONS\n.B \\-\\-bottom\n")
        status, said = self.pages()
        self.assertEqual(status, 1)
        self.assertIn("does not name --top", said)
        self.assertIn("names --bottom, which the command does not know", said)


if __name__ == "__main__":
    unittest.main()
