/* A file's bytes -> the images in it, whatever they are wrapped in. Nothing is unpacked here. */
#include "binary/source.h"

#include "base/str.h"
#include "binary/archive.h"
#include "binary/elf.h"
#include "binary/fatbin.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_PROBLEMS 200

void fw_source_init(struct fw_source *source, const char *label)
{
	*source = (struct fw_source){
		.label = label,
		.jobs = FW_VEC(struct fw_job),
		.problems = FW_VEC(struct fw_binary_problem),
	};
}

void fw_source_release(struct fw_source *source)
{
	fw_vec_release(&source->jobs);
	fw_vec_release(&source->problems);
	fw_arena_release(&source->arena);
	fw_file_close(&source->file);
}

void fw_source_problem(struct fw_source *source, const char *where, const struct fw_error *error)
{
	struct fw_binary_problem *problem;
	char *message;

	if (source->problems.len >= MOST_PROBLEMS) {
		source->problems_dropped++;
		return;
	}
	message = fw_arena_strndup(&source->arena, error->message, strlen(error->message));
	problem = message ? fw_vec_push(&source->problems) : NULL;
	if (!problem) {
		source->problems_dropped++;
		return;
	}
	*problem = (struct fw_binary_problem){ where, error->code, message };
}

/* Labels and containers of the jobs added since first. */
static void place_jobs(struct fw_source *source, size_t first, const char *label, uint64_t offset)
{
	struct fw_job *jobs = source->jobs.data;

	for (size_t i = first; i < source->jobs.len; i++) {
		jobs[i].image.source = label;
		jobs[i].image.offset = offset;
		jobs[i].image.container = source->containers;
	}
	source->containers++;
}

/* Every container in bytes, which begin at base of the file or member that label names. */
static fw_status scan_fatbins(struct fw_source *source, const char *label, struct fw_span bytes,
			      uint64_t base, struct fw_error *err)
{
	struct fw_fatbin fatbin = { 0 };
	enum fw_fatbin_find find;
	size_t at = 0;

	while ((find = fw_fatbin_next(bytes, &at, &fatbin)) != FW_FATBIN_NONE) {
		size_t first = source->jobs.len;
		struct fw_error error;
		fw_status status = FW_OK;

		if (find == FW_FATBIN_DAMAGED)
			status = fw_fail(&error, FW_ERR_FORMAT, "fatbin at %#llx is damaged",
					 (unsigned long long)(base + fatbin.offset));
		else
			status = fw_fatbin_entries(&source->jobs, &fatbin, &error);
		if (status == FW_ERR_NOMEM)
			return fw_fail(err, status, "%s", error.message);
		if (status != FW_OK)
			fw_source_problem(source, label, &error);
		place_jobs(source, first, label, base + fatbin.offset);
	}
	return FW_OK;
}

static fw_status add_bare(struct fw_source *source, const char *label, enum fw_image_kind kind,
			  struct fw_span bytes, struct fw_error *err)
{
	struct fw_job *job = fw_vec_push(&source->jobs);

	if (!job)
		return fw_fail_nomem(err, sizeof(*job));
	job->packed = bytes;
	job->image.kind = kind;
	job->image.bytes = bytes.size;
	job->image.target.cc = FW_UNKNOWN;
	job->image.abi = job->image.toolkit = job->image.ptx_version = FW_UNKNOWN;
	place_jobs(source, source->jobs.len - 1, label, 0);
	return FW_OK;
}

static int compare_offsets(const void *a, const void *b)
{
	const struct fw_section *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->size > y->size) - (x->size < y->size);
}

/* The sections that have bytes of the program's own, in the order of the file. */
static fw_status list_sections(struct fw_source *source, const char *label,
			       const struct fw_elf *elf, struct fw_vec *sections)
{
	struct fw_error error;

	for (uint32_t i = 1; i < elf->section_count; i++) {
		struct fw_section section = fw_elf_section(elf, i), *place;
		struct fw_span bytes;

		if (section.type != FW_SECTION_PROGBITS || !section.size)
			continue;
		if (fw_elf_bytes(elf, &section, &bytes, &error) != FW_OK) {
			fw_source_problem(source, label, &error);
			continue;
		}
		place = fw_vec_push(sections);
		if (!place)
			return FW_ERR_NOMEM;
		*place = section;
	}
	if (sections->len)
		qsort(sections->data, sections->len, sizeof(struct fw_section), compare_offsets);
	return FW_OK;
}

