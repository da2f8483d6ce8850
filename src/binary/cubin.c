/* A cubin (device code as an ELF file) -> the resources of its kernels. docs/format/cubin.md. */
#include "binary/attributes.h"
#include "binary/elf.h"
#include "binary/reader.h"

#include "base/map.h"

#define STO_CUDA_ENTRY 0x10
#define ABI_8          8
/* Shared memory that the driver keeps for itself in every block from compute capability 9.0 on. */
#define RESERVED_SMEM 1024
/* Reading the same bytes again and again through overlapping sections or names is damage. */
#define REREAD_FACTOR 8
/* A table half full needs a handful; names made to collide need more. */
#define MOST_PROBES 1024

struct cubin {
	struct fw_elf elf;
	struct fw_reader *reader;
	struct fw_image *image;
	size_t first; /* kernel of reader->found */
	struct fw_section symtab;
	struct fw_span symbol_names, symbol_sections;
	uint32_t *slots; /* kernel number + 1 by hash of its name */
	size_t slot_count;
	uint64_t budget; /* bytes of names and records still allowed */
};

static struct fw_found *kernels(const struct cubin *cubin)
{
	return (struct fw_found *)cubin->reader->found.data + cubin->first;
}

static size_t kernel_count(const struct cubin *cubin)
{
	return cubin->reader->found.len - cubin->first;
}

static fw_status spend(struct cubin *cubin, uint64_t bytes, struct fw_error *err)
{
	if (bytes > cubin->budget)
		return fw_fail(err, FW_ERR_FORMAT, "sections or names overlap without end");
	cubin->budget -= bytes;
	return FW_OK;
}

static int sm_of(const struct fw_elf *elf)
{
	return (int)(elf->abi_version >= ABI_8 ? elf->flags >> 8 & 0xff : elf->flags & 0xff);
}

/* A name of the section, or "" where it is damaged. */
static const char *section_name(const struct cubin *cubin, const struct fw_section *section)
{
	const char *name = fw_elf_string(cubin->elf.names, section->name);

	return name ? name : "";
}

/* "13.0.88" behind ", V", and the suffix of "-arch sm_90a" where it names this target. */
static void read_tool_note(struct cubin *cubin, struct fw_span note)
{
	struct fw_image *image = cubin->image;
	const unsigned char *end, *p;
	char arch[32];
	int n;

	if (!note.size)
		return;
	end = note.data + note.size;
	p = memmem(note.data, note.size, ", V", 3);
	if (p && !image->compiler) {
		const unsigned char *text = p + 3;

		for (p = text; p < end && ((*p >= '0' && *p <= '9') || *p == '.'); p++)
			;
		if (p > text && p - text < 32)
			image->compiler = fw_arena_strndup(&cubin->reader->arena,
							   (const char *)text, (size_t)(p - text));
	}
	n = snprintf(arch, sizeof(arch), "sm_%d", image->target.cc);
	p = memmem(note.data, note.size, arch, (size_t)n);
	if (p && p + n < end && (p[n] == 'a' || p[n] == 'f') && !image->target.suffix)
		image->target.suffix = (char)p[n];
}

/* Says only that the code is for this chip or its family; without the note, the narrower is safe. */
static void read_compat(struct cubin *cubin, struct fw_span rest)
{
	struct fw_record record;
	bool damaged;

	while (fw_record_next(&rest, &record, &damaged)) {
		if (record.code == FW_ATTR_COMPAT_ACCELERATED && record.value &&
		    !cubin->image->target.suffix)
			cubin->image->target.suffix = 'a';
	}
}

/* Finds the symbol table and what tells the target's suffix, which kernels inherit. */
static fw_status read_image(struct cubin *cubin, struct fw_error *err)
{
	struct fw_section notes = { 0 }, compat = { 0 }, section;
	uint32_t symbol_table = 0;
	struct fw_span bytes;

	for (uint32_t i = 1; i < cubin->elf.section_count; i++) {
		section = fw_elf_section(&cubin->elf, i);
		if (section.type == FW_SECTION_SYMTAB && !symbol_table) {
			cubin->symtab = section;
			symbol_table = i;
		} else if (section.type == FW_SECTION_SYMNDX) {
			fw_elf_bytes(&cubin->elf, &section, &cubin->symbol_sections, NULL);
		} else if (!notes.size || !compat.size) {
			const char *name = section_name(cubin, &section);

			if (!strcmp(name, ".note.nv.tkinfo"))
				notes = section;
			else if (!strcmp(name, ".nv.compat"))
				compat = section;
		}
	}
	if (fw_elf_bytes(&cubin->elf, &notes, &bytes, NULL) == FW_OK)
		read_tool_note(cubin, bytes);
	if (fw_elf_bytes(&cubin->elf, &compat, &bytes, NULL) == FW_OK)
		read_compat(cubin, bytes);
	if (!symbol_table)
		return FW_OK;
	if (cubin->symtab.link >= cubin->elf.section_count)
		return fw_fail(err, FW_ERR_FORMAT, "symbol names in section %u of %u",
			       cubin->symtab.link, cubin->elf.section_count);
	section = fw_elf_section(&cubin->elf, cubin->symtab.link);
	return fw_elf_bytes(&cubin->elf, &section, &cubin->symbol_names, err);
}

