"""Whatever goes wrong with the recording, the program does what it does without it, and what was written stays readable.
The marks are those of a stand-in for PyTorch, which is imported in no time."""
import os
import pathlib
import shutil
import signal
import time

import shim
import shim_fake_torch

# Marks without end: a loader of its own numbers; prints how many batches it had and what they summed up to.
LOOP = """
import os, sys, time, torch
class Batch(tuple):
    def sum(self): return sum(self)
data = torch.utils.data.dataloader.DataLoader([Batch((i, i + 1)) for i in range(0, 20, 2)])
def loop(seconds, between=0.0005):
    end, n = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for x in data: n += 1; time.sleep(between)
    return n
def show(): print(sum(int(x.sum()) for x in data))
"""


class Faults(shim.ShimCase):
    def setUp(self):
        super().setUp()
        shim_fake_torch.write_torch(self)

    def check(self, text, status=0, output="190\n", **how):
        """What it prints and returns without the shim: show() adds up 0 to 19."""
        run = self.run_shim([self.write("loop.py", LOOP + text)], **how)
        self.assertEqual((run.stdout, run.stderr, run.status), (output, "", status))
        return run

    def test_folder_that_cannot_be_used(self):
        a_file = self.write("file", "")
        for folder in ("/proc/self", a_file, os.path.join(self.scratch, "absent"), "\n"):
            self.check("loop(0.2); show()", folder=folder)

    def test_folder_deleted_meanwhile(self):
        for after in ("", "if folder: os.mkdir(folder)\n"):
            self.check("import shutil\nfolder = os.environ.get('FULLWARP_RECORD_DIR', '')\nloop(0.3)\n"
                       "if folder: shutil.rmtree(folder)\n" + after + "loop(0.3); show()")
            shutil.rmtree(self.folder, ignore_errors=True)
            os.mkdir(self.folder)

    def test_full_disk(self):
        text = """
import resource
loop(0.2)
size = 3000
old = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
loop(1.2)
resource.setrlimit(resource.RLIMIT_FSIZE, old)
loop(1.2); show()
"""
        self.in_time(lambda: self.check_full_disk(self.check(text).file))

    def check_full_disk(self, file):
        self.assertEqual(file.torn, 0)
        self.assertEqual([loss.reason for loss in file.losses], ["disk"])
        loss = file.losses[0]
        self.assertGreater(loss.count, 100)
        self.assertGreaterEqual(loss.end - loss.start, 1_000_000_000)
        # Nothing is marked in the time that is stated as lost, but what was pending when it ended: 100 ms of it.
        inside = [r for r in file.ranges if loss.start <= r.start and r.end <= loss.end - 200_000_000]
        self.assertEqual(inside, [])
        self.assertEqual(len(file.facts("ended")), 1)

    def test_largest_size(self):
        file = self.check("loop(1.0); show()", options="graphs=launch;max_bytes=20000").file
        self.assertLessEqual(file.bytes, 20_000 + 128)
        self.assertEqual([loss.reason for loss in file.losses], ["size"])

    def test_program_closes_all_files(self):
        file = self.check("""
loop(0.2)
os.closerange(3, 2000)
mine = [os.open('mine', os.O_RDWR | os.O_CREAT)]
for i in range(3, 1023):
    if i not in mine: os.dup2(mine[0], i)
loop(0.3); show()
""").file
        self.assertEqual(os.path.getsize(os.path.join(self.scratch, "mine")), 0)
        self.assertEqual(len(file.facts("ended")), 1)
        self.assertEqual(file.losses, [])

    def test_low_limit_of_files(self):
        file = self.check("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\nloop(0.2); show()").file
        self.assertEqual(len(file.facts("ended")), 1)

    def test_kill_loses_at_most_100_ms(self):
        name = self.write("loop.py", LOOP + "print('on', flush=True)\nloop(30, 0.001)\n")
        for number in (signal.SIGKILL, signal.SIGTERM):
            self.in_time(lambda number=number: self.check_kill(name, number))

    def check_kill(self, name, number):
        process = self.start([name])
        process.stdout.readline()
        time.sleep(0.7)
        process.send_signal(number)
        killed = time.monotonic_ns()
        process.communicate()
        self.assertEqual(process.returncode, -number)
        file = shim.File(next(pathlib.Path(self.folder).glob(f"python-{process.pid}-0.fwr")))
        # 50 ms for a slow machine. The kernel may stop a write in its middle: then that chunk's 100 ms are gone too.
        most = 250_000_000 if file.torn else 150_000_000
        self.assertLess(killed - max(r.end for r in file.ranges), most)
        self.assertLess(file.torn, 1 << 16)
        self.assertEqual(file.facts("ended"), [])

    def test_os_exit_loses_at_most_100_ms(self):
        def check():
            file = self.check("loop(0.5, 0.001); show(); sys.stdout.flush(); os._exit(4)", status=4).file
            self.assertGreater(max(r.end for r in file.ranges) - file.start_mono, 350_000_000)
        self.in_time(check)

    def test_pause_record_and_stop(self):
        self.in_time(self.check_pause_record_and_stop)

    def check_pause_record_and_stop(self):
        self.control(0)
        name = self.write("loop.py", LOOP + "print('on', flush=True)\nloop(1.9, 0.001)\n")
        process = self.start([name])
        process.stdout.readline()
        times = []
        for wanted in (1, 0, 2):
            time.sleep(0.5)
            self.control(wanted)
            times.append(time.monotonic_ns())
        process.communicate()
        file = next(shim.File(p) for p in pathlib.Path(self.folder).glob("python-*.fwr"))
        self.assertEqual(process.returncode, 0)
        slack = 250_000_000  # it looks every 100 ms
        for mark in file.marks(shim.INPUT):
            self.assertTrue(mark.end < times[0] - 300_000_000 or times[0] < mark.end < times[1] + slack, mark)
        recorded = [r for r in file.ranges if times[0] < r.end < times[1]]
        self.assertGreater(len(recorded), 20)
        self.assertEqual([loss.reason for loss in file.losses], ["paused", "paused"])
        self.assertTrue(all(loss.count > 20 for loss in file.losses))
        self.assertLess(abs(file.losses[0].end - times[0]), slack)
        self.assertLess(abs(file.losses[1].start - times[1]), slack)
        self.assertEqual(len(file.facts("ended")), 1)

    def test_damaged_control_file_and_options(self):
        for data in (b"", b"x" * 7, b"x" * 4096, bytes(4096)):
            pathlib.Path(self.folder, "control").write_bytes(data)
            run = self.check("loop(0.2); show()", options="max_bytes=;;x;=;python_calls")
            self.assertGreater(len(run.files[-1].ranges), 10)

    def test_bad_options_record_nothing(self):
        run = self.check("loop(0.2); show()", options="max_bytes=many")
        self.assertEqual(run.files, [])

    def test_errors_of_ours_are_swallowed(self):
        broken = self.write("broken/sitecustomize.py", """
import fullwarp_shim.recording as rec, fullwarp_shim.steps as steps, os, sys
def fail(*a, **k): raise RuntimeError('ours')
what = os.environ.get('BREAK')
if what == 'encode': rec._encode_range = fail
if what == 'steps': steps.Steps.batch = steps.Steps.loop = steps.Steps.exhausted = fail
if what == 'flush': rec.Recording._flush = fail
if what == 'id': rec.thread_id = fail
if what == 'begin': rec.Recording.__init__ = fail
if what == 'open': rec._header = fail
if what == 'hook': sys.modules['fullwarp_shim.loader'] = sys.modules['fullwarp_shim.optimizer'] = None
""")
        for what in ("encode", "steps", "flush", "id", "begin", "open", "hook"):
            run = self.check("loop(0.2); show()", path=[os.path.dirname(broken)], BREAK=what)
        self.assertEqual(sum("could not be watched" in text for f in run.files for text, _ in f.facts("cannot")), 2)


if __name__ == "__main__":
    shim.main(needs_torch=False)
