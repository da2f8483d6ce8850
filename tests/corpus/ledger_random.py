#!/usr/bin/env python3
"""ledger_random.py FULLWARP CORPUS [COUNT [SEED]]: random small Kineto traces, made to hit every clause of the ledger's
contract; the ledger of `report --all --format json` must equal the corpus' oracle to the nanosecond. Exit 77: no corpus."""
import importlib.util, json, pathlib, random, subprocess, sys, tempfile

KERNELS = ["gemm", "relu", "void at::native::add<float>(int)", "ncclDevKernel_AllReduce", "rcclKernel", "softmax"]
COPIES = ["Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pinned)",
          "Memcpy DtoH (Device -> Pageable)", "Memcpy DtoD (Device -> Device)", "Memcpy PtoP (Device -> Device)",
          "Memcpy HtoA (Pinned -> Array)", "Memcpy AtoH (Array -> Pinned)", "CopyHostToDevice"]
OTHER_CALLS = ["cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMalloc", "cudaFree",
               "cudaHostAlloc", "cuMemAlloc_v2", "hipMalloc", "cuModuleLoadData", "cudaGraphInstantiate",
               "cuLibraryLoadData", "cudaEventRecord", "cudaStreamIsCapturing", "cudaFuncGetAttributes", "cudaMemcpy",
               "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "hipDeviceSynchronize", "cuModuleGetFunction",
               "cudaMemGetInfo", "cuMemCreate", "cudaHostRegister", "cuLibraryGetKernel"]
