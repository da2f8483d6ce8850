#ifndef FW_GPU_NVML_H
#define FW_GPU_NVML_H
/* NVML, NVIDIA's management library, opened at run time: its calls, and a GPU's facts each known or unknown. */
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Results of NVML's calls that we tell apart (nvmlReturn_t). */
enum fw_nvml_result {
	FW_NVML_NO_CALL = -1, /* ours: the library lacks the call, or it was not made */
	FW_NVML_SUCCESS = 0,
	FW_NVML_UNINITIALIZED = 1,
	FW_NVML_NOT_SUPPORTED = 3,
	FW_NVML_NO_PERMISSION = 4,
	FW_NVML_NOT_FOUND = 6,
	FW_NVML_INSUFFICIENT_SIZE = 7,
	FW_NVML_DRIVER_NOT_LOADED = 9,
	FW_NVML_GPU_IS_LOST = 15,
	FW_NVML_RESET_REQUIRED = 16,
	FW_NVML_OPERATING_SYSTEM = 17,
	FW_NVML_VERSION_MISMATCH = 18,
	FW_NVML_UNKNOWN = 999
};

enum fw_nvml_clock { FW_NVML_CLOCK_GRAPHICS, FW_NVML_CLOCK_SM, FW_NVML_CLOCK_MEMORY };
enum fw_nvml_pcie_counter { FW_NVML_PCIE_TX, FW_NVML_PCIE_RX }; /* seen from the GPU */
enum fw_nvml_ecc { FW_NVML_ECC_CORRECTED, FW_NVML_ECC_UNCORRECTED };
enum fw_nvml_ecc_counter { FW_NVML_ECC_SINCE_LOAD, FW_NVML_ECC_LIFETIME };

enum fw_nvml_compute_mode {
	FW_NVML_COMPUTE_DEFAULT = 0,
	FW_NVML_COMPUTE_PROHIBITED = 2,
	FW_NVML_COMPUTE_EXCLUSIVE_PROCESS = 3
};

/* Why clocks are below the maximum (nvmlClocksEventReason*): bits. */
#define FW_NVML_CLOCKS_IDLE           0x001u
#define FW_NVML_CLOCKS_APPLICATION    0x002u /* clocks that a user set */
#define FW_NVML_CLOCKS_POWER_CAP      0x004u
#define FW_NVML_CLOCKS_HW_SLOWDOWN    0x008u
#define FW_NVML_CLOCKS_SYNC_BOOST     0x010u
#define FW_NVML_CLOCKS_SW_THERMAL     0x020u
#define FW_NVML_CLOCKS_HW_THERMAL     0x040u
#define FW_NVML_CLOCKS_HW_POWER_BRAKE 0x080u
#define FW_NVML_CLOCKS_DISPLAY        0x100u

/* Numbers of GPM metrics; percent, but PCIe and NVLink in MiB/s. */
enum fw_nvml_gpm_metric_id {
	FW_NVML_GPM_GRAPHICS = 1,
	FW_NVML_GPM_SM = 2,
	FW_NVML_GPM_SM_OCCUPANCY = 3,
	FW_NVML_GPM_INTEGER = 4,
	FW_NVML_GPM_TENSOR = 5,
	FW_NVML_GPM_DRAM = 10,
	FW_NVML_GPM_FP64 = 11,
	FW_NVML_GPM_FP32 = 12,
	FW_NVML_GPM_FP16 = 13,
	FW_NVML_GPM_PCIE_TX = 20,
	FW_NVML_GPM_PCIE_RX = 21,
	FW_NVML_GPM_NVLINK_RX = 60,
	FW_NVML_GPM_NVLINK_TX = 61
};

/* "Not available" in a field that NVML fills: memory of a process, instance of a MIG device. */
#define FW_NVML_NO_VALUE    UINT64_MAX
#define FW_NVML_NO_INSTANCE UINT32_MAX

#define FW_NVML_NAME_BYTES 96

/* The structs below have the layout of NVML's, which tests/gpu/nvml_abi.c proves. */
struct fw_nvml_pci { /* nvmlPciInfo_t */
	char bus_id_legacy[16];
	unsigned domain, bus, device;
	unsigned device_id; /* device << 16 | vendor */
	unsigned subsystem_id;
	char bus_id[32]; /* "00000000:17:00.0" */
};

struct fw_nvml_utilization { /* nvmlUtilization_t */
	unsigned gpu,
		memory; /* percent of the last sample period in which anything ran, or memory was used */
};

#define FW_NVML_MEMORY_VERSION (sizeof(struct fw_nvml_memory) | 2u << 24)
struct fw_nvml_memory { /* nvmlMemory_v2_t; set version before the call */
	unsigned version;
	unsigned long long total, reserved, free, used; /* bytes */
};

struct fw_nvml_process { /* nvmlProcessInfo_v2_t */
	unsigned pid;
	unsigned long long memory;               /* bytes, or FW_NVML_NO_VALUE */
	unsigned gpu_instance, compute_instance; /* or FW_NVML_NO_INSTANCE */
};

