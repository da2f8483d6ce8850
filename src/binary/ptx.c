/* PTX text -> its kernels with what the text fixes: launch bounds, shared memory, barriers. */
#include "binary/ptx.h"

#include "base/map.h"

/* Functions that the driver supplies; they take neither shared memory nor barriers. */
static bool is_builtin(const struct fw_ptx_token *name)
{
	static const char *const names[] = { "vprintf", "__assertfail", "malloc", "free",
					     "__assert_fail" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (fw_ptx_is(name, names[i]))
			return true;
	}
	return false;
}

static fw_status fail_at(const struct fw_ptx_module *module, const char *what,
			 const struct fw_ptx_token *token, struct fw_error *err)
{
	return fw_fail(err, FW_ERR_FORMAT, "%s, %zu bytes before the end: \"%.*s\"", what,
		       (size_t)(module->lexer.end - token->text),
		       (int)(token->len < 40 ? token->len : 40), token->text);
}

/* Numbers separated by commas; those left out are 1. */
static void read_dimensions(struct fw_ptx_module *module, int dims[3])
{
	for (size_t i = 0; i < 3; i++)
		dims[i] = 1;
	for (size_t i = 0; i < 3; i++) {
		struct fw_ptx_token token = fw_ptx_next(&module->lexer);
		struct fw_ptx_lexer ahead;
		uint64_t value;

		dims[i] = fw_ptx_number(&token, &value) && value <= INT32_MAX ? (int)value
									      : FW_UNKNOWN;
		ahead = module->lexer;
		token = fw_ptx_next(&ahead);
		if (!fw_ptx_is_mark(&token, ','))
			return;
		module->lexer = ahead;
	}
}

static int read_number(struct fw_ptx_module *module)
{
	struct fw_ptx_token token = fw_ptx_next(&module->lexer);
	uint64_t value;

	return fw_ptx_number(&token, &value) && value <= INT32_MAX ? (int)value : FW_UNKNOWN;
}

/* `.pragma "a", "b";` stands between directives; its semicolon does not end the declaration. */
static void skip_pragma(struct fw_ptx_module *module)
{
	struct fw_ptx_token token = fw_ptx_next(&module->lexer);

	while (token.kind == FW_PTX_STRING || fw_ptx_is_mark(&token, ','))
		token = fw_ptx_next(&module->lexer);
}

/* One word between a kernel's parameters and its body. */
static void read_performance_directive(struct fw_ptx_module *module, struct fw_kernel *kernel,
				       const struct fw_ptx_token *token)
{
	if (fw_ptx_is(token, ".maxntid"))
		read_dimensions(module, kernel->max_threads);
	else if (fw_ptx_is(token, ".reqntid"))
		read_dimensions(module, kernel->required_threads);
	else if (fw_ptx_is(token, ".minnctapersm"))
		kernel->min_blocks = read_number(module);
	else if (fw_ptx_is(token, ".maxnreg"))
		kernel->register_cap = read_number(module);
	else if (fw_ptx_is(token, ".reqnctapercluster"))
		read_dimensions(module, kernel->cluster);
	else if (fw_ptx_is(token, ".maxclusterrank"))
		kernel->max_cluster_rank = read_number(module);
	else if (fw_ptx_is(token, ".explicitcluster"))
		kernel->has_explicit_cluster = true;
	else if (fw_ptx_is(token, ".blocksareclusters"))
		kernel->blocks_are_clusters = true;
	else if (fw_ptx_is(token, ".pragma"))
		skip_pragma(module);
}

static void skip_parentheses(struct fw_ptx_module *module)
{
	size_t depth = 1;

	while (depth) {
		struct fw_ptx_token token = fw_ptx_next(&module->lexer);

		if (token.kind == FW_PTX_END)
			return;
		if (fw_ptx_is_mark(&token, '('))
			depth++;
		else if (fw_ptx_is_mark(&token, ')'))
			depth--;
	}
}