LAUNCHES = ["cudaLaunchKernel", "cuLaunchKernelEx", "hipLaunchKernel", "cudaLaunchKernelExC"]
RANGES = [("cpu_op", "aten::add"), ("cpu_op", "aten::conv2d"), ("cpu_op", "ProfilerStep#3"), ("Operator", "aten::mm"),
          ("cpu_op", "Optimizer.step#SGD.step"), ("python_function", "train.py(12): step"), ("overhead", "Buffer flush"),
          ("user_annotation", "ProfilerStep#1"), ("user_annotation", "Optimizer.zero_grad#SGD.zero_grad"),
          ("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
          ("cpu_op", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"),
          ("gpu_user_annotation", "ProfilerStep#1"), (None, "no category"), ("ac2g", "odd")]


class Maker:
    def __init__(self, r):
        self.r, self.events, self.corr = r, [], r.choice([1, 1, 5000])
        self.pids = r.sample([100, "100", 7, "Spans", 0], r.choice([1, 1, 2]))
        self.tids = {p: r.sample([1, 2, -3, "main", 140000], r.choice([1, 2, 3])) for p in self.pids}
        self.devices = r.choice([[0], [0], [0, 1], [3]])
        self.whole_us = r.random() < 0.2

    def us(self, ns):
        if self.whole_us:
            return int(ns // 1000)
        return ns / 1000 if self.r.random() < 0.9 else json.loads(f"{ns // 1000}.{ns % 1000:03d}")

    def add(self, cat, name, pid, tid, start, dur, args=None):
        e = {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": self.us(start), "dur": self.us(dur)}
        if cat is not None:
            e["cat"] = cat
        if args is not None:
            e["args"] = args
        self.events.append(e)

    def gpu_op(self, corr, start, dur, kind=None):
        r, dev = self.r, self.r.choice(self.devices)
        kind = kind or r.choice(["kernel", "kernel", "kernel", "gpu_memcpy", "gpu_memset"])
        cat = kind if r.random() < 0.9 else {"kernel": "Kernel", "gpu_memcpy": "Memcpy", "gpu_memset": "Memset"}[kind]
        name = r.choice(KERNELS if kind == "kernel" else COPIES if kind == "gpu_memcpy" else ["Memset (Device)"])
        args = {"device": dev, "stream": r.choice([7, 7, 20])}
        if r.random() < 0.1:
            del args["device"]
        if corr is not None:
            args["correlation"] = corr
        self.add(cat, name, dev, args["stream"], start, dur, args)

    def call(self, now):
        r, pid = self.r, self.r.choice(self.pids)
        tid = r.choice(self.tids[pid])
        dur = r.choice([0, 800, 5000, 20000, 999_999, 1_000_000, 1_000_001, 3_000_000])
        self.corr += 1
        corr = r.choice([self.corr] * 12 + [0, None, max(1, self.corr - 3)])
        kind = r.choice(["launch"] * 5 + ["copy", "graph", "memset", "other", "other", "other", "orphan"])
        args = {} if corr is None else {"correlation": corr}
        name = r.choice(LAUNCHES)
        if kind == "copy":
            name = r.choice(["cudaMemcpyAsync", "cudaMemcpy", "cuMemcpyHtoDAsync_v2", "hipMemcpyAsync", "hipMemcpyWithStream"])
        elif kind == "graph":
            name = r.choice(["cudaGraphLaunch", "cuGraphLaunch"])
            if r.random() < 0.6:
                args["graph id"] = r.choice([1, 2, "3"])
        elif kind == "memset":
            name = "cudaMemsetAsync"
        elif kind == "other":
            name = r.choice(OTHER_CALLS)
        cat = r.choice(["cuda_runtime"] * 4 + ["cuda_driver", "Runtime"])
        if kind != "orphan":
            self.add(cat, name, pid, tid, now, dur, args if r.random() < 0.97 else None)
            if r.random() < 0.15:  # recorded twice: the driver call inside the runtime call
                self.add("cuda_driver", "cu" + name[4:], pid, tid, now + dur // 4, dur // 2, args)
            if r.random() < 0.05:  # another process uses the same id
                self.add(cat, name, "other", 1, now + 10, dur, args)
        if kind == "other" and r.random() < 0.8:
            return
        count = r.choice([1, 1, 2, 5]) if kind == "graph" else 1
        at = now + r.choice([-700, 0, dur // 2, dur + 3000, dur + 99_000, dur + 100_001, dur + 500_000])
        what = {"copy": "gpu_memcpy", "memset": "gpu_memset", "launch": "kernel"}.get(kind)
        for _ in range(count):
            length = r.choice([0, 1000, 1001, 40_000, 300_000])
            self.gpu_op(corr, at, length, what)
            at += length + r.choice([0, 0, 700, 150_000, -500])

    def ranges(self, now):
        r, pid = self.r, self.r.choice(self.pids)
        cat, name = r.choice(RANGES)
        tid = r.choice(self.tids[pid])
        self.add(cat, name, pid, tid, now - r.choice([0, 5000, 400_000]), r.choice([0, 3000, 200_000, 2_000_000]))

    def trace(self, count):
        now = self.r.choice([10_000_000, 1_700_000_000_000_000_000, 5000])
        for _ in range(count):
            now += self.r.choice([0, 100, 2500, 30_000, 120_000, 1_500_000])
            self.call(now)
            if self.r.random() < 0.7:
                self.ranges(now)
        if self.r.random() < 0.1:
            self.gpu_op(self.corr, now, -5000)
        if self.r.random() < 0.5:
            self.r.shuffle(self.events)
        return {"schemaVersion": 1, "deviceProperties": [], "traceEvents": self.events}


def oracle_of(corpus):
    spec = importlib.util.spec_from_file_location("ledger_oracle", corpus / "ledger_oracle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ours(binary, path):
    done = subprocess.run([binary, "report", "--all", "--format", "json", path], capture_output=True, text=True)
    if done.returncode:
        return {"error": f"exit {done.returncode}: {done.stderr.strip()[-300:]}"}
    return {str(d["id"]): {c["class"]: c["ns"] for c in d["ledger"] if c["ns"]} for d in json.loads(done.stdout)["devices"]}


def main():
    binary, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    count, seed = (int(a) for a in (sys.argv[3:] + ["300", "1"][len(sys.argv) - 3:])[:2])
    if not (corpus / "ledger_oracle.py").exists():
        print(f"skipped: {corpus}/ledger_oracle.py is absent")
        sys.exit(77)
    oracle, bad = oracle_of(corpus), 0
    with tempfile.TemporaryDirectory() as d:
        for i in range(count):
            r = random.Random(seed * 1_000_003 + i)
            path = pathlib.Path(d) / f"{i}.json"
            path.write_text(json.dumps(Maker(r).trace(r.choice([1, 3, 10, 40]))))
            want = {dev: dict(acc) for dev, window, acc in oracle.ledger(str(path))}
            got = ours(binary, path)
            if got != want and not (not want and "error" in got):
                bad += 1
                print(f"seed {seed} trace {i}:\n  oracle   {want}\n  fullwarp {got}")
    print(f"{count} random traces, {bad} different")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
