"""A Python program on the GPU, as unlike C as they come: ctypes calls, forked workers, an end of its own choosing.

train.py FEED BATCHES [END]; FEED: pool (multiprocessing), loader (PyTorch's DataLoader with two workers); END: return,
_exit, raise. Prints a sum of all bytes that went through the GPU and back.
"""
import ctypes
import os
import sys

BYTES = 1024
KERNELS = [ctypes.c_char_p(b"_Z7forwardPf"), ctypes.c_char_p(b"_Z8backwardPf"), ctypes.c_char_p(b"_Z4stepPf")]


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


def sample(index):
    return bytes((index + i) % 251 for i in range(BYTES))


class Samples:
    """A data set as PyTorch likes it."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return sample(index)


def batches(feed, count):
    if feed == "pool":
        import multiprocessing
        with multiprocessing.get_context("fork").Pool(2) as pool:
            yield from pool.imap(sample, range(count))
    else:
        from torch.utils.data import DataLoader
        for batch in DataLoader(Samples(count), batch_size=1, num_workers=2, collate_fn=lambda rows: rows[0]):
            yield batch


class Gpu:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcudart.so.13")
        self.cuda.cudaLaunchKernel.argtypes = [ctypes.c_void_p, Dim3, Dim3, ctypes.c_void_p, ctypes.c_size_t,
                                               ctypes.c_void_p]
        self.cuda.cudaMemcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.memory = ctypes.c_void_p()
        self.need(self.cuda.cudaMalloc(ctypes.byref(self.memory), ctypes.c_size_t(BYTES)))

    @staticmethod
    def need(result):
        if result:
            raise RuntimeError(f"CUDA error {result}")

    def step(self, batch):
        back = ctypes.create_string_buffer(BYTES)
        self.need(self.cuda.cudaMemcpy(self.memory, batch, len(batch), 1))
        for kernel in KERNELS:
            self.need(self.cuda.cudaLaunchKernel(kernel, Dim3(8, 1, 1), Dim3(256, 1, 1), None, 0, None))
        self.need(self.cuda.cudaMemcpy(back, self.memory, BYTES, 2))
        return sum(back.raw)


def main():
    feed, count = sys.argv[1], int(sys.argv[2])
    end = sys.argv[3] if len(sys.argv) > 3 else "return"
    # First the GPU, then the workers: they are forked from a process in which CUDA runs.
    gpu = Gpu()
    print("sum", sum(gpu.step(batch) for batch in batches(feed, count)), flush=True)
    if end == "_exit":
        import time
        time.sleep(0.4)
        os._exit(7)
    if end == "raise":
        raise SystemExit("as asked")


if __name__ == "__main__":
    main()
