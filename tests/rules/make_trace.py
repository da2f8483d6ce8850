#!/usr/bin/env python3
"""Builds small traces in the form that the PyTorch profiler writes, from a scenario told step by step.

A Trace holds threads and streams. A Thread has a clock: each thing it does moves the clock on. GPU operations run in
order on their stream: an operation starts when it has arrived (launch call over, plus a delay) and the stream is free.
All durations are microseconds. Usage: make_trace.py RULE SCENARIO OUT.json writes a scenario of tests/rules/RULE.
"""
import contextlib
import importlib.util
import json
import pathlib
import sys

CALL_US, DELAY_US = 5, 2  # a launch call, and the way from its end to the GPU
GPUS = {"A100": ("NVIDIA A100-SXM4-80GB", 8, 0, 108, 65536, 166912), "H100": ("NVIDIA H100 80GB HBM3", 9, 0, 132, 65536, 233472)}


def ns(us):
    return round(us * 1000)


class Trace:
    """One file: one process on one GPU."""

    def __init__(self, gpu="A100", pid=100, device=0, rank=None, world=None):
        self.gpu, self.pid, self.device, self.rank, self.world = gpu, pid, device, rank, world
        self.events, self.free, self.correlation, self.threads = [], {}, 0, {}

    def thread(self, tid=None, at=0):
        tid = self.pid if tid is None else tid
        if tid not in self.threads:
            self.threads[tid] = Thread(self, tid, at)
        return self.threads[tid]

    def event(self, cat, name, tid, start, end, pid=None, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": self.pid if pid is None else pid, "tid": tid,
                            "ts": start / 1000, "dur": (end - start) / 1000, "args": args})

    def overhead(self, start_us, us):
        """The profiler's own work."""
        self.event("overhead", "Activity Buffer Request", 0, ns(start_us), ns(start_us + us), pid=-1)

    def operation(self, cat, name, arrives, us, stream, **args):
        """Runs on the stream once it has arrived and what is before it has ended; its start and end."""
        start = max(arrives, self.free.get(stream, 0))
        end = self.free[stream] = start + ns(us)
        self.event(cat, name, stream, start, end, pid=self.device, device=self.device, context=1, stream=stream,
                   correlation=self.correlation, **args)
        return start, end

    def drained(self, stream=None):
        return self.free.get(stream, 0) if stream is not None else max(self.free.values(), default=0)

    def as_json(self):
        name, major, minor, sms, registers, shared = GPUS[self.gpu]
        out = {"schemaVersion": 1, "deviceProperties": [
            {"id": self.device, "name": name, "totalGlobalMem": 80 << 30, "computeMajor": major, "computeMinor": minor,
             "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32,
             "sharedMemPerBlock": 49152, "numSms": sms, "regsPerMultiprocessor": registers,
             "sharedMemPerBlockOptin": shared - 1024, "sharedMemPerMultiprocessor": shared}],
            "displayTimeUnit": "ms", "baseTimeNanoseconds": 1700000000000000000}
        if self.rank is not None:
            out["distributedInfo"] = {"backend": "nccl", "rank": self.rank, "world_size": self.world}
        out["traceEvents"] = sorted(self.events, key=lambda e: e["ts"])
        return out

    def write(self, path):
        # Times with three decimals, as the profiler writes them: a float repr may have more digits.
        class Fixed(float):
            def __repr__(self):
                return f"{float(self):.3f}"
        for e in self.events:
            e["ts"], e["dur"] = Fixed(e["ts"]), Fixed(e["dur"])
        pathlib.Path(path).write_text(json.dumps(self.as_json(), indent=None))


