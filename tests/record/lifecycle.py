#!/usr/bin/env python3
"""lifecycle.py FULLWARP [TEST...]: a recorded program lives, ends and hears signals as it does without fullwarp."""
import contextlib
import json
import os
import pathlib
import pty
import resource
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

FULLWARP = os.path.abspath(sys.argv.pop(1))
PATIENCE_S = 30


class Lifecycle(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        library = self.folder / "libfullwarp_inject.so"  # nothing here opens libcuda, so nothing loads it
        library.touch()
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("CUDA_INJ", "NVTX_INJ", "FULLWARP_"))}
        self.env["FULLWARP_INJECT"] = str(library)
        self.out = self.folder / "out"

    def start(self, *command, options=(), **more):
        more.setdefault("env", self.env)
        return subprocess.Popen([FULLWARP, "record", "-o", str(self.out), *options, "--", *command], cwd=self.folder,
                                text=True, stdin=more.pop("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **more)

    def record(self, *command, **more):
        process = self.start(*command, **more)
        process.out, process.err = process.communicate(timeout=PATIENCE_S)
        return process

    def meta(self, name="meta.json"):
        return json.loads((self.out / name).read_text())

    def wait_for(self, fact, what):
        until = time.monotonic() + PATIENCE_S
        while not fact():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.01)

    def wait_for_line(self, process, line):
        self.assertEqual(process.stdout.readline(), line)

    def test_status_is_the_programs(self):
        for script, status in (("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", 143), ("kill -KILL $$", 137),
                               ("kill -SEGV $$", 139)):
            shutil.rmtree(self.out, ignore_errors=True)
            self.assertEqual(self.record("sh", "-c", script).returncode, status, script)
            self.assertEqual(self.meta()["exit_status"], status)

    def test_program_that_cannot_be_executed(self):
        run = self.record("./absent")
        self.assertEqual((run.returncode, run.err), (127, "fullwarp record: ./absent: No such file or directory\n"))
        (self.folder / "plain").touch()
        run = self.record("./plain")
        self.assertEqual((run.returncode, run.err), (126, "fullwarp record: ./plain: Permission denied\n"))
        self.record("./absent", options=("-o", f"{self.out}//"))
        self.assertFalse(self.out.exists())

    def test_streams_are_the_programs_own(self):
        process = self.start("sh", "-c", "cat; echo oops >&2", stdin=subprocess.PIPE)
        out, err = process.communicate("one\ntwo\n" * 50000, timeout=PATIENCE_S)
        self.assertEqual(out, "one\ntwo\n" * 50000)
        self.assertEqual(err.split("\n")[0], "oops")

    def test_streams_end_when_the_program_closes_them(self):
        process = self.start("sh", "-c", "exec >&- <&-; sleep 30", stdin=subprocess.PIPE)
        start = time.monotonic()
        self.assertEqual(process.stdout.read(), "")
        with self.assertRaises(BrokenPipeError):
            while True:
                process.stdin.write("x" * 65536)
        self.assertLess(time.monotonic() - start, 20)
        process.terminate()
        process.wait(timeout=PATIENCE_S)
        process.stderr.close()
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()

    def test_streams_that_are_closed_from_the_start(self):
        mark = self.folder / "mark"
        def close():
            for number in range(3):
                os.close(number)
        process = subprocess.Popen([FULLWARP, "record", "-o", str(self.out), "sh", "-c",
                                    f"ls -l /proc/$$/fd >{mark}; sleep 0.3; echo lost; exit 6"],
                                   cwd=self.folder, env=self.env, preexec_fn=close)
        self.assertEqual(process.wait(timeout=PATIENCE_S), 6)
        self.assertNotIn("control", mark.read_text())
        self.assertEqual(self.meta()["exit_status"], 6)
        self.assertTrue((self.out / "host.fwr").read_bytes().startswith(b"FWREC"))

    def test_nothing_of_ours_is_inherited(self):
        # Not SigQ, which counts for all processes of the user.
        script = ("import os, signal; print(sorted(os.listdir('/proc/self/fd'))[:-1], "
                  "[l for l in open('/proc/self/status') if l.startswith(('SigB', 'SigC', 'SigI', 'SigP', 'Shd'))], os.getpgrp() == os.getsid(0))")
        plain = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                               check=True).stdout
        self.assertEqual(self.record(sys.executable, "-c", script).out, plain)

    def test_ignored_signals_stay_ignored(self):
        def ignore():
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGCHLD):
                signal.signal(number, signal.SIG_IGN)
        script = "import signal; print([signal.getsignal(s) for s in (1, 2, 17)])"
        run = self.record(sys.executable, "-c", script, preexec_fn=ignore)
        self.assertEqual(run.out, str([signal.SIG_IGN] * 3) + "\n")
        self.assertEqual(run.returncode, 0)

    def test_signals_are_passed_on(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
            shutil.rmtree(self.out, ignore_errors=True)
            process = self.start("sh", "-c", f"trap 'echo got; exit 9' {number.name[3:]}; echo on; "
                                 "while :; do sleep 0.01; done")
            self.wait_for_line(process, "on\n")
            process.send_signal(number)
            out, _ = process.communicate(timeout=PATIENCE_S)
            self.assertEqual((out, process.returncode), ("got\n", 9), number.name)

    def test_signal_that_kills_the_program(self):
        process = self.start("sleep", "1000")
        self.wait_for(lambda: (self.out / "meta.json").exists(), "a recording")
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 143)

    def on_terminal(self, *command):
        """Starts a command as the leader of a terminal of its own; what it prints is read by expect()."""
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(self.folder)
            os.execve(command[0], command, self.env)
        self.addCleanup(os.close, terminal)
        self.terminal, self.printed = terminal, b""
        return pid

    def expect(self, word):
        """Reads up to the word; None: up to the end."""
        while word is None or word.encode() not in self.printed:
            ready, _, _ = select.select([self.terminal], [], [], PATIENCE_S)
            self.assertTrue(ready, f"no '{word}' after {self.printed}")
            try:
                self.printed += os.read(self.terminal, 1000)
            except OSError:  # the other end is gone
                self.assertIsNone(word, self.printed)
                return
        self.printed = self.printed.split(word.encode(), 1)[1]

    def type(self, text):
        os.write(self.terminal, text.encode())

    def status_of(self, pid):
        self.expect(None)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_control_c_reaches_the_program_once(self):
        script = ("import signal, time\ncount = []\nsignal.signal(2, lambda *_: count.append(1))\nprint('on', flush=True)\n"
                  "end = time.monotonic() + 1\nwhile time.monotonic() < end: time.sleep(0.05)\nprint(len(count), 'times')")
        pid = self.on_terminal(FULLWARP, "record", "-o", "out", sys.executable, "-c", script)
        self.expect("on\r\n")
        self.type("\x03")
        self.expect("1 times")
        self.assertEqual(self.status_of(pid), 0)

    def test_control_c_that_ends_the_program(self):
        pid = self.on_terminal(FULLWARP, "record", "-o", "out", "sh", "-c", "echo on; exec sleep 1000")
        self.expect("on\r\n")
        self.type("\x03")
        self.assertEqual(self.status_of(pid), 130)
        self.assertEqual(self.meta()["exit_status"], 130)

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_control_z_and_fg(self):
        command = f"{FULLWARP} record -o out sh -c 'echo on; read line; exit ${{#line}}'"
        pid = self.on_terminal(shutil.which("bash"), "--norc", "-m", "-c", f"{command}; echo halted; fg; exit $?")
        self.expect("on\r\n")
        self.type("\x1a")
        self.expect("halted\r\n")
        self.type("four\n")
        self.assertEqual(self.status_of(pid), 4)

    def test_recorder_killed(self):
        mark = self.folder / "mark"
        process = self.start("sh", "-c", f"echo on; sleep 0.5; echo done >{mark}")
        self.wait_for_line(process, "on\n")
        process.kill()
        process.wait(timeout=PATIENCE_S)
        self.wait_for(mark.exists, "the program goes on")
        process.communicate(timeout=PATIENCE_S)
        run = self.record("true")
        self.assertEqual(run.returncode, 2)
        self.assertIn("not empty" if not (self.out / "control").exists() else "was killed", run.err)

    def test_daemon_holds_nothing_up(self):
        start = time.monotonic()
        run = self.record("sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!")
        self.assertLess(time.monotonic() - start, 10)
        os.kill(int(run.out), signal.SIGKILL)
        self.assertEqual(run.returncode, 0)

    def test_recorded_process_that_outlives_the_program(self):
        script = ("(exec >/dev/null 2>&1; touch $FULLWARP_RECORD_DIR/process-$(exec sh -c 'echo $PPID')-0.fwr; sleep {}) & "
                  "while [ ! -e $FULLWARP_RECORD_DIR/process-* ]; do sleep 0.01; done")
        start = time.monotonic()
        run = self.record("sh", "-c", script.format(0.4))
        self.assertGreaterEqual(time.monotonic() - start, 0.4)
        self.assertIn(": 1 process, ", run.err)
        shutil.rmtree(self.out)
        start = time.monotonic()
        self.record("sh", "-c", script.format(30))  # a daemon, perhaps: it is not waited for
        self.assertLess(time.monotonic() - start, 10)

    def test_files_are_packed_and_no_tool_of_ours_is_left(self):
        self.record("sh", "-c", "touch $FULLWARP_RECORD_DIR/yield-1; sleep 0.5")
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), ["counters.fwr", "host.fwr", "meta.json"])
        host = (self.out / "host.fwr").read_bytes()
        self.assertEqual(host[:8], b"FWREC\r\n\x1a")
        self.assertEqual(int.from_bytes(host[64 + 16:64 + 18], "little"), 1)  # the first chunk's compression: zstd

    def test_records_that_the_library_lost(self):
        tests = str(pathlib.Path(__file__).resolve().parents[1] / "python")
        script = (f"import os, sys; sys.dont_write_bytecode = True; sys.path.insert(0, {tests!r}); import make_recording as m\n"
                  "f = m.File('process', 1); f.loss(1, 2, 'paused', 1000); f.loss(2, 3, 'dropped-gpu', 5); f.flush()\n"
                  "f.loss(3, 4, 'disk', 37); f.loss(4, 5, 'other-profiler'); {}\n"
                  "f.write(os.environ['FULLWARP_RECORD_DIR'] + '/process-4194304-0.fwr')")
        run = self.record(sys.executable, "-c", script.format(""))
        self.assertIn(", 42 records lost", run.err)
        self.assertEqual(self.meta()["records_lost"], 42)
        shutil.rmtree(self.out)
        run = self.record(sys.executable, "-c", script.format("f.loss(5, 6, 'size')"))
        self.assertIn(", records lost", run.err)
        self.assertIsNone(self.meta()["records_lost"])

    def test_largest_size_of_a_file(self):
        run = self.record("sh", "-c", "for i in 1 2 3 4 5; do sleep 0.1; done", options=("--max-size", "1K"))
        self.assertEqual(run.returncode, 0)
        self.assertGreater(self.meta()["samples_lost"], 0)
        self.assertLess((self.out / "host.fwr").stat().st_size, 2048)

    def test_what_is_left_out_on_demand(self):
        script = "echo $PYTHONPATH; echo $FULLWARP_RECORD_OPTIONS"
        run = self.record("sh", "-c", script, options=("--no-host", "--no-counters", "--no-python"),
                          env={**self.env, "PYTHONPATH": "mine"})
        self.assertEqual(run.out, "mine\ngraphs=launch\n")
        self.assertEqual([p.name for p in self.out.iterdir()], ["meta.json"])

    def test_meta_has_the_options(self):
        self.record("true", options=("--delay", "1m", "--duration", "90s", "--every", "5s", "--for", "1s", "--kernels", "gemm",
                                     "--max-size", "2M", "--graphs", "node", "--syncs", "--range", "cuda-profiler",
                                     "--interval", "20ms", "--counters", "nvml", "--python-calls", "--no-host"))
        self.assertEqual(self.meta()["options"], {
            "delay_s": 60, "duration_s": 90, "every_s": 5, "for_s": 1, "kernels": "gemm", "max_bytes": 2 << 20,
            "graphs": "node", "syncs": True, "range": "cuda-profiler", "python": True, "python_calls": True,
            "counters": True, "counter_source": "nvml", "interval_s": 0.02, "host": False})

    def test_users_pythonpath_stays(self):
        run = self.record("sh", "-c", "echo $PYTHONPATH", env={**self.env, "PYTHONPATH": "mine:yours"})
        shim, *rest = run.out.rstrip("\n").split(":")
        self.assertEqual(rest, ["mine", "yours"])
        self.assertTrue(os.path.exists(os.path.join(shim, "sitecustomize.py")))
        shutil.rmtree(self.out)
        again = self.record("sh", "-c", "echo $PYTHONPATH", env={**self.env, "PYTHONPATH": f"{shim}:mine"})
        self.assertEqual(again.out, f"{shim}:mine\n")

    def test_folder_that_cannot_be_made(self):
        closed = self.folder / "closed"
        closed.mkdir()
        self.out = closed / "out"
        if os.geteuid():
            closed.chmod(stat.S_IRUSR | stat.S_IXUSR)
        else:
            self.out = pathlib.Path("/proc/nowhere/out")
        run = self.record("sh", "-c", "echo ran; echo $FULLWARP_RECORD_DIR; exit 4")
        self.assertEqual((run.returncode, run.out), (4, "ran\n\n"))
        self.assertIn("fullwarp record: not recorded: ", run.err)

    def test_full_disk(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        run = self.record("sh", "-c", "echo ran; exit 4", preexec_fn=limit)
        self.assertEqual((run.returncode, run.out), (4, "ran\n"))
        self.assertIn("fullwarp record: not recorded: ", run.err)
        self.assertFalse(self.out.exists())

    def test_limit_on_files_stays_the_programs(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY))
        run = self.record("sh", "-c", "head -c 10000 /dev/zero >big", preexec_fn=limit)
        self.assertEqual(run.returncode, 128 + signal.SIGXFSZ)

    def test_eight_ranks_into_one_folder(self):
        ranks = [self.start("sh", "-c", "echo $RANK $FULLWARP_RECORD_DIR; sleep 0.3; exit $RANK",
                            env={**self.env, "RANK": str(n)}) for n in range(8)]
        for n, process in enumerate(ranks):
            out, err = process.communicate(timeout=PATIENCE_S)
            self.assertEqual((out, process.returncode), (f"{n} {self.out}\n", n), err)
        metas = [json.loads(p.read_text()) for p in self.out.glob("meta*.json")]
        self.assertEqual(sorted(int(m["rank"]) for m in metas), list(range(8)))
        self.assertTrue(all(int(m["rank"]) == m["exit_status"] for m in metas))
        self.assertTrue((self.out / "meta.json").exists())
        self.assertFalse((self.out / "control").exists())
        self.assertEqual(self.record("true").returncode, 2)

    def test_eight_ranks_into_a_folder_each(self):
        base, self.out = self.out, self.out / "%r"
        ranks = [self.start("true", env={**self.env, "SLURM_PROCID": str(n)}) for n in range(8)]
        for process in ranks:
            _, err = process.communicate(timeout=PATIENCE_S)
            self.assertEqual(process.returncode, 0, err)
        self.assertEqual(sorted(p.name for p in base.iterdir()), [str(n) for n in range(8)])

    def wanted(self):
        return (self.out / "control").read_bytes()[8]  # 0 pause, 1 record, 2 stop

    def test_schedule(self):
        process = self.start("sleep", "1.5", options=("--delay", "300ms", "--duration", "600ms"))
        seen, end = [], time.monotonic() + 1.4
        self.wait_for(lambda: (self.out / "meta.json").exists(), "a recording")
        while time.monotonic() < end:
            seen += [self.wanted()] if not seen or seen[-1] != self.wanted() else []
            time.sleep(0.005)
        process.communicate(timeout=PATIENCE_S)
        self.assertEqual(seen, [0, 1, 2])

    def test_signal_starts_and_stops(self):
        process = self.start("sleep", "1000", options=("--signal", "USR1"))
        self.wait_for(lambda: (self.out / "meta.json").exists(), "a recording")
        for wanted in (0, 1, 0, 1):
            self.wait_for(lambda want=wanted: self.wanted() == want, f"wanted {wanted}")
            time.sleep(0.1)
            process.send_signal(signal.SIGUSR1)
        process.terminate()
        process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 143)


if __name__ == "__main__":
    unittest.main()
