/* A .cu file's comment lines to a specification. */
#include "tune/spec_item.h"

#include "base/file.h"
#include "base/str.h"
#include "tune/nearest.h"

#include <string.h>

#define MAX_SOURCE ((size_t)16 << 20)

/* "kernel NAME", NAME as in the source: to the end, or to len. */
static fw_status read_kernel_name(struct fw_tune_cursor *c, size_t len, const char **name)
{
	const char *text;

	if (*name)
		return fw_tune_cursor_fail(c, "there is one already");
	while (len && (*(text = c->item->text + c->at) == ' ' || *text == '\t')) {
		c->at++;
		len--;
	}
	text = c->item->text + c->at;
	while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	if (!len || len > 1000)
		return fw_tune_cursor_fail(c, "the kernel's name is missing or too long");
	*name = fw_arena_strndup(&c->reader->spec->arena, text, len);
	c->at += len;
	return *name ? FW_OK : fw_fail_nomem(c->reader->err, len + 1);
}

static fw_status read_kernel(struct fw_tune_cursor *c)
{
	return read_kernel_name(c, fw_tune_cursor_left(c), &c->reader->spec->kernel);
}

/* "= E, E, E" up to len. */
static fw_status read_extents(struct fw_tune_cursor *c, size_t len, struct fw_tune_expr exprs[3])
{
	size_t end = c->at + len;
	fw_status status;

	if (exprs[0].text)
		return fw_tune_cursor_fail(c, "it is given twice");
	status = fw_tune_cursor_expect(c, "=");
	return status ? status : fw_tune_cursor_exprs(c, c->at < end ? end - c->at : 0, exprs);
}

static fw_status read_grid(struct fw_tune_cursor *c)
{
	return read_extents(c, fw_tune_cursor_left(c), c->reader->spec->grid);
}

static fw_status read_block(struct fw_tune_cursor *c)
{
	return read_extents(c, fw_tune_cursor_left(c), c->reader->spec->block);
}

static fw_status read_smem(struct fw_tune_cursor *c)
{
	struct fw_tune_expr *smem = &c->reader->spec->dynamic_smem;
	fw_status status;

	if (smem->text)
		return fw_tune_cursor_fail(c, "smem is given twice");
	status = fw_tune_cursor_expect(c, "=");
	return status ? status : fw_tune_cursor_expr(c, fw_tune_cursor_left(c), smem);
}

static fw_status read_where(struct fw_tune_cursor *c)
{
	struct fw_tune_expr expr, *slot;
	fw_status status = fw_tune_cursor_expr(c, fw_tune_cursor_left(c), &expr);

	if (status)
		return status;
	slot = fw_vec_push(&c->reader->wheres);
	if (!slot)
		return fw_fail_nomem(c->reader->err, sizeof(*slot));
	*slot = expr;
	return FW_OK;
}

/* Bytes from the cursor to the word, or to the end. */
static size_t length_to_word(const struct fw_tune_cursor *c, const char *word)
{
	struct fw_tune_cursor ahead = *c;
	size_t len;

	while (fw_tune_cursor_peek(&ahead)) {
		size_t start = ahead.at;
		const char *text = fw_tune_cursor_word(&ahead, &len);

		if (len == strlen(word) && !memcmp(text, word, len))
			return start - c->at;
		if (!len)
			ahead.at++;
	}
	return fw_tune_cursor_left(c);
}

/* reference kernel NAME grid = E, E, E block = E, E, E */
static fw_status read_reference(struct fw_tune_cursor *c)
{
	struct fw_tune_spec *spec = c->reader->spec;
	fw_status status;

	fw_tune_cursor_accept_word(c, "kernel");
	status = read_kernel_name(c, length_to_word(c, "grid"), &spec->reference);
	if (!status && !fw_tune_cursor_accept_word(c, "grid"))
		return fw_tune_cursor_fail(c, "'grid =' is missing");
	if (!status)
		status = read_extents(c, length_to_word(c, "block"), spec->reference_grid);
	if (!status && !fw_tune_cursor_accept_word(c, "block"))
		return fw_tune_cursor_fail(c, "'block =' is missing");
	return status ? status : read_extents(c, fw_tune_cursor_left(c), spec->reference_block);
}

/* Names come first, so that the lines may stand in any order. */
enum pass { NAMES, REST, PASSES };