class Thread:
    def __init__(self, trace, tid, at):
        self.trace, self.tid, self.now = trace, tid, ns(at)

    def work(self, us):
        """The host does something that the trace does not show, unless a range is open around it."""
        self.now += ns(us)

    def until(self, us):
        self.now = max(self.now, ns(us))

    @contextlib.contextmanager
    def range(self, cat, name):
        start = self.now
        self.trace.event(cat, name, self.tid, start, start)
        event = self.trace.events[-1]  # outer ranges stand before inner ones, as the profiler writes them
        yield
        event["dur"] = (self.now - start) / 1000

    def operator(self, name):
        return self.range("cpu_op", name)

    def python(self, name):
        return self.range("python_function", name)

    def annotation(self, name):
        return self.range("user_annotation", name)

    def step(self, number):
        return self.annotation(f"ProfilerStep#{number}")

    def loader(self, us, workers=True):
        kind = "MultiProcessing" if workers else "SingleProcess"
        with self.annotation(f"enumerate(DataLoader)#_{kind}DataLoaderIter.__next__"):
            self.work(us)

    def call(self, name, us, **args):
        """A CUDA call that launches nothing."""
        self.trace.correlation += 1
        start, self.now = self.now, self.now + ns(us)
        self.trace.event("cuda_runtime", name, self.tid, start, self.now, correlation=self.trace.correlation, **args)

    def launch(self, name="gemm", us=10, stream=7, call_us=CALL_US, delay_us=DELAY_US, grid=(4096, 1, 1), block=(256, 1, 1),
               registers=32, shared=0, call="cudaLaunchKernel", **args):
        """One kernel; its start and end in microseconds."""
        self.call(call, call_us)
        start, end = self.trace.operation("kernel", name, self.now + ns(delay_us), us, stream, grid=list(grid), block=list(block),
                                          **{"registers per thread": registers, "shared memory": shared}, **args)
        return start / 1000, end / 1000

    def graph(self, kernels, us=10, gap_us=1, stream=7, call_us=20, delay_us=DELAY_US, name="gemm", graph_id=1, **args):
        """One graph launch of several kernels."""
        self.call("cudaGraphLaunch", call_us, **{"graph id": graph_id})
        arrives = self.now + ns(delay_us)
        for _ in range(kernels):
            _, end = self.trace.operation("kernel", name, arrives, us, stream, grid=[4096, 1, 1], block=[256, 1, 1],
                                          **{"registers per thread": 32, "shared memory": 0, "graph id": graph_id}, **args)
            arrives = end + ns(gap_us)

    def copy(self, direction, nbytes, us, host="Pageable", stream=7, call="cudaMemcpyAsync", call_us=CALL_US, delay_us=DELAY_US):
        """A copy between host and device. Of pageable memory, or synchronous, it holds the host until it has ended."""
        pair = {"HtoD": f"{host} -> Device", "DtoH": f"Device -> {host}", "DtoD": "Device -> Device"}[direction]
        blocks = direction != "DtoD" and (host == "Pageable" or "Async" not in call)
        start, self.trace.correlation = self.now, self.trace.correlation + 1
        arrives = start + ns(call_us + delay_us)
        begin, end = self.trace.operation("gpu_memcpy", f"Memcpy {direction} ({pair})", arrives, us, stream, bytes=nbytes,
                                          **{"memory bandwidth (GB/s)": nbytes / ns(us) if us else 0})
        self.now = max(start + ns(call_us), end if blocks else 0)
        self.trace.event("cuda_runtime", call, self.tid, start, self.now, correlation=self.trace.correlation)
        return begin / 1000, end / 1000

    def memset(self, nbytes, us, stream=7, call_us=CALL_US):
        self.call("cudaMemsetAsync", call_us)
        self.trace.operation("gpu_memset", "Memset (Device)", self.now + ns(DELAY_US), us, stream, bytes=nbytes)

    def sync(self, stream=None, call=None, return_us=2):
        """Waits until the stream, or the device, has drained."""
        call = call or ("cudaDeviceSynchronize" if stream is None else "cudaStreamSynchronize")
        self.call(call, max(0, self.trace.drained(stream) - self.now) / 1000 + return_us)

    def item(self, stream=7):
        """x.item(): reads four bytes back and waits for them, as PyTorch 2.x does."""
        with self.operator("aten::item"), self.operator("aten::_local_scalar_dense"):
            self.copy("DtoH", 4, 1, host="Pinned", stream=stream)
            self.sync(stream)


def load_scenarios(rule):
    """The module tests/rules/<rule>/scenario.py."""
    path = pathlib.Path(__file__).resolve().parent / rule / "scenario.py"
    sys.path.insert(0, str(path.parent.parent))
    spec = importlib.util.spec_from_file_location("scenario", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    made = getattr(load_scenarios(sys.argv[1]), sys.argv[2])()
    made.write(sys.argv[3])


if __name__ == "__main__":
    main()
