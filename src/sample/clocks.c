#include "sample/clocks.h"

#include "gpu/nvml.h"

const struct fw_clocks_reason fw_clocks_reasons[] = {
	{ FW_NVML_CLOCKS_HW_THERMAL, "hw_thermal_slowdown", "too hot: the hardware slows it down",
	  true },
	{ FW_NVML_CLOCKS_HW_POWER_BRAKE, "hw_power_brake", "the power supply asks for less", true },
	{ FW_NVML_CLOCKS_HW_SLOWDOWN, "hw_slowdown", "the hardware slows it down", true },
	{ FW_NVML_CLOCKS_SW_THERMAL, "sw_thermal_slowdown", "too hot: the driver slows it down",
	  true },
	{ FW_NVML_CLOCKS_POWER_CAP, "power_cap", "power limit reached", true },
	{ FW_NVML_CLOCKS_SYNC_BOOST, "sync_boost", "held to the slowest of a group", true },
	{ FW_NVML_CLOCKS_APPLICATION, "application_clocks", "clocks that somebody set", false },
	{ FW_NVML_CLOCKS_DISPLAY, "display_clocks", "clocks that the display needs", false },
	{ FW_NVML_CLOCKS_IDLE, "idle", "idle", false },
};

const size_t fw_clocks_reason_count = sizeof(fw_clocks_reasons) / sizeof(fw_clocks_reasons[0]);

const struct fw_clocks_reason *fw_clocks_throttle(uint64_t bits)
{
	for (size_t i = 0; i < fw_clocks_reason_count; i++)
		if (fw_clocks_reasons[i].is_throttle && bits & fw_clocks_reasons[i].bit)
			return &fw_clocks_reasons[i];
	return NULL;
}
