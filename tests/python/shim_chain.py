"""The shim is not seen by a program that has nothing to do with torch: its own sitecustomize, path, output and status."""
import os
import subprocess

import shim

SHOW = """
import sys
print(sys.path)
try:
    import sitecustomize
    print(sitecustomize.__file__, sitecustomize.__name__, getattr(sitecustomize, 'mine', None))
except ImportError as error:
    print(error)
print(sys.argv, getattr(sys, 'said', None))
"""
THEIRS = "import sys\nmine = 7\nsys.said = getattr(sys, 'said', []) + [(__name__, list(sys.path))]\n"


class Chain(shim.ShimCase):
    def both(self, python, arguments, path=()):
        run = self.run_shim(arguments, python=python, path=path)
        self.assert_same(run, self.run_plain(arguments, python=python, path=path), python)
        self.assertEqual(os.listdir(self.folder), [])
        return run

    def test_no_sitecustomize_of_the_program(self):
        show = self.write("show.py", SHOW)
        for python in shim.interpreters():
            self.both(python, [show, "a", "b"])

    def test_the_programs_sitecustomize_runs_as_without_us(self):
        show = self.write("show.py", SHOW)
        self.write("theirs/sitecustomize.py", THEIRS)
        self.write("theirs/usercustomize.py", "import sys\nsys.said = getattr(sys, 'said', []) + ['user']\n")
        for python in shim.interpreters():
            run = self.both(python, [show], path=[os.path.join(self.scratch, "theirs")])
            self.assertIn("theirs", run.stdout)
            self.assertIn("sitecustomize 7", run.stdout)

    def test_errors_of_the_programs_sitecustomize_stay_its_own(self):
        for text in ("1 / 0\n", "import no_such_module\n", "raise SystemExit(3)\n", "def broken(:\n", "raise KeyboardInterrupt\n"):
            self.write("theirs/sitecustomize.py", text)
            for python in shim.interpreters((3, 7)):
                path = [os.path.join(self.scratch, "theirs")]
                run = self.run_shim(["-c", "print('on')"], python=python, path=path)
                plain = self.run_plain(["-c", "print('on')"], python=python, path=path)
                self.assertEqual((run.stdout, run.status), (plain.stdout, plain.returncode))
                # A traceback, where Python prints one, also shows who called.
                self.assertEqual(run.stderr.splitlines()[-1:], plain.stderr.splitlines()[-1:])

    def test_another_tool_that_chains_runs_once(self):
        # As tools do that put their own sitecustomize first and go on to the next one.
        self.write("tool/sitecustomize.py", """
import os, sys
sys.said = getattr(sys, 'said', []) + ['tool']
here = os.path.dirname(__file__)
sys.path.remove(here)
del sys.modules['sitecustomize']
try:
    import sitecustomize
finally:
    sys.path.insert(0, here)
""")
        self.write("theirs/sitecustomize.py", THEIRS)
        tool, theirs = (os.path.join(self.scratch, name) for name in ("tool", "theirs"))
        for python in shim.interpreters((3, 7)):
            env = shim.environment(FULLWARP_RECORD_DIR=self.folder, PYTHONPATH=os.pathsep.join([tool, shim.SHIM, theirs]))
            done = subprocess.run([python, "-c", "import sys; print(sys.said[0], len(sys.said), sys.said[1][0])"],
                                  env=env, capture_output=True, text=True, check=False)
            self.assertEqual((done.stdout, done.stderr), ("tool 2 sitecustomize\n", ""))

    def test_isolated_modes_do_not_load_it(self):
        for python in shim.interpreters((3, 7)):
            for mode in ("-I", "-S", "-E"):
                self.both(python, [mode, "-c", "import sys; print('fullwarp_shim' in sys.modules)"])

    def test_children_inherit_it(self):
        self.write("child.py", "import os, sys\nprint('fullwarp_shim' in sys.modules)\nsys.exit(3)\n")
        parent = self.write("parent.py", "import subprocess, sys\nsys.exit(subprocess.call([sys.executable, 'child.py']))\n")
        for python in shim.interpreters((3, 7)):
            run = self.run_shim([parent], python=python)
            self.assertEqual((run.stdout, run.status), ("True\n", 3))

    def test_errors_end_as_without_us(self):
        for python in shim.interpreters((3, 7)):
            self.both(python, ["-c", "import os; os.environ['X'] = '1'; raise ValueError('out')"])
            self.both(python, ["-W", "error", "-c", "import os; os.fork() or os._exit(0); print(os.wait()[1])"])

    def test_without_a_recording_nothing_is_loaded(self):
        done = self.run_plain(["-c", "import sys; print('fullwarp_shim' in sys.modules, sys.path)"], path=[shim.SHIM])
        self.assertIn("False", done.stdout)
        self.assertNotIn(shim.SHIM + "'", done.stdout)


if __name__ == "__main__":
    shim.main(needs_torch=False)