/* The function's number: a definition takes over what its declaration got. */
static fw_status define_function(struct fw_ptx_module *module, const struct fw_ptx_token *name,
				 uint32_t *number, struct fw_error *err)
{
	struct fw_ptx_func *func;
	uint32_t ref;

	if (fw_ptx_lookup(module, name, &ref) && ref & FW_PTX_FUNC_REF) {
		*number = ref & ~FW_PTX_FUNC_REF;
		return FW_OK;
	}
	*number = (uint32_t)module->funcs.len;
	func = fw_vec_push(&module->funcs);
	if (!func)
		return fw_fail_nomem(err, sizeof(*func));
	func->kernel = SIZE_MAX;
	func->is_builtin = is_builtin(name);
	if (!fw_ptx_define(module, name, *number | FW_PTX_FUNC_REF))
		return fw_fail_nomem(err, name->len);
	return FW_OK;
}

/* The kernel whose name and bounds were read takes its place in the result. */
static fw_status add_kernel(struct fw_ptx_module *module, const struct fw_ptx_token *name,
			    const struct fw_kernel *bounds, struct fw_error *err)
{
	struct fw_found *found;
	char *text;

	if (name->len >= FW_NAME_MAX)
		return fail_at(module, "name too long", name, err);
	text = fw_arena_strndup(&module->reader->arena, name->text, name->len);
	found = text ? fw_reader_add(module->reader, module->image) : NULL;
	if (!found)
		return fw_fail_nomem(err, name->len);
	found->hash = fw_hash_bytes(text, name->len);
	found->kernel.name = text;
	found->kernel.min_blocks = bounds->min_blocks;
	found->kernel.register_cap = bounds->register_cap;
	found->kernel.max_cluster_rank = bounds->max_cluster_rank;
	found->kernel.has_explicit_cluster = bounds->has_explicit_cluster;
	found->kernel.blocks_are_clusters = bounds->blocks_are_clusters;
	memcpy(found->kernel.max_threads, bounds->max_threads, sizeof(bounds->max_threads));
	memcpy(found->kernel.required_threads, bounds->required_threads,
	       sizeof(bounds->required_threads));
	memcpy(found->kernel.cluster, bounds->cluster, sizeof(bounds->cluster));
	fw_ptx_function(module)->kernel = module->reader->found.len - 1;
	return FW_OK;
}

static fw_status read_definition(struct fw_ptx_module *module, const struct fw_ptx_token *name,
				 const struct fw_kernel *bounds, struct fw_error *err)
{
	struct fw_ptx_func *func;
	uint32_t number;
	fw_status status = define_function(module, name, &number, err);

	if (status != FW_OK)
		return status;
	func = (struct fw_ptx_func *)module->funcs.data + number;
	if (func->has_body)
		return fail_at(module, "defined twice", name, err);
	func->has_body = true;
	func->first_ref = (uint32_t)module->refs.len;
	module->function = number + 1;
	if (bounds)
		status = add_kernel(module, name, bounds, err);
	if (status == FW_OK)
		status = fw_ptx_body(module, err);
	module->function = 0;
	return status;
}

/* After .entry or .func: name, parameters, directives, then a body or a semicolon. */
static fw_status read_function(struct fw_ptx_module *module, bool is_entry,
			       enum fw_ptx_linkage linkage, struct fw_error *err)
{
	struct fw_kernel bounds = {
		.min_blocks = FW_UNKNOWN,
		.register_cap = FW_UNKNOWN,
		.max_cluster_rank = FW_UNKNOWN,
		.max_threads = { FW_UNKNOWN, FW_UNKNOWN, FW_UNKNOWN },
		.required_threads = { FW_UNKNOWN, FW_UNKNOWN, FW_UNKNOWN },
		.cluster = { FW_UNKNOWN, FW_UNKNOWN, FW_UNKNOWN },
	};
	struct fw_ptx_token name = { FW_PTX_END, module->lexer.at, 0 };
	uint32_t number;

	module->body_linkage = is_entry ? FW_PTX_STATIC : linkage;
	for (;;) {
		struct fw_ptx_token token = fw_ptx_next(&module->lexer);

		if (token.kind == FW_PTX_END)
			return fw_fail(err, FW_ERR_FORMAT, "text ends inside a declaration");
		if (fw_ptx_is_mark(&token, '('))
			skip_parentheses(module);
		else if (token.kind == FW_PTX_DIRECTIVE)
			read_performance_directive(module, &bounds, &token);
		else if ((token.kind == FW_PTX_NAME || token.kind == FW_PTX_REGISTER) && !name.len)
			name = token;
		else if (fw_ptx_is_mark(&token, '{') && name.len)
			return read_definition(module, &name, is_entry ? &bounds : NULL, err);
		else if (fw_ptx_is_mark(&token, ';') && name.len)
			return define_function(module, &name, &number, err);
		else if (token.kind == FW_PTX_MARK && !fw_ptx_is_mark(&token, ','))
			return fail_at(module, "damaged declaration", &token, err);
	}
}