struct fw_nvml_process_utilization { /* nvmlProcessUtilizationSample_t */
	unsigned pid;
	unsigned long long time_us;            /* old samples come back too: compare it */
	unsigned sm, memory, encoder, decoder; /* percent */
};

struct fw_nvml_gpm_support { /* nvmlGpmSupport_t */
	unsigned version;    /* 1 */
	unsigned is_supported;
};

struct fw_nvml_gpm_metric { /* nvmlGpmMetric_t */
	unsigned id;
	int result; /* of this metric; value holds if 0 */
	double value;
	char *short_name, *long_name, *unit;
};

/* NVML has grown its array from 98 to 477 entries with one version number; it reads `count` of them. */
#define FW_NVML_GPM_METRICS 512
struct fw_nvml_gpm_metrics { /* nvmlGpmMetricsGet_t */
	unsigned version;    /* 1 */
	unsigned count;
	void *first, *second; /* samples */
	struct fw_nvml_gpm_metric metrics[FW_NVML_GPM_METRICS];
};

/* The library's calls; an optional one may be NULL. Immutable after opening. */
struct fw_nvml {
	void *handle;
#define FW_SYM(required, symbol, field, args) int(*field) args;
#include "gpu/nvml.def"
#undef FW_SYM
};

/* A number that NVML gave, or why it did not. All zero: unknown, not asked. */
struct fw_nvml_figure {
	bool is_known;
	int result; /* enum fw_nvml_result, or another of NVML's numbers */
	uint64_t value;
};

/* What does not change while the driver runs. Texts are empty where unknown. */
struct fw_nvml_identity {
	char name[FW_NVML_NAME_BYTES], uuid[FW_NVML_NAME_BYTES];
	char bus_id[32];             /* "00000000:17:00.0" */
	struct fw_nvml_figure minor; /* of /dev/nvidiaN */
	struct fw_nvml_figure cc;    /* compute capability x 10 */
	struct fw_nvml_figure sm_mhz_max, memory_mhz_max;
	struct fw_nvml_figure link_gen_max;     /* of the GPU in this slot */
	struct fw_nvml_figure link_gen_gpu_max; /* of the GPU alone */
	struct fw_nvml_figure link_width_max;
	struct fw_nvml_figure gpm; /* 1: GPM works on it */
};

/* What does. */
struct fw_nvml_state {
	struct fw_nvml_figure gpu_percent, memory_percent;
	struct fw_nvml_figure memory_total, memory_reserved, memory_used, memory_free; /* bytes */
	struct fw_nvml_figure sm_mhz, memory_mhz;
	struct fw_nvml_figure power_mw, power_limit_mw, celsius;
	struct fw_nvml_figure clocks_reasons; /* FW_NVML_CLOCKS_* */
	struct fw_nvml_figure link_gen, link_width;
	struct fw_nvml_figure ecc; /* 1: on */
	struct fw_nvml_figure ecc_uncorrected, ecc_uncorrected_lifetime;
	struct fw_nvml_figure rows_uncorrected, rows_pending,
		rows_failed; /* remapped; two of 0 or 1 */
	struct fw_nvml_figure compute_mode, persistence;
	struct fw_nvml_figure mig, mig_pending;
};

/*
 * Opens `library` (NULL: libnvidia-ml.so.1) and starts NVML. FW_ERR_UNSUPPORTED with the loader's or
 * NVML's words where that is not possible; *result (may be NULL) then says which: FW_NVML_NO_CALL, no
 * library, else NVML's answer.
 */
fw_status fw_nvml_open(struct fw_nvml *nvml, const char *library, int *result,
		       struct fw_error *err);

/* Accepts one that is not open. */
void fw_nvml_close(struct fw_nvml *nvml);

/* A result in words, "the GPU is lost (fell off the bus)"; static storage, never NULL. */
const char *fw_nvml_result_text(int result);

/* Both ask all they can; what fails is unknown, with its result. NULL as device: all unknown. */
void fw_nvml_identify(const struct fw_nvml *nvml, void *device, struct fw_nvml_identity *identity);
void fw_nvml_read_state(const struct fw_nvml *nvml, void *device, struct fw_nvml_state *state);

enum fw_nvml_process_kind {
	FW_NVML_PROCESS_COMPUTE,
	FW_NVML_PROCESS_GRAPHICS,
	FW_NVML_PROCESS_MPS
};

/*
 * The processes of a kind on the device: at most `room` are written and *count says how many. Returns
 * NVML's result; FW_NVML_INSUFFICIENT_SIZE: there are more, *count is then what NVML asked for.
 */
int fw_nvml_processes(const struct fw_nvml *nvml, void *device, enum fw_nvml_process_kind kind,
		      struct fw_nvml_process *processes, unsigned room, unsigned *count);

#endif
