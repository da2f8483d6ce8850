#include "top/verdict.h"

#include "sample/clocks.h"

#include <stdarg.h>
#include <stdio.h>

/*
 * Percentages that divide. A pipe at half of its peak is busy work: the best matrix multiplies of an
 * H200 show 60-80 % (measured: 64 % tensor at 9.8 % of warp slots). Device memory counts earlier as
 * the limit, as 80 % of its peak is about all that can be reached.
 */
#define PIPE_BUSY 50
#define DRAM_BUSY 60
#define UNIT_LOW  25 /* below this, a unit is not what limits */
#define GPU_BUSY  80
#define GPU_IDLE  10
#define SM_FEW    60
#define SM_MANY   80

static void say(struct fw_verdict *verdict, enum fw_verdict_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct fw_verdict *verdict, enum fw_verdict_kind kind, const char *fmt, ...)
{
	va_list args;

	verdict->kind = kind;
	va_start(args, fmt);
	vsnprintf(verdict->text, sizeof(verdict->text), fmt, args);
	va_end(args);
}

bool fw_verdict_doubts_zero(const struct fw_gpu_sample *gpu, double floor_w)
{
	const struct fw_value *v = gpu->values;
	double power = v[FW_GPU_POWER].number;

	if (!fw_value_is_known(v[FW_GPU_BUSY]) || v[FW_GPU_BUSY].number > 0 ||
	    !fw_value_is_known(v[FW_GPU_POWER]))
		return false;
	if (fw_value_is_known(v[FW_GPU_MEMORY_BUSY]) && v[FW_GPU_MEMORY_BUSY].number > 0)
		return false;
	/* An idle data-centre GPU draws 10-18 % of its limit; one that was seen idle tells itself. */
	if (fw_value_is_known(v[FW_GPU_POWER_LIMIT]) && power > 0.35 * v[FW_GPU_POWER_LIMIT].number)
		return true;
	return floor_w > 0 && power >= 2 * floor_w && power >= floor_w + 8;
}

/* The name of the busiest of the pipes other than tensor; its percentage in *most. */
static const char *busiest_pipe(const struct fw_value *v, double *most)
{
	static const struct {
		enum fw_gpu_value value;
		const char *name;
	} pipes[] = { { FW_GPU_FP32, "FP32" },
		      { FW_GPU_FP16, "FP16" },
		      { FW_GPU_FP64, "FP64" },
		      { FW_GPU_INTEGER, "integer" } };
	const char *name = NULL;

	*most = 0;
	for (size_t i = 0; i < sizeof(pipes) / sizeof(pipes[0]); i++)
		if (fw_value_is_known(v[pipes[i].value]) && v[pipes[i].value].number > *most) {
			*most = v[pipes[i].value].number;
			name = pipes[i].name;
		}
	return name;
}

/* Something is near its limit: full, whatever the occupancy. */
static bool judge_full(const struct fw_value *v, struct fw_verdict *verdict)
{
	double most;
	const char *pipe = busiest_pipe(v, &most);

	if (fw_value_is_known(v[FW_GPU_TENSOR]) && v[FW_GPU_TENSOR].number >= PIPE_BUSY) {
		if (fw_value_is_known(v[FW_GPU_WARPS]) && v[FW_GPU_WARPS].number < UNIT_LOW)
			say(verdict, FW_VERDICT_FULL,
			    "healthy: tensor %.0f %% busy; %.1f %% of warp slots is normal for a "
			    "GEMM",
			    v[FW_GPU_TENSOR].number, v[FW_GPU_WARPS].number);
		else
			say(verdict, FW_VERDICT_FULL, "healthy: tensor %.0f %% busy",
			    v[FW_GPU_TENSOR].number);
		return true;
	}
	if (fw_value_is_known(v[FW_GPU_DRAM]) && v[FW_GPU_DRAM].number >= DRAM_BUSY) {
		say(verdict, FW_VERDICT_FULL, "memory-bound: device memory at %.0f %% of its peak",
		    v[FW_GPU_DRAM].number);
		return true;
	}
	if (pipe && most >= PIPE_BUSY) {
		say(verdict, FW_VERDICT_FULL, "healthy: %s pipes %.0f %% busy", pipe, most);
		return true;
	}
	return false;
}

