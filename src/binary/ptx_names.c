/* Names of a PTX module (functions, shared variables), and shared variables' declarations. */
#include "binary/ptx.h"

#include "base/map.h"

/* As in the reader of cubins: names made to collide are refused, not searched. */
#define MOST_PROBES 1024

struct symbol {
	const char *text;
	size_t len;
	uint64_t hash;
	uint32_t ref;
};

void fw_ptx_names_init(struct fw_ptx_module *module)
{
	module->symbols = (struct fw_vec)FW_VEC(struct symbol);
}

void fw_ptx_names_release(struct fw_ptx_module *module)
{
	fw_vec_release(&module->symbols);
	free(module->slots);
	module->slots = NULL;
	module->slot_count = 0;
}

static const struct symbol *symbols(const struct fw_ptx_module *module)
{
	return module->symbols.data;
}

/* Where the name is or may go; NULL when all near it is taken. */
static uint32_t *find_slot(const struct fw_ptx_module *module, const struct fw_ptx_token *name,
			   uint64_t hash)
{
	for (size_t probe = 0; probe < MOST_PROBES && probe < module->slot_count; probe++) {
		uint32_t *slot = module->slots + ((hash + probe) & (module->slot_count - 1));
		const struct symbol *symbol;

		if (!*slot)
			return slot;
		symbol = symbols(module) + (*slot - 1);
		if (symbol->hash == hash && symbol->len == name->len &&
		    !memcmp(symbol->text, name->text, name->len))
			return slot;
	}
	return NULL;
}

static bool grow(struct fw_ptx_module *module)
{
	size_t count = module->slot_count ? module->slot_count * 2 : 256;
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return false;
	free(module->slots);
	module->slots = slots;
	module->slot_count = count;
	for (size_t i = 0; i < module->symbols.len; i++) {
		const struct symbol *symbol = symbols(module) + i;
		struct fw_ptx_token name = { FW_PTX_NAME, symbol->text, symbol->len };
		uint32_t *slot = find_slot(module, &name, symbol->hash);

		if (slot)
			*slot = (uint32_t)i + 1;
	}
	return true;
}

bool fw_ptx_define(struct fw_ptx_module *module, const struct fw_ptx_token *name, uint32_t ref)
{
	uint64_t hash = fw_hash_bytes(name->text, name->len);
	struct symbol *symbol;
	uint32_t *slot;

	if (module->symbols.len * 2 >= module->slot_count && !grow(module))
		return false;
	slot = find_slot(module, name, hash);
	if (!slot)
		return true;
	if (*slot) {
		((struct symbol *)module->symbols.data)[*slot - 1].ref = ref;
		return true;
	}
	symbol = fw_vec_push(&module->symbols);
	if (!symbol)
		return false;
	module->lengths |= UINT64_C(1) << (name->len & 63);
	*symbol = (struct symbol){ name->text, name->len, hash, ref };
	*slot = (uint32_t)module->symbols.len;
	return true;
}

bool fw_ptx_lookup(const struct fw_ptx_module *module, const struct fw_ptx_token *name,
		   uint32_t *ref)
{
	uint32_t *slot;

	/* Nearly every word of a text is none of its names, and most have a length that no name has. */
	if (!(module->lengths >> (name->len & 63) & 1))
		return false;
	slot = find_slot(module, name, fw_hash_bytes(name->text, name->len));
	if (!slot || !*slot)
		return false;
	*ref = symbols(module)[*slot - 1].ref;
	return true;
}

bool fw_ptx_refer(struct fw_ptx_module *module, uint32_t ref)
{
	uint32_t number = ref & ~FW_PTX_FUNC_REF, *seen_by, *place;

	if (ref & FW_PTX_FUNC_REF)
		seen_by = &((struct fw_ptx_func *)module->funcs.data)[number].seen_by;
	else
		seen_by = &((struct fw_ptx_var *)module->vars.data)[number].seen_by;
	if (*seen_by == module->function)
		return true;
	*seen_by = module->function;
	place = fw_vec_push(&module->refs);
	if (!place)
		return false;
	*place = ref;
	fw_ptx_function(module)->ref_count++;
	return true;
}

