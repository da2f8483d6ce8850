// Two blocks a SM at any batch size: one block normalises one sample of 24,000 floats. With the sample in shared memory
// (96,000 B) two blocks fit a SM whatever the batch; without it eight do. Time against the batch shows the waves.
#include "rows.cuh"

int main(int argc, char **argv)
{
	const int width = 24000;
	const size_t whole = width * sizeof(float);

	for (int batch : { 64, 128, 264, 265, 512, 1024, 4096 }) {
		Rows r(batch, width, 6);
		std::vector<Variant> v;
		std::string name = "two-blocks-batch-" + std::to_string(batch);

		v.push_back(r.variant("sample in shared memory", norm_whole, whole, true));
		v.push_back(r.variant("no buffer, read twice", norm_twice, 0, true));
		run(name.c_str(), v, is_once(argc, argv));
		CUDA(cudaFree(r.in.dev));
		CUDA(cudaFree(r.out.dev));
	}
	return 0;
}