static const struct keyword {
	const char *word;
	enum pass pass;
	fw_status (*read)(struct fw_tune_cursor *c);
} keywords[] = {
	{ "param", NAMES, fw_tune_read_param }, { "set", NAMES, fw_tune_read_set },
	{ "kernel", REST, read_kernel },        { "grid", REST, read_grid },
	{ "block", REST, read_block },          { "smem", REST, read_smem },
	{ "where", REST, read_where },          { "arg", REST, fw_tune_read_arg },
	{ "check", REST, fw_tune_read_check },  { "flags", REST, fw_tune_read_flags },
	{ "reference", REST, read_reference },
};

#define N_KEYWORDS (sizeof(keywords) / sizeof(*keywords))

static fw_status unknown_keyword(struct fw_tune_cursor *c, const char *word, size_t len)
{
	struct fw_tune_nearest nearest = { .name = word, .len = len };

	c->at = 0;
	for (size_t i = 0; i < N_KEYWORDS; i++)
		fw_tune_nearest_try(&nearest, keywords[i].word);
	if (nearest.best)
		return fw_tune_cursor_fail(c, "'%.*s' is not known; did you mean '%s'?",
					   (int)(len < 40 ? len : 40), word, nearest.best);
	return fw_tune_cursor_fail(c, "an item begins with kernel grid block smem param where set "
				      "check arg flags or reference");
}

static fw_status read_item(struct fw_tune_reader *reader, const struct fw_tune_item *item,
			   enum pass pass)
{
	struct fw_tune_cursor c = { .reader = reader, .item = item };
	size_t len;
	const char *word = fw_tune_cursor_word(&c, &len);

	for (size_t i = 0; i < N_KEYWORDS; i++)
		if (strlen(keywords[i].word) == len && !memcmp(word, keywords[i].word, len))
			return keywords[i].pass == pass ? keywords[i].read(&c) : FW_OK;
	return unknown_keyword(&c, word, len);
}

static fw_status check_complete(const struct fw_tune_reader *reader)
{
	const struct fw_tune_spec *spec = reader->spec;
	const char *missing = NULL;
	bool has_output = false;

	for (uint32_t i = 0; i < spec->n_args; i++)
		has_output |= spec->args[i].is_output;
	if (!spec->kernel)
		missing = "kernel NAME";
	else if (!spec->grid[0].text)
		missing = "grid = ...";
	else if (!spec->block[0].text)
		missing = "block = ...";
	else if (!spec->space.n_params)
		missing = "param NAME = ...";
	else if (!has_output)
		missing = "an argument marked output or inout, so that results can be checked";
	if (!missing)
		return FW_OK;
	return fw_fail(reader->err, FW_ERR_FORMAT, "%s: the specification lacks: %s", reader->path,
		       missing);
}

/* Whether the source has to be told: it uses the name, and not as a kernel's parameter or template parameter. */
static bool is_macro(const struct fw_tune_spec *spec, const char *code, const char *name)
{
	const char *kernels[] = { spec->kernel, spec->reference };

	for (uint32_t i = 0; i < spec->n_args; i++)
		if (!strcmp(spec->args[i].name, name))
			return false;
	for (int i = 0; i < 2; i++)
		if (kernels[i] && strchr(kernels[i], '<') &&
		    fw_tune_source_mentions(strchr(kernels[i], '<'), name))
			return false;
	return fw_tune_source_mentions(code, name) || fw_tune_source_has_own_includes(code);
}

static void find_macros(struct fw_tune_spec *spec, const char *code)
{
	for (uint32_t i = 0; i < spec->n_sets; i++)
		spec->sets[i].is_macro = is_macro(spec, code, spec->sets[i].name);
	for (uint32_t i = 0; i < spec->space.n_params; i++) {
		struct fw_tune_param *param = &spec->space.params[i];

		if (param->kind == FW_TUNE_MACRO && !is_macro(spec, code, param->name))
			param->kind = FW_TUNE_LAUNCH;
	}
}

