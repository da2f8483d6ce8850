#!/usr/bin/env python3
"""torch_steady.py SECONDS FILE DEVICE: adds one to a tensor again and again; appends "nanoseconds launches" to FILE, and
at the end says what it launched and what the tensor holds."""
import os
import sys
import time

import torch

BATCH = 200


def main():
    seconds, path, device = float(sys.argv[1]), sys.argv[2], sys.argv[3]
    counter, done = torch.zeros((), dtype=torch.int64, device=device), 0
    with open(path, "a", encoding="ascii", buffering=1) as progress:
        progress.write(f"pid {os.getpid()}\n")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(BATCH):
                counter += 1
            if device == "cuda":
                torch.cuda.synchronize()
            done += BATCH
            progress.write(f"{time.monotonic_ns()} {done}\n")
    counted = int(counter.item())
    print(f"launched {done} counted {counted}", flush=True)
    return 0 if counted == done else 3


if __name__ == "__main__":
    sys.exit(main())
