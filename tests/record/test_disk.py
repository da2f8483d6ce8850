#!/usr/bin/env python3
"""A full disk, a folder that cannot be written or goes away, a limit on size: the program does not notice."""
import os
import resource
import shutil
import subprocess
import time

import recorded
from read_recording import read_folder

COUNT = 3000


def can_mount():
    return subprocess.run(["unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True,
                          check=False).returncode == 0


@recorded.needs_inject
class Disk(recorded.TestCase):
    def prepare_quiet(self, *command, **settings):
        """Without the truth, which would need the same disk."""
        run = self.prepare(*command, **settings)
        del run.env["FW_FAKE_TRUTH"]
        return run

    def assert_launched(self, run, count=COUNT):
        self.assertEqual(run.result(), (0, f"launched {count}\n", ""))

    def test_a_limit_on_the_size_of_files(self):
        # The kernel's signal for it, SIGXFSZ, ends a program that does not expect it.
        limit = 30000
        run = self.prepare_quiet("launch", COUNT)
        run.run(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assert_launched(run)
        file = run.only()
        self.assertLessEqual(file.bytes, limit)

    def test_max_bytes(self):
        run = self.prepare_quiet("launch", COUNT, options="max_bytes=100000").run()
        self.assert_launched(run)
        file = run.only()
        self.assertLessEqual(file.bytes, 100000 + 4096)
        self.assertEqual({r.reason for r in file.of("loss")}, {"size"})

    def test_no_folder(self):
        run = self.prepare_quiet("launch", COUNT, folder="/nonexistent/folder").run()
        self.assert_launched(run)

    def test_a_file_in_place_of_the_folder(self):
        run = self.prepare_quiet("launch", COUNT)
        shutil.rmtree(run.folder)
        with open(run.folder, "w"):
            pass
        self.assert_launched(run.run())

    def test_a_folder_that_goes_away(self):
        run = self.prepare("loop", 800 * recorded.SLOW).start()
        time.sleep(0.4)
        shutil.rmtree(run.folder)
        run.wait()
        self.assertEqual(run.result(), (0, f"looped {800 * recorded.SLOW}\n", ""))

    def in_mount(self, options, *command):
        """The program with its folder on a small file system, whose files are copied out at the end."""
        if not can_mount():
            self.skipTest("no file system can be mounted here: unshare -Urm is not permitted")
        run = self.prepare_quiet(*command)
        out = os.path.join(run.temporary, "out")
        os.mkdir(out)
        run.command = ["unshare", "-Urm", "sh", "-c",
                       'mount -t tmpfs -o "$0" none "$1" || exit 99; f=$1 o=$2; shift 2; "$@"; s=$?; '
                       'cp "$f"/* "$o"/ 2>/dev/null; exit $s', options, run.folder, out, *run.command]
        return run.run(), out

    def test_a_full_disk(self):
        run, out = self.in_mount("size=64k", "launch", COUNT)
        self.assert_launched(run)
        file, = read_folder(out)
        self.assertEqual(file.kind, "process")
        self.assertLess(len(file.of("kernel")), COUNT)

    def test_a_folder_that_cannot_be_written(self):
        run, out = self.in_mount("ro", "launch", COUNT)
        self.assert_launched(run)
        self.assertEqual(os.listdir(out), [])


if __name__ == "__main__":
    recorded.main()
