"""tensor-cores-unused: fp32 matrix kernels on the ordinary cores."""
from make_trace import Trace


def kernels(name, us=500, other_us=0):
    trace = Trace()
    host = trace.thread()
    for _ in range(20):
        host.launch(name, us)
        if other_us:
            host.launch("elementwise_kernel", other_us)
    return trace


def fires():
    """Twenty fp32 products of 500 us among elementwise kernels of 100 us, on a GPU with TF32: 10,000 us."""
    return kernels("ampere_sgemm_128x64_nn", other_us=100)


def quiet():
    """TF32 products use tensor cores."""
    return kernels("sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32")


def half():
    """Half precision products do, too."""
    return kernels("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64")


EXPECT = {
    "fires": {"cost_us": 10000, "first": True, "says": ["ampere_sgemm", "set_float32_matmul_precision"]},
    "quiet": {"fires": False},
    "half": {"fires": False},
}