static uint32_t symbol_section(const struct cubin *cubin, const unsigned char *symbol, size_t i)
{
	uint32_t section = fw_le16(symbol + 6);

	if (section == FW_SYMBOL_XINDEX && cubin->symbol_sections.size / 4 > i)
		section = fw_le32(cubin->symbol_sections.data + 4 * i);
	return section;
}

static fw_status add_kernel(struct cubin *cubin, const unsigned char *symbol, size_t i,
			    struct fw_error *err)
{
	const char *name = fw_elf_string(cubin->symbol_names, fw_le32(symbol));
	struct fw_found *found;
	fw_status status;
	size_t len;

	if (!name)
		return fw_fail(err, FW_ERR_FORMAT, "symbol %zu has no valid name", i);
	len = strlen(name);
	status = spend(cubin, len, err);
	if (status != FW_OK)
		return status;
	found = fw_reader_add(cubin->reader, cubin->image);
	if (!found)
		return fw_fail_nomem(err, sizeof(*found));
	found->kernel.name = fw_reader_name(cubin->reader, name, len);
	if (!found->kernel.name) {
		cubin->reader->found.len--;
		return fw_fail_nomem(err, len);
	}
	found->hash = fw_hash_bytes(name, len);
	found->symbol = (uint32_t)i;
	found->section = symbol_section(cubin, symbol, i);
	return FW_OK;
}

static fw_status read_symbols(struct cubin *cubin, struct fw_error *err)
{
	fw_status status = FW_OK;
	struct fw_span table;

	if (!cubin->symtab.size)
		return FW_OK;
	status = fw_elf_bytes(&cubin->elf, &cubin->symtab, &table, err);
	for (size_t i = 0; status == FW_OK && i < table.size / FW_SYMBOL_BYTES; i++) {
		const unsigned char *symbol = table.data + i * FW_SYMBOL_BYTES;

		if ((symbol[4] & 0xf) == FW_SYMBOL_FUNC && symbol[5] & STO_CUDA_ENTRY)
			status = add_kernel(cubin, symbol, i, err);
	}
	return status;
}

/* The slot that holds the name or may take it; NULL where hostile names fill all near it. */
static uint32_t *find_slot(const struct cubin *cubin, const char *name, uint64_t hash)
{
	for (size_t probe = 0; probe < MOST_PROBES && probe < cubin->slot_count; probe++) {
		uint32_t *slot = cubin->slots + ((hash + probe) & (cubin->slot_count - 1));
		const struct fw_found *found;

		if (!*slot)
			return slot;
		found = kernels(cubin) + (*slot - 1);
		if (found->hash == hash && !strcmp(found->kernel.name, name))
			return slot;
	}
	return NULL;
}

/* A table from names to kernels, at most half full. */
static fw_status index_kernels(struct cubin *cubin, struct fw_error *err)
{
	struct fw_vec *slots = &cubin->reader->slots;
	size_t count = 16;

	while (count < 2 * kernel_count(cubin))
		count *= 2;
	if (!fw_vec_reserve(slots, count))
		return fw_fail_nomem(err, count * sizeof(uint32_t));
	cubin->slots = memset(slots->data, 0, count * sizeof(uint32_t));
	cubin->slot_count = count;
	for (size_t i = 0; i < kernel_count(cubin); i++) {
		struct fw_found *found = kernels(cubin) + i;
		uint32_t *slot = find_slot(cubin, found->kernel.name, found->hash);

		if (!slot || *slot)
			return fw_fail(err, FW_ERR_FORMAT, "kernel %.100s is there twice",
				       found->kernel.name);
		*slot = (uint32_t)i + 1;
	}
	return FW_OK;
}

static struct fw_found *find_kernel(const struct cubin *cubin, const char *name, size_t len)
{
	const uint32_t *slot = find_slot(cubin, name, fw_hash_bytes(name, len));

	return slot && *slot ? kernels(cubin) + (*slot - 1) : NULL;
}