/* Bytes of a fundamental type; 0: not a type. */
static unsigned type_bytes(const struct fw_ptx_token *token)
{
	static const struct {
		const char *name;
		unsigned bytes;
	} types[] = {
		{ ".b8", 1 },  { ".u8", 1 },  { ".s8", 1 },    { ".b16", 2 }, { ".u16", 2 },
		{ ".s16", 2 }, { ".f16", 2 }, { ".bf16", 2 },  { ".b32", 4 }, { ".u32", 4 },
		{ ".s32", 4 }, { ".f32", 4 }, { ".f16x2", 4 }, { ".b64", 8 }, { ".u64", 8 },
		{ ".s64", 8 }, { ".f64", 8 }, { ".b128", 16 },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (fw_ptx_is(token, types[i].name))
			return types[i].bytes;
	}
	return 0;
}

/* The least that ptxas aligns memory sized by the launch to. */
#define DYNAMIC_ALIGN 16

/* No GPU has this much shared memory: larger products are kept here instead of overflowing. */
#define BYTES_MAX (UINT64_C(1) << 40)

/* The dimensions behind a name; *bytes is one element before and the array after. */
static void read_array(struct fw_ptx_lexer *lexer, uint64_t *bytes)
{
	struct fw_ptx_lexer ahead = *lexer;
	struct fw_ptx_token token = fw_ptx_next(&ahead);
	uint64_t n;

	while (fw_ptx_is_mark(&token, '[')) {
		token = fw_ptx_next(&ahead);
		n = 0;
		if (fw_ptx_number(&token, &n))
			token = fw_ptx_next(&ahead);
		if (!fw_ptx_is_mark(&token, ']'))
			return;
		*bytes = n && *bytes > BYTES_MAX / n ? BYTES_MAX : *bytes * n;
		*lexer = ahead;
		token = fw_ptx_next(&ahead);
	}
}

static fw_status add_variable(struct fw_ptx_module *module, const struct fw_ptx_token *name,
			      const struct fw_ptx_var *shape, struct fw_error *err)
{
	uint32_t ref = (uint32_t)module->vars.len;
	struct fw_ptx_var *var = fw_vec_push(&module->vars);

	if (!var)
		return fw_fail_nomem(err, sizeof(*var));
	*var = *shape;
	var->function = module->function;
	if (module->function && var->linkage == FW_PTX_STATIC)
		var->linkage = module->body_linkage;
	read_array(&module->lexer, &var->bytes);
	/* With a size it is a variable of another module, and static; only x[] is sized by the launch. */
	var->is_dynamic = var->linkage == FW_PTX_EXTERN && !var->bytes;
	if (var->is_dynamic && module->dynamic_align < DYNAMIC_ALIGN)
		module->dynamic_align = DYNAMIC_ALIGN;
	if (var->is_dynamic && var->align > module->dynamic_align)
		module->dynamic_align = var->align;
	if (!module->function)
		return fw_ptx_define(module, name, ref) ? FW_OK : fw_fail_nomem(err, name->len);
	/* Memory declared in a body is taken whether or not it is used. */
	if (fw_ptx_function(module)->kernel == SIZE_MAX)
		module->has_shared_func = true;
	return fw_ptx_refer(module, ref) ? FW_OK : fw_fail_nomem(err, sizeof(ref));
}

fw_status fw_ptx_shared(struct fw_ptx_module *module, enum fw_ptx_linkage linkage,
			struct fw_error *err)
{
	struct fw_ptx_var shape = { .linkage = linkage };
	struct fw_ptx_token token;
	uint64_t align = 0;
	unsigned lanes = 1, bytes = 0;
	fw_status status = FW_OK;

	while (status == FW_OK) {
		token = fw_ptx_next(&module->lexer);
		if (token.kind == FW_PTX_END || fw_ptx_is_mark(&token, ';') ||
		    fw_ptx_is_mark(&token, '='))
			break;
		if (fw_ptx_is(&token, ".align")) {
			token = fw_ptx_next(&module->lexer);
			if (!fw_ptx_number(&token, &align) || align > BYTES_MAX)
				return fw_fail(err, FW_ERR_FORMAT, "damaged .align of .shared");
		} else if (fw_ptx_is(&token, ".v2") || fw_ptx_is(&token, ".v4")) {
			lanes = (unsigned)(token.text[2] - '0');
		} else if (token.kind == FW_PTX_DIRECTIVE && !bytes) {
			bytes = type_bytes(&token);
		} else if (token.kind == FW_PTX_NAME && bytes) {
			shape.bytes = (uint64_t)bytes * lanes;
			shape.align = align ? align : shape.bytes;
			status = add_variable(module, &token, &shape, err);
		}
	}
	return status;
}
