"""mixed-precision: matrix kernels work on fp32 data."""
from make_trace import Trace


def kernels(name):
    trace = Trace()
    host = trace.thread()
    for _ in range(20):
        host.launch(name, 500)
        host.launch("elementwise_kernel", 100)
    return trace


def fires():
    """Twenty TF32 products of 500 us: half precision would halve their 10,000 us."""
    return kernels("sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32")


def quiet():
    """bfloat16 already."""
    return kernels("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64")


def host_is_the_limit():
    """The same products, but the host needs 2,000 us of operator for each pair of launches: halving a product gains nothing,
    as in the recorded loop (after, after-half). The GPU waits for the host all the time, which works to its last launch
    (the 20th pair begins 40,210 us after the trace); only the last kernels, 600 us, come after it."""
    trace = Trace()
    host = trace.thread()
    for _ in range(20):
        with host.operator("aten::mm"):
            host.work(2000)
            host.launch("sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32", 500)
            host.launch("elementwise_kernel", 100)
    return trace


EXPECT = {
    "fires": {"cost_us": 5000, "says": ["torch.autocast(\"cuda\", dtype=torch.bfloat16)", "model"], "never": ["torch.cuda.amp"]},
    "quiet": {"fires": False},
    "host_is_the_limit": {"cost_us": 5000, "at_most_us": (0, 610)},
}