static fw_status read_items(struct fw_tune_reader *reader)
{
	fw_status status = fw_tune_items_find(reader);
	const struct fw_tune_item *items = reader->items.data;

	if (!status && !reader->items.len)
		return fw_fail(reader->err, FW_ERR_FORMAT,
			       "%s: there is no '// fullwarp:' line: --init writes a first "
			       "specification, --kernel NAME --n COUNT needs none",
			       reader->path);
	for (int pass = 0; !status && pass < PASSES; pass++)
		for (size_t i = 0; !status && i < reader->items.len; i++)
			status = read_item(reader, &items[i], (enum pass)pass);
	if (!status)
		status = check_complete(reader);
	if (!status)
		find_macros(reader->spec, reader->code);
	return status;
}

fw_status fw_tune_spec_take_source(const char *path, const char *text, size_t bytes,
				   struct fw_tune_spec *spec, struct fw_error *err)
{
	const char *nul = bytes ? memchr(text, '\0', bytes) : NULL;

	if (bytes > MAX_SOURCE)
		return fw_fail(err, FW_ERR_FORMAT, "%s: the source is larger than 16 MB", path);
	if (nul)
		return fw_fail(err, FW_ERR_FORMAT, "%s: byte %zu is NUL: not a source", path,
			       (size_t)(nul - text));
	spec->source_path = fw_arena_strndup(&spec->arena, path, strlen(path));
	spec->source = fw_arena_strndup(&spec->arena, text, bytes);
	spec->source_bytes = bytes;
	return spec->source_path && spec->source ? FW_OK : fw_fail_nomem(err, bytes);
}

fw_status fw_tune_spec_parse_unsealed(const char *path, const char *text, size_t bytes,
				      struct fw_tune_spec *spec, struct fw_error *err)
{
	struct fw_tune_reader reader = { .path = path,
					 .spec = spec,
					 .items = FW_VEC(struct fw_tune_item),
					 .wheres = FW_VEC(struct fw_tune_expr),
					 .err = err };
	fw_status status;

	*spec = (struct fw_tune_spec){ 0 };
	status = fw_tune_spec_take_source(path, text, bytes, spec, err);
	if (!status) {
		reader.code = fw_tune_source_code(&spec->arena, spec->source, bytes, false);
		status = reader.code ? read_items(&reader) : fw_fail_nomem(err, bytes);
	}
	if (!status)
		status = fw_tune_constrain(spec, &reader.wheres, err);
	fw_vec_release(&reader.items);
	fw_vec_release(&reader.wheres);
	if (status)
		fw_tune_spec_free(spec);
	return status;
}

/* Results are compared with those of the default configuration, unless there is a reference. */
static fw_status check_preset(const struct fw_tune_spec *spec, const char *path,
			      struct fw_error *err)
{
	const struct fw_tune_space *space = &spec->space;
	struct fw_tune_config config;
	struct fw_str text = { 0 };
	fw_status status;

	if (spec->reference || fw_tune_space_preset(space, &config))
		return FW_OK;
	for (uint32_t i = 0; i < space->n_params; i++)
		fw_str_printf(&text, "%s%s = %s", i ? ", " : "", space->params[i].name,
			      space->params[i].values[space->params[i].preset].text);
	status = fw_fail(err, FW_ERR_FORMAT,
			 "%s: the default configuration (%.300s) does not satisfy the constraints: "
			 "choose another one with 'default', or give a reference kernel",
			 path, fw_str_text(&text));
	fw_str_release(&text);
	return status;
}

fw_status fw_tune_spec_parse(const char *path, const char *text, size_t bytes,
			     struct fw_tune_spec *spec, struct fw_error *err)
{
	fw_status status = fw_tune_spec_parse_unsealed(path, text, bytes, spec, err);

	if (status)
		return status;
	status = fw_tune_space_seal(&spec->space, err);
	if (status)
		fw_error_prefix(err, "%s", path);
	else
		status = check_preset(spec, path, err);
	if (status)
		fw_tune_spec_free(spec);
	return status;
}

fw_status fw_tune_spec_read(const char *path, struct fw_tune_spec *spec, struct fw_error *err)
{
	struct fw_file file;
	fw_status status = fw_file_open(&file, path, err);

	*spec = (struct fw_tune_spec){ 0 };
	if (status)
		return status;
	status = fw_tune_spec_parse(path, file.data ? (const char *)file.data : "", file.size, spec,
				    err);
	fw_file_close(&file);
	return status;
}

void fw_tune_spec_free(struct fw_tune_spec *spec)
{
	fw_tune_space_free(&spec->space);
	fw_arena_release(&spec->arena);
	*spec = (struct fw_tune_spec){ 0 };
}
