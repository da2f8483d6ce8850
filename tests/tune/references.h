/* What the kernels of examples/tune compute, written down the plain way, in double precision. */
#ifndef FW_TESTS_REFERENCES_H
#define FW_TESTS_REFERENCES_H

#ifdef KERNEL_conv2d
static void reference(const float *in, const float *filter, float *out)
{
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			double sum = 0;

			for (int i = 0; i < F * F; i++)
				sum += (double)in[(y + i / F) * (W + F - 1) + x + i % F] *
				       filter[i];
			out[y * W + x] = (float)sum;
		}
}
#endif

#ifdef KERNEL_gemm
static void reference(const float *a, const float *b, float *c)
{
	for (int m = 0; m < M; m++)
		for (int n = 0; n < N; n++) {
			double sum = 0;

			for (int k = 0; k < K; k++)
				sum += (double)a[m * K + k] * b[k * N + n];
			c[m * N + n] = (float)sum;
		}
}
#endif

#ifdef KERNEL_transpose
static void reference(const float *in, float *out)
{
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			out[x * H + y] = in[y * W + x];
}
#endif

#ifdef KERNEL_reduction
static void reference(const float *in, float *sum)
{
	double all = 0;

	for (int i = 0; i < N; i++)
		all += in[i];
	*sum = (float)all;
}
#endif

#ifdef KERNEL_nbody
static void reference(const float *bodies, float *accelerations)
{
	for (int i = 0; i < N; i++) {
		double sum[3] = { 0, 0, 0 };

		for (int j = 0; j < N; j++) {
			double d[3], square = 1e-2;

			for (int k = 0; k < 3; k++) {
				d[k] = (double)bodies[4 * j + k] - bodies[4 * i + k];
				square += d[k] * d[k];
			}
			for (int k = 0; k < 3; k++)
				sum[k] += bodies[4 * j + 3] * d[k] / (square * sqrt(square));
		}
		for (int k = 0; k < 4; k++)
			accelerations[4 * i + k] = k < 3 ? (float)(sum[k] / N) : 0.0f;
	}
}
#endif

#ifdef KERNEL_pnpoly
static void reference(const float *points, const float *vertices, int *inside)
{
	for (int i = 0; i < N; i++) {
		const float x = points[2 * i], y = points[2 * i + 1];

		inside[i] = 0;
		for (int v = 0; v < V; v++) {
			const float *a = vertices + 2 * v, *b = vertices + 2 * ((v + V - 1) % V);

			/* Rounded as the kernel promises. */
			if ((a[1] > y) != (b[1] > y))
				inside[i] ^=
					x < fmaf((b[0] - a[0]) / (b[1] - a[1]), y - a[1], a[0]);
		}
	}
}
#endif

#ifdef KERNEL_hotspot
static void reference(const float *heat, const float *power, float *next)
{
	double *now = new double[W * H], *then = new double[W * H];

	for (int i = 0; i < W * H; i++)
		now[i] = heat[i];

	for (int step = 0; step < STEPS; step++) {
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++) {
				const double here = now[y * W + x];
				double others = 0;

				others += x > 0 ? now[y * W + x - 1] : here;
				others += x < W - 1 ? now[y * W + x + 1] : here;
				others += y > 0 ? now[(y - 1) * W + x] : here;
				others += y < H - 1 ? now[(y + 1) * W + x] : here;
				then[y * W + x] =
					here + 0.1 * (others - 4 * here) + 0.05 * power[y * W + x];
			}
		double *swap = now;

		now = then;
		then = swap;
	}
	for (int i = 0; i < W * H; i++)
		next[i] = (float)now[i];
	delete[] now;
	delete[] then;
}
#endif
#endif
