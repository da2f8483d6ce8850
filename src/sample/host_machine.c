#include "sample/host_machine.h"

#include "sample/machine_text.h"
#include "sample/memory_limit.h"
#include "sample/proc_files.h"

static bool read_pressure(const struct fw_host_machine *machine, const char *path,
			  struct fw_pressure *pressure)
{
	char text[FW_PROC_FILE_BYTES];

	return fw_proc_file(machine->root, path, text) && fw_pressure_parse(text, pressure);
}

static void tell_pressure(struct fw_host_machine *machine, const struct fw_teller *teller)
{
	struct fw_pressure pressure;

	if (read_pressure(machine, "proc/pressure/cpu", &pressure))
		fw_tell(teller, machine->told, FW_HOST_CPU_PRESSURE, (double)pressure.some_ns);
	if (read_pressure(machine, "proc/pressure/io", &pressure)) {
		fw_tell(teller, machine->told, FW_HOST_IO_PRESSURE, (double)pressure.some_ns);
		fw_tell(teller, machine->told, FW_HOST_IO_STALL, (double)pressure.full_ns);
	}
	if (read_pressure(machine, "proc/pressure/memory", &pressure)) {
		fw_tell(teller, machine->told, FW_HOST_MEMORY_PRESSURE, (double)pressure.some_ns);
		fw_tell(teller, machine->told, FW_HOST_MEMORY_STALL, (double)pressure.full_ns);
	}
}

static bool tell_net(struct fw_host_machine *machine, const struct fw_teller *teller)
{
	char path[32], text[FW_PROC_FILE_BYTES];
	struct fw_traffic bytes;

	/* The program's own network namespace, which need not be ours. */
	snprintf(path, sizeof(path), "proc/%u/net/dev", machine->pid);
	if (!fw_proc_file(machine->root, path, text) || !fw_net_parse(text, &bytes))
		return false;
	fw_tell(teller, machine->told, FW_HOST_NET_RECEIVED, (double)bytes.in);
	fw_tell(teller, machine->told, FW_HOST_NET_SENT, (double)bytes.out);
	return true;
}

static bool tell_disks(struct fw_host_machine *machine, const struct fw_teller *teller)
{
	char text[FW_PROC_FILE_BYTES];
	struct fw_traffic bytes;

	if (!fw_proc_file(machine->root, "proc/diskstats", text) || !fw_disks_parse(text, &bytes))
		return false;
	fw_tell(teller, machine->told, FW_HOST_DISK_READ, (double)bytes.in);
	fw_tell(teller, machine->told, FW_HOST_DISK_WRITTEN, (double)bytes.out);
	return true;
}

void fw_host_machine_read(struct fw_host_machine *machine, const struct fw_teller *teller)
{
	struct fw_cpu_throttled throttled;

	tell_pressure(machine, teller);
	tell_net(machine, teller);
	tell_disks(machine, teller);
	if (fw_cpu_throttled_read(machine->root, &machine->quota, &throttled)) {
		fw_tell(teller, machine->told, FW_HOST_THROTTLED, (double)throttled.ns);
		fw_tell(teller, machine->told, FW_HOST_THROTTLES, (double)throttled.periods);
	}
}

/* What the first readings did not give. */
static void say_missing(const struct fw_host_machine *machine, const struct fw_host_sink *sink)
{
	if (!machine->told[FW_HOST_CPU_PRESSURE].is_told)
		sink->cannot(sink->context,
			     "Pressure of CPU, disks and memory: /proc/pressure cannot "
			     "be read (the kernel is booted without psi=1, or is "
			     "older than 4.20).");
	if (!machine->told[FW_HOST_NET_RECEIVED].is_told)
		sink->cannot(sink->context,
			     "Network traffic: /proc/PID/net/dev names no interface.");
	if (!machine->told[FW_HOST_DISK_READ].is_told)
		sink->cannot(sink->context, "Disk traffic of the machine: /proc/diskstats names no "
					    "disk.");
	if (!machine->told[FW_HOST_MEMORY_LIMIT].is_told)
		sink->cannot(sink->context,
			     "Memory limit: neither a cgroup's nor the machine's can be read.");
}

void fw_host_machine_read_limits(struct fw_host_machine *machine, const struct fw_teller *teller,
				 bool is_first)
{
	struct fw_memory_limit memory;

	fw_cpu_limit_read(machine->root, machine->pid, &machine->quota);
	if (machine->quota.is_known)
		fw_tell(teller, machine->told, FW_HOST_QUOTA, machine->quota.cores);
	fw_memory_limit_read(machine->root, machine->pid, &memory);
	if (memory.is_known) {
		fw_tell(teller, machine->told, FW_HOST_MEMORY_LIMIT, (double)memory.limit);
		fw_tell(teller, machine->told, FW_HOST_MEMORY_FREE, (double)memory.free);
	}
	if (is_first)
		say_missing(machine, teller->sink);
}