/* Kernels stand in the order of their symbols. */
static struct fw_found *find_symbol(const struct cubin *cubin, uint32_t symbol)
{
	size_t low = 0, high = kernel_count(cubin);

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (kernels(cubin)[mid].symbol < symbol)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == kernel_count(cubin) || kernels(cubin)[low].symbol != symbol)
		return NULL;
	return kernels(cubin) + low;
}

/* Sizes that do not fit, and 0xffffffff, which stands for recursion, are unknown. */
static int known(uint64_t value)
{
	return value <= INT32_MAX ? (int)value : FW_UNKNOWN;
}

/* `.nv.info`: (symbol, value) pairs. */
static void read_global_record(struct cubin *cubin, const struct fw_record *record)
{
	struct fw_found *found;
	int value;

	if (record->payload.size < 8)
		return;
	found = find_symbol(cubin, fw_record_word(record, 0, 0));
	if (!found)
		return;
	value = known(fw_record_word(record, 1, 0));
	switch (record->code) {
	case FW_ATTR_REGISTERS: found->kernel.registers = value; break;
	case FW_ATTR_FRAME_SIZE: found->kernel.frame = value; break;
	case FW_ATTR_MIN_STACK_SIZE: found->kernel.stack = value; break;
	default: break;
	}
}

static void read_dimensions(int dims[3], const struct fw_record *record)
{
	if (!record->payload.size)
		return;
	for (size_t i = 0; i < 3; i++)
		dims[i] = known(fw_record_word(record, i, 1));
}

static int count_spills(const struct fw_record *record)
{
	int count = 0;

	/* Pairs of a kind and an instruction's offset; kind 1 is a spill. */
	for (size_t i = 0; i < record->payload.size / 8; i++)
		count += fw_record_word(record, 2 * i, 0) == 1;
	return count;
}

/* The number of a record, whichever of its forms was used. */
static int record_number(const struct fw_record *record)
{
	return record->has_payload ? known(fw_record_word(record, 0, UINT32_MAX))
				   : (int)record->value;
}

/* `.nv.info.<kernel>`. */
static void read_kernel_record(struct cubin *cubin, struct fw_kernel *kernel,
			       const struct fw_record *record)
{
	switch (record->code) {
	case FW_ATTR_MAX_THREADS: read_dimensions(kernel->max_threads, record); break;
	case FW_ATTR_REQUIRED_THREADS: read_dimensions(kernel->required_threads, record); break;
	case FW_ATTR_MAX_REGISTERS: kernel->register_cap = record_number(record); break;
	case FW_ATTR_API_VERSION: cubin->image->toolkit = record_number(record); break;
	case FW_ATTR_CLUSTER: read_dimensions(kernel->cluster, record); break;
	case FW_ATTR_EXPLICIT_CLUSTER: kernel->has_explicit_cluster = true; break;
	case FW_ATTR_MAX_CLUSTER_RANK: kernel->max_cluster_rank = record_number(record); break;
	case FW_ATTR_VRC: kernel->vrc = record_number(record); break;
	case FW_ATTR_BARRIERS: kernel->barriers = record_number(record); break;
	case FW_ATTR_TCGEN05_1: kernel->tcgen05 = 1; break;
	case FW_ATTR_TCGEN05_2: kernel->tcgen05 = 2; break;
	case FW_ATTR_REG_RECONFIG: kernel->setmaxnreg = 1; break;
	case FW_ATTR_SPILLS: kernel->spill_instructions = count_spills(record); break;
	case FW_ATTR_BLOCKS_ARE_CLUSTERS: kernel->blocks_are_clusters = true; break;
	default: break;
	}
}

/* kernel is NULL for `.nv.info` itself. */
static fw_status read_records(struct cubin *cubin, struct fw_kernel *kernel,
			      const struct fw_section *section, struct fw_error *err)
{
	struct fw_record record;
	struct fw_span rest;
	bool damaged = false;
	fw_status status = fw_elf_bytes(&cubin->elf, section, &rest, err);

	if (status == FW_OK)
		status = spend(cubin, rest.size, err);
	if (status != FW_OK)
		return status;
	while (fw_record_next(&rest, &record, &damaged)) {
		if (kernel)
			read_kernel_record(cubin, kernel, &record);
		else
			read_global_record(cubin, &record);
	}
	if (damaged)
		return fw_fail(err, FW_ERR_FORMAT, "damaged record at %#llx of .nv.info",
			       (unsigned long long)(section->offset + section->size - rest.size));
	return FW_OK;
}

/*
 * The section's size is what a block takes; in linked code for 9.0 and later the driver's part is
 * already in it, in relocatable code and before 9.0 it is not.
 */
static int static_smem(const struct cubin *cubin, uint64_t size)
{
	if (cubin->elf.type == FW_ELF_EXECUTABLE && cubin->image->target.cc >= 90 &&
	    size >= RESERVED_SMEM)
		size -= RESERVED_SMEM;
	return known(size);
}

