#!/usr/bin/env python3
"""Writes handmade.json: four steps of 10 ms in which every piece of idle time has a cause known by
construction (README.md works the ledger out by hand). Usage: handmade.py > handmade.json"""
import json

PID, STREAM, STEP = 100, 7, 10_000  # times below are microseconds from the start of a step
GPU = {"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0,
       "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32,
       "sharedMemPerBlock": 49152, "numSms": 132, "regsPerMultiprocessor": 65536,
       "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}


def event(cat, name, start, duration, **args):
    on_gpu = cat.startswith(("kernel", "gpu_"))
    return {"ph": "X", "cat": cat, "name": name, "pid": 0 if on_gpu else PID, "tid": STREAM if on_gpu else PID,
            "ts": start, "dur": duration, "args": args}


def step(k):
    t, corr = k * STEP, 10 * k + 1
    gpu = {"device": 0, "context": 1, "stream": STREAM}
    return [
        event("user_annotation", f"ProfilerStep#{k}", t, STEP),
        # The loader makes the host wait for 6 ms.
        event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", t, 6000),
        # An 'async' copy from pageable memory: the call blocks until the copy is nearly done.
        event("cpu_op", "aten::to", t + 6000, 1100),
        event("cuda_runtime", "cudaMemcpyAsync", t + 6050, 1000, correlation=corr),
        event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", t + 6100, 900, correlation=corr, bytes=9_000_000, **gpu),
        # One kernel of 2 ms, launched by an operator.
        event("cpu_op", "aten::linear", t + 7100, 100),
        event("cuda_runtime", "cudaLaunchKernel", t + 7150, 10, correlation=corr + 1),
        event("kernel", "void demo::linear<float, 4>(float const*, float*, int)", t + 7165, 2000, correlation=corr + 1,
              **{"registers per thread": 64, "shared memory": 0, "grid": [132, 1, 1], "block": [256, 1, 1]}, **gpu),
        # The host waits for it, then does something that nothing records for 0.8 ms.
        event("cuda_runtime", "cudaDeviceSynchronize", t + 7200, 2000, correlation=corr + 2),
    ]


events = [e for k in range(4) for e in step(k)]
print('{"schemaVersion": 1, "deviceProperties": [%s],' % json.dumps(GPU))
print('"baseTimeNanoseconds": 1800000000000000000, "displayTimeUnit": "ms", "traceEvents": [')
print(",\n".join(json.dumps(e) for e in events))
print("]}")
