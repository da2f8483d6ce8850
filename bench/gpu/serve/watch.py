"""What a process and its children used of the host, and what the GPU's counters said, while something ran."""
import json
import os
import statistics
import subprocess
import threading
import time

EVERY_S = 1.0
# Of `fullwarp top`: its name, ours, unit.
COUNTERS = (("sm_busy_percent", "SM busy", "%"), ("tensor_percent", "tensor pipes", "%"), ("warp_slots_percent", "warp slots", "%"),
            ("dram_percent", "device memory", "%"))
TICK = os.sysconf("SC_CLK_TCK")


def visible_gpu():
    """NVML's number of the GPU that CUDA shows us first: NVML knows nothing of CUDA_VISIBLE_DEVICES."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0]
    return int(first) if first.isdigit() else 0


def tree(root):
    """The process and all below it."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                    parents[int(name)] = int(f.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def cpu_seconds(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK
    except OSError:
        return 0.0


def pss_bytes(pid):
    """A page that several share counts a part in each, so that the sum over a tree is what it holds."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
            return sum(int(line.split()[1]) * 1024 for line in f if line.startswith("Pss:"))
    except (OSError, ProcessLookupError):
        return 0


def top(fullwarp, seconds, env):
    """The counters' averages over so long; {} where they could not be read."""
    command = [fullwarp, "top", "--once", "--interval", f"{seconds:g}", "--format", "json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=seconds + 20, check=True)
        values = json.loads(done.stdout)["gpus"][visible_gpu()]["values"]
        return {ours: values[name]["value"] for name, ours, _ in COUNTERS if values[name]["value"] is not None}
    except (OSError, subprocess.SubprocessError, ValueError, LookupError) as error:
        print(f"no counters: {(getattr(error, 'stderr', None) or str(error)).strip()[-200:]}", flush=True)
        return {}


class Watch:
    """with Watch(pid, seconds, fullwarp, env) as watch: ...; then watch.found."""

    def __init__(self, pid, seconds, fullwarp=None, env=None):
        self.pid, self.seconds, self.fullwarp, self.env = pid, seconds, fullwarp, env
        self.found, self.memory, self.over = {}, [], threading.Event()

    def __enter__(self):
        self.smi = None
        try:
            self.smi = subprocess.Popen(["nvidia-smi", "-i", str(visible_gpu()), "--query-gpu=utilization.gpu",
                                         "--format=csv,noheader,nounits", "-lms", "200"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            pass
        self.began, self.before = time.monotonic(), {pid: cpu_seconds(pid) for pid in tree(self.pid)}
        self.threads = [threading.Thread(target=self.sample)]
        if self.fullwarp:
            self.threads.append(threading.Thread(target=lambda: self.found.update(top(self.fullwarp, self.seconds, self.env))))
        for thread in self.threads:
            thread.start()
        return self

    def sample(self):
        while not self.over.wait(EVERY_S):
            self.look()

    def look(self):
        pids = tree(self.pid)
        self.memory.append(sum(pss_bytes(pid) for pid in pids))
        cores = sum(cpu_seconds(pid) - self.before.get(pid, 0) for pid in pids) / (time.monotonic() - self.began)
        if self.memory[-1]:  # else it has ended
            self.found["cores"] = cores

    def __exit__(self, *_):
        if not self.memory:
            self.look()
        self.over.set()
        if self.smi:
            self.smi.terminate()
            shown = [int(line) for line in self.smi.communicate()[0].split() if line.isdigit()]
            if shown:
                self.found["GPU-Util"] = statistics.fmean(shown)
        for thread in self.threads:
            thread.join()
        if max(self.memory):
            self.found["memory"] = max(self.memory)
