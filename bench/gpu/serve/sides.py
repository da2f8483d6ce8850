"""Who takes part: PyTorch's loops, each in a process that stays, and `fullwarp-serve bench`, a process for each run."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import watch

HERE = pathlib.Path(__file__).resolve().parent
# PyTorch's variants: the row's name.
TORCH = {"A": "A, before", "A8": "A8, before, 8 workers", "B": "B, after, fp32", "B+": "B+, after, fp16",
         "B+max": "B+, after, fp16, max-autotune", "B++": "B++, nvJPEG and graphs, fp16"}
# Ours: the row's name, what `fullwarp-serve bench` is told, and how much of the seconds a run takes.
OWN = {"C": ("C, CPU decode", [], 1.0), "Cn": ("C, nvJPEG", ["--decoder", "nvjpeg"], 1.0),
       "Cb": ("C, preset before", ["--preset", "before"], 0.5)}
# The engine alone, its input on the GPU: gpu_nn's command.
RESIDENT = {"C0": ("C, input on the GPU", "twice"), "C1": ("C, input on the GPU, one instance", "time")}
RESIDENT_BATCH = 64
WARM_UP_S = 1


def end(child):
    """Ends the process group of a child of ours."""
    if child.poll() is None:
        try:
            os.killpg(child.pid, signal.SIGTERM)
            child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        except ProcessLookupError:
            pass


def finish(command, seconds, env, text=None):
    """Runs to its end, or ends it and all that it started: like subprocess.run."""
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             errors="replace", env=env, start_new_session=True)
    try:
        out, err = child.communicate(text, timeout=seconds)
    finally:
        end(child)
    return subprocess.CompletedProcess(command, child.returncode, out, err)


def read_until(stream, words):
    """The lines up to the first that has these words, or to the end."""
    said = ""
    for line in stream:
        said += line
        if words in line:
            break
    return said


class Child:
    """A process that answers lines with lines of JSON."""

    def __init__(self, visit, name, log, command, env):
        self.visit, self.name = visit, name
        self.log = open(visit.logs / log, "w", encoding="utf-8")
        self.began = time.time()
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True, env=env,
                                      start_new_session=True)

    def answer(self):
        line = self.child.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name}: ended with {self.child.wait()}, see {self.log.name}")
        return json.loads(line)

    def ask(self, text):
        self.child.stdin.write(text + "\n")
        self.child.stdin.flush()
        return self.answer()

    def watched(self, seconds, text):
        """The answer, and what was seen meanwhile; seconds: about how long it takes."""
        with watch.Watch(self.child.pid, max(seconds * 0.7, 0.5), self.visit.fullwarp, self.visit.env) as seen:
            said = self.ask(text) if text else self.answer()
        return said, seen.found

    def close(self):
        if not self.child:
            return
        with contextlib.suppress(OSError):  # what was asked of one that has ended
            self.child.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(timeout=3)
        end(self.child)
        self.log.close()


class Torch(Child):
    is_peer = True

    def __init__(self, visit, variant):
        super().__init__(visit, TORCH[variant], f"torch-{variant}.log",
                         [sys.executable, "-B", str(HERE / "torch_loops.py"), variant, str(visit.images), str(visit.model),
                          *visit.torch_options], visit.torch_env)

    def wait_ready(self):
        """After the first batch's labels."""
        said = self.answer()
        said["ready_s"] = said["at"] - self.began
        self.visit.results.data["versions"]["torch"] = said["torch"]
        return said

    def run(self, seconds):
        self.ask(f"run {seconds}")
        said, found = self.watched(seconds, None)
        return {"rate": said["images"] / said["seconds"], **found}

    def labels(self):
        return {int(k): v for k, v in self.ask("labels")["labels"].items()}


class Resident(Child):
    """The engine alone: what is the most that a pipeline can be given."""
    is_peer = False

    def __init__(self, visit, variant):
        self.visit, self.child, (self.name, self.order) = visit, None, RESIDENT[variant]

    def wait_ready(self):
        """Started only now: while it chooses its kernels nothing else may use the GPU."""
        visit = self.visit
        super().__init__(visit, self.name, f"resident-{self.order}.log",
                         [str(visit.bundle / "gpu_nn"), str(visit.model), "--precision", "fp16", "--batches", str(RESIDENT_BATCH),
                          "--autotune", "4"], visit.env)
        self.answer()
        self.ms = self.ask(f"{self.order} {RESIDENT_BATCH} 50")["wall_ms"]
        return {}

    def run(self, seconds):
        seconds *= 0.3
        said, found = self.watched(seconds, f"{self.order} {RESIDENT_BATCH} {max(int(seconds * 1e3 / self.ms), 1)}")
        return {"rate": RESIDENT_BATCH * 1e3 / said["wall_ms"], **found}


class Own:
    is_peer = False

    def __init__(self, visit, variant):
        self.visit, self.variant = visit, variant
        self.name, self.options, self.share = OWN[variant]

    def bench(self, seconds, *options, repeats=1, loads=1):
        """One run of `fullwarp-serve bench`: its result, and what was seen of the first load from outside."""
        visit = self.visit
        command = [visit.serve, "bench", str(visit.model), str(visit.images), "--format", "json", "--warmup", str(WARM_UP_S),
                   "--seconds", f"{seconds:g}", "--repeats", str(repeats), *visit.own_options, *self.options, *options]
        limit = ((seconds + WARM_UP_S) * repeats * 2 + 60) * loads
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env=visit.env, start_new_session=True)
        end_it = threading.Timer(limit, end, [child])
        end_it.start()
        try:
            said = read_until(child.stderr, " loop, ")
            time.sleep(WARM_UP_S)
            with watch.Watch(child.pid, max(seconds * 0.7, 0.5), visit.fullwarp if seconds >= 1 else None, visit.env) as seen:
                out, err = child.communicate()
        finally:
            end_it.cancel()
            end(child)
        if child.returncode:
            raise RuntimeError(f"{self.name}: {' '.join(command[4:])}: status {child.returncode}: {(said + err).strip()[-300:]}")
        return json.loads(out), seen.found

    def wait_ready(self):
        """A short run that finds the choices for this GPU: nothing of ours is cached before the first one."""
        result, _ = self.bench(0.5)
        return {"ready_s": result["ready_ms"] / 1e3, "first_s": result["first_request_ms"] / 1e3}

    def run(self, seconds):
        result, seen = self.bench(seconds * self.share)
        return {"rate": result["runs"][0]["images_s"], "ready_cached_s": result["ready_ms"] / 1e3, **seen}

    def close(self):
        pass