/* Nothing is near its limit; SM busy is known. */
static void judge_not_full(const struct fw_value *v, struct fw_verdict *verdict)
{
	double sm = v[FW_GPU_SM_BUSY].number, busy = v[FW_GPU_BUSY].number, most;
	bool is_busy = fw_value_is_known(v[FW_GPU_BUSY]) && busy >= GPU_BUSY;
	bool knows_units = fw_value_is_known(v[FW_GPU_TENSOR]) && fw_value_is_known(v[FW_GPU_DRAM]);
	bool is_low = knows_units && v[FW_GPU_TENSOR].number < UNIT_LOW &&
		      v[FW_GPU_DRAM].number < UNIT_LOW;

	busiest_pipe(v, &most);
	is_low = is_low && most < UNIT_LOW;
	if (is_busy && sm < SM_FEW && is_low)
		say(verdict, FW_VERDICT_NOT_FULL,
		    "not full: busy %.0f %% of the time, %.0f %% of the SMs: small grids or gaps",
		    busy, sm);
	else if (sm >= SM_MANY && is_low)
		say(verdict, FW_VERDICT_NOT_FULL,
		    "not full: warps wait, no unit is busy: latency, or a spinning collective");
	else if (fw_value_is_known(v[FW_GPU_BUSY]) && busy < GPU_IDLE && sm < GPU_IDLE)
		say(verdict, FW_VERDICT_IDLE, "idle: nothing ran %.0f %% of the time", 100 - busy);
	else if (fw_value_is_known(v[FW_GPU_BUSY]) && busy < GPU_BUSY)
		say(verdict, FW_VERDICT_NOT_FULL,
		    "not full: nothing ran %.0f %% of the time: loader, launches or waits",
		    100 - busy);
	else if (!knows_units)
		say(verdict, FW_VERDICT_UNKNOWN,
		    "%.0f %% of the SMs busy; how full their units are is unknown", sm);
	else
		say(verdict, FW_VERDICT_PARTLY,
		    "partly full: %.0f %% of the SMs busy, no unit near its limit", sm);
}

/* Without counters: GPU-Util never proves that a GPU is full, only that it is not. */
static void judge_without_counters(const struct fw_value *v, struct fw_verdict *verdict)
{
	struct fw_value busy = v[FW_GPU_BUSY];

	if (!fw_value_is_known(busy))
		say(verdict, FW_VERDICT_UNKNOWN, "unknown: %s", busy.note);
	else if (busy.number < GPU_IDLE)
		say(verdict, FW_VERDICT_IDLE, "idle: nothing ran %.0f %% of the time",
		    100 - busy.number);
	else if (busy.number < GPU_BUSY)
		say(verdict, FW_VERDICT_NOT_FULL, "not full: nothing ran %.0f %% of the time",
		    100 - busy.number);
	else
		say(verdict, FW_VERDICT_UNKNOWN,
		    "something ran %.0f %% of the time; how full is unknown: %s", busy.number,
		    v[FW_GPU_SM_BUSY].note);
}

static bool judge_trouble(const struct fw_gpu_sample *gpu, struct fw_verdict *verdict)
{
	const struct fw_clocks_reason *reason =
		gpu->has_reasons ? fw_clocks_throttle(gpu->reasons) : NULL;

	if (gpu->result) {
		say(verdict, FW_VERDICT_TROUBLE, "no answer: %s", fw_nvml_result_text(gpu->result));
		return true;
	}
	/* Reaching the power limit is how a busy GPU runs; slower than it should is trouble. */
	if (reason && reason->bit != FW_NVML_CLOCKS_POWER_CAP &&
	    reason->bit != FW_NVML_CLOCKS_SYNC_BOOST) {
		say(verdict, FW_VERDICT_TROUBLE, "slowed down: %s", reason->text);
		return true;
	}
	return false;
}

void fw_verdict_make(const struct fw_gpu_sample *gpu, struct fw_verdict *verdict)
{
	const struct fw_value *v = gpu->values;

	if (judge_trouble(gpu, verdict) || judge_full(v, verdict))
		return;
	if (fw_value_is_known(v[FW_GPU_SM_BUSY]))
		judge_not_full(v, verdict);
	else
		judge_without_counters(v, verdict);
}

const char *fw_verdict_name(enum fw_verdict_kind kind)
{
	static const char *const names[] = {
		[FW_VERDICT_UNKNOWN] = "unknown",   [FW_VERDICT_IDLE] = "idle",
		[FW_VERDICT_FULL] = "full",         [FW_VERDICT_PARTLY] = "partly",
		[FW_VERDICT_NOT_FULL] = "not_full", [FW_VERDICT_TROUBLE] = "trouble",
	};

	return names[kind];
}