/* A label is made only for sections that have something. */
static fw_status scan_section(struct fw_source *source, const char *label, const struct fw_elf *elf,
			      const struct fw_section *section, struct fw_error *err)
{
	size_t first = source->jobs.len, first_problem = source->problems.len;
	const char *name = fw_elf_string(elf->names, section->name), *full = label;
	struct fw_span bytes;
	struct fw_job *jobs;
	fw_status status;

	if (!fw_span_part(elf->file, section->offset, section->size, &bytes))
		return FW_OK;
	status = scan_fatbins(source, label, bytes, section->offset, err);
	/* Programs that make fatbins have the first half of the header in their code. */
	if (section->flags & FW_SECTION_EXECUTABLE)
		source->problems.len = first_problem;
	jobs = source->jobs.data;
	if (first < source->jobs.len || first_problem < source->problems.len)
		full = fw_arena_printf(&source->arena, "%s:%.200s", label, name ? name : "?");
	if (!full)
		return fw_fail_nomem(err, strlen(label));
	for (size_t i = first; i < source->jobs.len; i++)
		jobs[i].image.source = full;
	for (size_t i = first_problem; i < source->problems.len; i++)
		((struct fw_binary_problem *)source->problems.data)[i].source = full;
	return status;
}

/* Each byte is looked at once, however the sections overlap. */
static fw_status scan_sections(struct fw_source *source, const char *label,
			       const struct fw_elf *elf, struct fw_error *err)
{
	struct fw_vec sections = FW_VEC(struct fw_section);
	fw_status status = list_sections(source, label, elf, &sections);
	uint64_t done = 0;

	if (status != FW_OK)
		fw_fail_nomem(err, sizeof(struct fw_section));
	for (size_t i = 0; status == FW_OK && i < sections.len; i++) {
		struct fw_section section = ((struct fw_section *)sections.data)[i];
		uint64_t end = section.offset + section.size;

		if (end <= done)
			continue;
		if (section.offset < done) {
			section.size = end - done;
			section.offset = done;
		}
		status = scan_section(source, label, elf, &section, err);
		done = end;
	}
	fw_vec_release(&sections);
	return status;
}

static fw_status scan_elf(struct fw_source *source, const char *label, struct fw_span bytes,
			  struct fw_error *err)
{
	struct fw_elf elf;
	fw_status status = fw_elf_open(&elf, bytes, err);

	if (status != FW_OK)
		return status;
	if (elf.machine == FW_ELF_MACHINE_CUDA)
		return add_bare(source, label, FW_IMAGE_CUBIN, bytes, err);
	/* Without a section table, as after sstrip, any byte may begin a fatbin. */
	if (!elf.section_count)
		return scan_fatbins(source, label, bytes, 0, err);
	return scan_sections(source, label, &elf, err);
}

static bool is_fatbin(struct fw_span start)
{
	return fw_span_starts(start, "\x50\xed\x55\xba", 4);
}

bool fw_source_is_readable(struct fw_span start)
{
	return fw_is_elf(start) || is_fatbin(start) || fw_is_archive(start) || fw_is_ptx(start);
}

/* What a file or an archive's member may be, without the archive itself. */
static fw_status scan_plain(struct fw_source *source, const char *label, struct fw_span bytes,
			    struct fw_error *err)
{
	if (fw_is_elf(bytes))
		return scan_elf(source, label, bytes, err);
	if (is_fatbin(bytes))
		return scan_fatbins(source, label, bytes, 0, err);
	if (fw_is_ptx(bytes))
		return add_bare(source, label, FW_IMAGE_PTX, bytes, err);
	return fw_fail(err, FW_ERR_UNSUPPORTED,
		       "not a cubin, fatbin, PTX, ELF file, archive, wheel or folder");
}

static fw_status scan_archive(struct fw_source *source, struct fw_span bytes, struct fw_error *err)
{
	struct fw_archive archive = { .file = bytes };
	struct fw_archive_member member;
	struct fw_error error;
	fw_status status;

	while (fw_archive_next(&archive, &member, &status, &error)) {
		const char *label;

		if (!fw_source_is_readable(member.bytes) || fw_is_archive(member.bytes))
			continue;
		label = fw_arena_printf(&source->arena, "%s:%.*s", source->label,
					(int)(member.name_len < 1000 ? member.name_len : 1000),
					member.name);
		if (!label)
			return fw_fail_nomem(err, member.name_len);
		status = scan_plain(source, label, member.bytes, &error);
		if (status == FW_ERR_NOMEM)
			return fw_fail(err, status, "%s", error.message);
		if (status != FW_OK)
			fw_source_problem(source, label, &error);
	}
	if (status != FW_OK)
		fw_source_problem(source, source->label, &error);
	return FW_OK;
}

fw_status fw_source_scan(struct fw_source *source, struct fw_error *err)
{
	if (fw_is_thin_archive(source->bytes))
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "a thin archive holds only the paths of its members: name them");
	if (fw_is_archive(source->bytes))
		return scan_archive(source, source->bytes, err);
	return scan_plain(source, source->label, source->bytes, err);
}
