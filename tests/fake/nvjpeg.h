#ifndef TESTS_FAKE_NVJPEG_H
#define TESTS_FAKE_NVJPEG_H
/*
 * A libnvjpeg that decodes with libjpeg into the host's memory. Its state must be made ready for each size of batch, and
 * again after a batch that failed, as NVIDIA's.
 */
struct fake_nvjpeg_script {
	int lacks_hardware;
	int refuses_width;  /* pictures of this width are not supported by the engine */
	int fails_width;    /* a batch with one of this width fails */
	int skips_width;    /* one of this width is left out, and the batch succeeds */
	int writes_nothing; /* where memory of the GPU is none */
	int batches, last_batch, backend; /* what was asked of it */
};
struct fake_nvjpeg_script *fake_nvjpeg(void);

#endif
