"""The machine with the GPU: where our programs are, how they are started, and what was measured so far."""
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
# Nsight Compute carries the part of Nsight Systems that captures; it makes no report.
NSYS_PLACES = ("/opt/nvidia/nsight-systems/*/bin/nsys", "/opt/nvidia/nsight-systems/*/target-linux-x64/nsys",
               "/usr/local/cuda*/bin/nsys", "/opt/nvidia/nsight-compute/*/host/target-linux-x64/nsys",
               "/usr/local/cuda*/nsight-compute*/host/target-linux-x64/nsys")
NCU_PLACES = ("/opt/nvidia/nsight-compute/*/ncu", "/usr/local/cuda*/bin/ncu")


def row(name, unit, runs, peer=False):
    """A row of a result file (docs: bench/results)."""
    runs = [round(float(r), 9) if isinstance(r, float) else r for r in runs]
    return {"name": name, "unit": unit, "runs": runs, "median": statistics.median(runs), "min": min(runs),
            "max": max(runs), "peer": peer}


def find_tool(name, places):
    """On the PATH, else the newest that one of the patterns matches; None."""
    hits = [hit for place in places for hit in sorted(glob.glob(place), key=version_key)[-1:]]
    return shutil.which(name) or (hits[0] if hits else None)


def version_key(path):
    """Folders named by version in the order of their numbers: 2025.10 after 2025.9."""
    return [int(part) if part.isdigit() else 0 for part in re.split(r"\D+", path)]


def count_gpus():
    """Those that nvidia-smi lists; 1 where it does not say."""
    try:
        out = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return 1
    return max(sum(line.startswith("GPU ") for line in out.splitlines()), 1)


class Host:
    """gpu: the one that this part has to itself, with its share of the cores."""

    def __init__(self, bundle, out, gpu=0, gpus=1):
        self.bundle, self.out = pathlib.Path(bundle).resolve(), pathlib.Path(out).resolve()
        self.work = pathlib.Path(os.environ.get("FW_WORK", "/tmp/fullwarp-record"))
        self.work.mkdir(parents=True, exist_ok=True)
        self.out.mkdir(parents=True, exist_ok=True)
        self.fullwarp = str(self.bundle / "bin/fullwarp")
        self.known_work = str(self.bundle / "known_work")
        self.floor = str(self.bundle / "lib/libfloor_inject.so")
        self.libraries = [str(self.bundle / "lib")]
        self.python = os.environ.get("FW_PYTHON") or shutil.which("python3")
        self.device = os.environ.get("FW_DEVICE", "cuda")
        self.gpu, self.all_gpus, self.all_cores = gpu, list(range(gpus)), sorted(os.sched_getaffinity(0))
        share = max(len(self.all_cores) // gpus, 1)
        self.cores = self.all_cores[gpu * share:(gpu + 1) * share] or self.all_cores
        # Compiled kernels are found again by later processes of the same visit.
        self.env = {**os.environ, "CUDA_VISIBLE_DEVICES": str(gpu), "TORCHINDUCTOR_CACHE_DIR": str(self.work / "inductor"),
                    "TORCHINDUCTOR_COMPILE_THREADS": "4", "TOKENIZERS_PARALLELISM": "false", "PYTHONUNBUFFERED": "1",
                    "PYTHONDONTWRITEBYTECODE": "1", "NCCL_NVLS_ENABLE": "0", "KINETO_LOG_LEVEL": "5"}
        for name in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "PYTHONPATH"):
            self.env.pop(name, None)
        self.began = time.monotonic()
        self.groups = os.environ.get("FW_GROUPS")

    def register(self, pid):
        """Notes a process group that we started, so that it can be ended when the part runs out of time."""
        if self.groups:
            with open(self.groups, "a", encoding="ascii") as f:
                f.write(f"{pid}\n")

    def keep_files(self, name, text):
        """A text that comes back with the reports."""
        path = self.work / "reports" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def keep_folder(self, folder, name):
        """A small recording that comes back."""
        shutil.copytree(folder, self.work / "reports" / name, dirs_exist_ok=True)

    def say(self, text):
        print(f"[{time.monotonic() - self.began:6.1f}] {text}", flush=True)

    def folder(self, name):
        """A fresh, empty folder below the work folder."""
        path = self.work / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def target_for_recording(self, name):
        """A folder's name that does not exist yet; the recorder makes it."""
        path = self.work / name
        shutil.rmtree(path, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        return str(path)

    def pinned(self, command, cores):
        return ["taskset", "-c", ",".join(map(str, cores)), *command] if cores else list(command)

    def record(self, folder, command, *options):
        return [self.fullwarp, "record", "-o", str(folder), *options, "--", *command]

    def run(self, command, seconds, env=None, log=None):
        """Runs to the end, or kills its whole group after so many seconds: status (None: killed), stdout, stderr."""
        try:
            child = subprocess.Popen(command, env=env or self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
        except OSError as error:
            return 127, "", str(error)
        self.register(child.pid)
        try:
            out, err = child.communicate(timeout=seconds)
            status = child.returncode
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, err = child.communicate()
            status = None
        if log:
            with open(log, "a", encoding="utf-8") as f:
                f.write(f"$ {' '.join(map(str, command))}\n{out}{err}status {status}\n")
        if status != 0:
            self.say(f"status {status}: {' '.join(map(str, command))[:200]}: {err.strip()[-300:]}")
        return status, out, err

    def report(self, folder, *options, seconds=60):
        return self.run([self.fullwarp, "report", str(folder), *options], seconds)

    def gpu_facts(self):
        status, out, _ = self.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], 20)
        fields = [f.strip() for f in out.splitlines()[0].split(",")] if status == 0 and out else [None, None]
        return {"gpu": fields[0], "driver": fields[1]}


class Results:
    """What the parts found, kept after each of them, so that a visit cut short leaves what it had."""

    def __init__(self, path, facts):
        self.path, self.data = pathlib.Path(path), {**facts, "parts": {}}

    def keep(self, part, result):
        self.data["parts"][part] = result
        temporary = self.path.with_suffix(".part")
        temporary.write_text(json.dumps(self.data, indent=1) + "\n", encoding="utf-8")
        temporary.replace(self.path)
