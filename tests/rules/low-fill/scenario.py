"""low-fill: grids leave SMs without work. The GPU is an A100: 108 SMs."""
from make_trace import Trace


def kernels(grid, us=1000, count=20, **shape):
    trace = Trace()
    host = trace.thread()
    for _ in range(count):
        host.launch("gemm", us, grid=grid, **shape)
    return trace


def fires():
    """A public case (C046): a matrix product with few output tiles and a very long inner dimension has 8 blocks; splitting
    along K made it 7.9 times faster. Of 20 x 1,000 us, 100 of 108 SMs have no block: 18,519 us."""
    return kernels((8, 1, 1))


def quiet():
    """As many blocks as SMs, one a SM by its registers: built so, and no SM is empty."""
    return kernels((108, 1, 1), block=(256, 1, 1), registers=255)


def last_wave():
    """A public case (C044): what matters is how the blocks land on the SMs; one block more than a wave costs a wave. 256
    threads with 255 registers: one block a SM, 108 a wave; 109 blocks are two waves, in the second 107 of 108 SMs are
    empty: 20 x 1,000 us x (107/108)/2 = 9,907 us."""
    return kernels((109, 1, 1), block=(256, 1, 1), registers=255)


def many_waves():
    """Ten waves and one block: the tail is (107/108)/11 of the time, 1,801 us."""
    return kernels((1081, 1, 1), block=(256, 1, 1), registers=255)


EXPECT = {
    "fires": {"cost_us": 18519, "first": True, "says": ["grid 8x1x1", "along K", "model"]},
    "quiet": {"fires": False},
    "last_wave": {"cost_us": 9907, "says": ["last wave", "differs from GPU to GPU"]},
    "many_waves": {"cost_us": 1801},
}
