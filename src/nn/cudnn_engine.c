/* The engine `cudnn`: cuDNN 9, cuBLASLt and our own kernels on one GPU. */
#include "nn/cudnn_network.h"

static fw_status open_engine(const struct fw_nn_engine_options *options, void **engine,
			     struct fw_error *err)
{
	struct fw_nn_gpu *gpu = NULL;
	fw_status status = fw_nn_gpu_open(options, &gpu, err);

	*engine = gpu;
	return status;
}

static void close_engine(void *engine)
{
	fw_nn_gpu_close(engine);
}

const struct fw_nn_engine_class fw_nn_cudnn = {
	.name = "cudnn",
	.open = open_engine,
	.close = close_engine,
	.load = fw_nn_gpu_network_load,
	.unload = fw_nn_gpu_network_unload,
	.gpu_bytes = fw_nn_gpu_network_bytes,
	.step_us = fw_nn_gpu_network_step_us,
	.instance_open = fw_nn_gpu_instance_open,
	.instance_close = fw_nn_gpu_instance_close,
	.io = fw_nn_gpu_instance_io,
	.launch = fw_nn_gpu_instance_launch,
	.wait = fw_nn_gpu_instance_wait,
	.write = fw_nn_gpu_instance_write,
	.read = fw_nn_gpu_instance_read,
	.channel_multiple = 4,
	.concat_in_place = true,
};