static fw_status read_section(struct cubin *cubin, const struct fw_section *section,
			      struct fw_error *err)
{
	static const char info[] = ".nv.info.", shared[] = ".nv.shared.";
	const char *name = section_name(cubin, section), *suffix;
	struct fw_found *found;
	bool is_info;
	fw_status status;
	size_t len;

	if (strncmp(name, ".nv.", 4))
		return FW_OK;
	if (!strcmp(name, ".nv.info"))
		return read_records(cubin, NULL, section, err);
	is_info = !strncmp(name, info, sizeof(info) - 1);
	if (!is_info && strncmp(name, shared, sizeof(shared) - 1))
		return FW_OK;
	suffix = name + (is_info ? sizeof(info) : sizeof(shared)) - 1;
	len = strlen(suffix);
	status = spend(cubin, len, err);
	if (status != FW_OK)
		return status;
	found = find_kernel(cubin, suffix, len);
	if (!found)
		return FW_OK;
	if (is_info)
		return read_records(cubin, &found->kernel, section, err);
	found->kernel.static_smem = static_smem(cubin, section->size);
	return FW_OK;
}

/* What the absence of a record means, which depends on the ABI and the chip. */
static void complete_kernel(const struct cubin *cubin, struct fw_found *found)
{
	struct fw_kernel *kernel = &found->kernel;
	struct fw_section text = { 0 };
	int cc = kernel->target.cc;
	bool records_all = cubin->image->abi >= ABI_8;

	if (found->section && found->section < cubin->elf.section_count)
		text = fw_elf_section(&cubin->elf, found->section);
	/* Stale after device linking, and 0 from 9.0 on: a last resort. */
	if (kernel->registers < 0 && text.info >> 24)
		kernel->registers = (int)(text.info >> 24);
	if (kernel->barriers < 0)
		kernel->barriers = records_all ? 0 : (int)(text.flags >> 20 & 0x7f);
	if (kernel->static_smem < 0)
		kernel->static_smem = 0;
	if (kernel->spill_instructions < 0 && records_all)
		kernel->spill_instructions = 0;
	/* Instructions that older chips lack; whether ABI 7 recorded them is not known. */
	if (kernel->setmaxnreg < 0 && (records_all || cc < 90))
		kernel->setmaxnreg = 0;
	if (kernel->tcgen05 < 0 && (records_all || cc < 100))
		kernel->tcgen05 = 0;
}

static fw_status read_cubin(struct cubin *cubin, struct fw_error *err)
{
	fw_status status = read_image(cubin, err);

	if (status == FW_OK)
		status = read_symbols(cubin, err);
	if (status == FW_OK)
		status = index_kernels(cubin, err);
	for (uint32_t i = 1; status == FW_OK && i < cubin->elf.section_count; i++) {
		struct fw_section section = fw_elf_section(&cubin->elf, i);

		status = read_section(cubin, &section, err);
	}
	return status;
}

fw_status fw_cubin_read(struct fw_reader *reader, struct fw_image *image, struct fw_span file,
			struct fw_error *err)
{
	struct cubin cubin = {
		.reader = reader,
		.image = image,
		.first = reader->found.len,
		.budget = (uint64_t)file.size * REREAD_FACTOR + FW_NAME_MAX,
	};
	fw_status status = fw_elf_open(&cubin.elf, file, err);
	int cc;

	if (status != FW_OK)
		return status;
	if (cubin.elf.machine != FW_ELF_MACHINE_CUDA)
		return fw_fail(err, FW_ERR_FORMAT, "ELF machine %u is not CUDA", cubin.elf.machine);
	cc = sm_of(&cubin.elf);
	if (image->target.cc > 0 && image->target.cc != cc)
		return fw_fail(err, FW_ERR_FORMAT, "cubin for sm_%d in an entry for sm_%d", cc,
			       image->target.cc);
	image->target.cc = cc;
	/* Before 9.0, where there is no 'a', CUDA 8 to 10 set the same bit for another reason. */
	if (cubin.elf.abi_version < ABI_8 && cc >= 90 && cubin.elf.flags & 0x800)
		image->target.suffix = 'a';
	image->abi = (int)cubin.elf.abi_version;
	image->is_relocatable = cubin.elf.type == FW_ELF_RELOCATABLE;
	status = read_cubin(&cubin, err);
	/* Half a kernel's figures would look like all of them. */
	if (status != FW_OK)
		reader->found.len = cubin.first;
	for (size_t i = 0; i < kernel_count(&cubin); i++)
		complete_kernel(&cubin, kernels(&cubin) + i);
	return status;
}
