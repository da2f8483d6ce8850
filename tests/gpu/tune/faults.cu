/*
 * A kernel that a parameter makes wrong in every way that tune has to survive; FAULT 0 is right. tests/gpu/tune/run.sh
 * runs it and compares the reasons.
 */
// fullwarp: kernel faults ; grid = ceil(N / BLOCK) ; block = BLOCK ; set N = 100003
// fullwarp: arg out f32[N] output ; arg in f32[N] random ; arg n i32 = N
// fullwarp: param FAULT = 0 1 2 3 4 5 6 7 8 9 10 ; param BLOCK = 128 256
// fullwarp: smem = FAULT == 9 ? 300000 : 0
// What the stand-ins for NVIDIA's libraries make of it, for a run without a GPU:
// fake faults: effect scale
// fake faults FAULT=1: effect crash 700
// fake faults FAULT=2: effect hang
// fake faults FAULT=3: effect wrong 54321
// fake faults FAULT=4: effect outside 100003
// fake faults FAULT=5: effect skip 1000
// fake faults FAULT=6: effect crash 719
// fake faults FAULT=7: effect input 3
// fake * FAULT=8: error planted
// fake faults FAULT=10: max_threads 64
#ifndef FAULT
#define N     100003
#define FAULT 0
#define BLOCK 128
#endif

#if FAULT == 8
#error planted
#endif

#if FAULT == 10
#define BOUNDS __launch_bounds__(64)
#else
#define BOUNDS
#endif

__global__ void BOUNDS faults(float *out, float *in, int n)
{
	const int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i >= n)
		return;
	out[i] = 2 * in[i] + 1;
#if FAULT == 1 /* illegal address */
	if (i == 12345)
		out[1ll << 40] = 1;
#elif FAULT == 2 /* no end */
	while (*(volatile float *)(in + 77) >= 0) {
	}
#elif FAULT == 3 /* one element wrong */
	if (i == 54321)
		out[i] += 0.01f;
#elif FAULT == 4 /* one element behind the end */
	if (i == n - 1)
		out[n] = 7;
#elif FAULT == 5 /* one element not written: see the poison */
	if (i == 1000)
		out[i] = __int_as_float(-1);
#elif FAULT == 6 /* a trap */
	if (i == 0)
		__trap();
#elif FAULT == 7 /* the input */
	if (i == 3)
		in[i] = -1;
#endif
}