/* "sm_90a": the first word after .target. */
static void read_target(struct fw_ptx_module *module)
{
	struct fw_ptx_token token = fw_ptx_next(&module->lexer);
	struct fw_target target = { 0 };

	if (token.len < 4 || memcmp(token.text, "sm_", 3) != 0)
		return;
	for (size_t i = 3; i < token.len; i++) {
		if (token.text[i] >= '0' && token.text[i] <= '9' && target.cc < 1000)
			target.cc = target.cc * 10 + (token.text[i] - '0');
		else
			target.suffix = token.text[i];
	}
	if (target.suffix != 'a' && target.suffix != 'f')
		target.suffix = 0;
	if (target.cc)
		module->image->target = target;
}

/* "9.0" is two words: 9 and .0. */
static void read_version(struct fw_ptx_module *module)
{
	int major = read_number(module);
	struct fw_ptx_token token = fw_ptx_next(&module->lexer);

	if (major < 0 || major > 999 || token.kind != FW_PTX_DIRECTIVE || token.len != 2 ||
	    token.text[1] < '0' || token.text[1] > '9')
		return;
	module->image->ptx_version = major * 10 + (token.text[1] - '0');
}

static fw_status read_module(struct fw_ptx_module *module, struct fw_error *err)
{
	enum fw_ptx_linkage linkage = FW_PTX_STATIC;
	fw_status status = FW_OK;

	while (status == FW_OK) {
		struct fw_ptx_token token = fw_ptx_next(&module->lexer);

		if (token.kind == FW_PTX_END)
			break;
		if (fw_ptx_is(&token, ".extern")) {
			linkage = FW_PTX_EXTERN;
		} else if (fw_ptx_is(&token, ".visible") || fw_ptx_is(&token, ".weak")) {
			linkage = FW_PTX_GLOBAL;
		} else if (fw_ptx_is(&token, ".version")) {
			read_version(module);
		} else if (fw_ptx_is(&token, ".target")) {
			read_target(module);
		} else if (fw_ptx_is(&token, ".shared")) {
			status = fw_ptx_shared(module, linkage, err);
			linkage = FW_PTX_STATIC;
		} else if (fw_ptx_is(&token, ".entry") || fw_ptx_is(&token, ".func")) {
			status = read_function(module, token.text[1] == 'e', linkage, err);
			linkage = FW_PTX_STATIC;
		} else if (fw_ptx_is_mark(&token, ';')) {
			linkage = FW_PTX_STATIC;
		}
	}
	return status == FW_OK ? fw_ptx_link(module, err) : status;
}

fw_status fw_ptx_read(struct fw_reader *reader, struct fw_image *image, struct fw_span text,
		      struct fw_error *err)
{
	struct fw_ptx_module module = {
		.reader = reader,
		.image = image,
		.vars = FW_VEC(struct fw_ptx_var),
		.funcs = FW_VEC(struct fw_ptx_func),
		.refs = FW_VEC(uint32_t),
	};
	size_t first = reader->found.len;
	fw_status status;

	if (!text.size)
		return fw_fail(err, FW_ERR_FORMAT, "no text");
	module.lexer.at = (const char *)text.data;
	module.lexer.end = module.lexer.at + text.size;
	fw_ptx_names_init(&module);
	status = read_module(&module, err);
	if (status != FW_OK)
		reader->found.len = first;
	fw_vec_release(&module.vars);
	fw_vec_release(&module.funcs);
	fw_vec_release(&module.refs);
	fw_ptx_names_release(&module);
	return status;
}

bool fw_is_ptx(struct fw_span text)
{
	struct fw_ptx_lexer lexer;
	struct fw_ptx_token token;

	if (!text.size)
		return false;
	lexer.at = (const char *)text.data;
	lexer.end = lexer.at + text.size;
	token = fw_ptx_next(&lexer);
	return fw_ptx_is(&token, ".version");
}
