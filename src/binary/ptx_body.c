/* The body of a PTX function: barriers, calls, and the names it uses. */
#include "binary/ptx.h"

/* Named barriers of a block; an id in a register may be any of them. */
#define BARRIER_COUNT 16

static bool next_is(struct fw_ptx_lexer *lexer, enum fw_ptx_kind kind, struct fw_ptx_token *token)
{
	struct fw_ptx_lexer ahead = *lexer;

	*token = fw_ptx_next(&ahead);
	if (token->kind != kind)
		return false;
	*lexer = ahead;
	return true;
}

/* bar and barrier: `bar.sync a`, `bar.red.popc.u32 d, a`; .warp and .cluster are not named ones. */
static void read_barrier(struct fw_ptx_func *func, struct fw_ptx_lexer lexer)
{
	struct fw_ptx_token token;
	bool has_result = false;
	uint64_t id;

	while (next_is(&lexer, FW_PTX_DIRECTIVE, &token)) {
		if (fw_ptx_is(&token, ".warp"))
			return;
		/* The compiler may take a named one to build this: how many is not in the text. */
		if (fw_ptx_is(&token, ".cluster"))
			func->barriers = FW_UNKNOWN;
		if (fw_ptx_is(&token, ".cluster"))
			return;
		has_result |= fw_ptx_is(&token, ".red");
	}
	if (func->barriers < 0)
		return;
	if (has_result) {
		fw_ptx_next(&lexer);
		fw_ptx_next(&lexer);
	}
	token = fw_ptx_next(&lexer);
	if (!fw_ptx_number(&token, &id))
		func->barriers = BARRIER_COUNT;
	else if (id >= BARRIER_COUNT)
		func->barriers = FW_UNKNOWN;
	else if ((int)id >= func->barriers)
		func->barriers = (int)id + 1;
}

/*
 * `call (result), target, (arguments)`: a target in a register may be any function. Registers need no
 * percent sign, so what is no function declared before is one.
 */
static void read_call(const struct fw_ptx_module *module, struct fw_ptx_func *func,
		      struct fw_ptx_lexer lexer)
{
	struct fw_ptx_token token;
	uint32_t ref;

	while (next_is(&lexer, FW_PTX_DIRECTIVE, &token))
		;
	token = fw_ptx_next(&lexer);
	if (fw_ptx_is_mark(&token, '(')) {
		while (token.kind != FW_PTX_END && !fw_ptx_is_mark(&token, ')') &&
		       !fw_ptx_is_mark(&token, ';'))
			token = fw_ptx_next(&lexer);
		fw_ptx_next(&lexer);
		token = fw_ptx_next(&lexer);
	}
	if (!fw_ptx_lookup(module, &token, &ref) || !(ref & FW_PTX_FUNC_REF))
		func->has_indirect_call = true;
}

/* `tcgen05.alloc.cta_group::1...` */
static void read_tcgen05(struct fw_ptx_func *func, struct fw_ptx_lexer lexer)
{
	struct fw_ptx_token token = { FW_PTX_NAME, "", 0 };

	while (token.kind != FW_PTX_END && !fw_ptx_is_mark(&token, ';')) {
		token = fw_ptx_next(&lexer);
		if (!fw_ptx_is(&token, ".cta_group"))
			continue;
		fw_ptx_next(&lexer);
		fw_ptx_next(&lexer);
		token = fw_ptx_next(&lexer);
		if (fw_ptx_is(&token, "2"))
			func->tcgen05 = 2;
		else if (!func->tcgen05)
			func->tcgen05 = 1;
		return;
	}
}

static void read_opcode(struct fw_ptx_module *module, const struct fw_ptx_token *opcode)
{
	struct fw_ptx_func *func = fw_ptx_function(module);

	switch (opcode->text[0]) {
	case 'b':
		if (fw_ptx_is(opcode, "bar") || fw_ptx_is(opcode, "barrier"))
			read_barrier(func, module->lexer);
		break;
	case 'c':
		if (fw_ptx_is(opcode, "call"))
			read_call(module, func, module->lexer);
		break;
	case 's':
		if (fw_ptx_is(opcode, "setmaxnreg"))
			func->has_setmaxnreg = true;
		break;
	case 't':
		if (fw_ptx_is(opcode, "tcgen05"))
			read_tcgen05(func, module->lexer);
		break;
	default: break;
	}
}

/* Everything up to the semicolon that may name a variable or a function. */
static bool read_operands(struct fw_ptx_module *module)
{
	struct fw_ptx_token token = fw_ptx_next_name(&module->lexer);
	uint32_t ref;

	for (; token.kind == FW_PTX_NAME; token = fw_ptx_next_name(&module->lexer)) {
		if (fw_ptx_lookup(module, &token, &ref) && !fw_ptx_refer(module, ref))
			return false;
	}
	/* Braces inside a statement (vectors, nested blocks) are counted by the caller. */
	if (token.kind == FW_PTX_MARK && *token.text != ';')
		module->lexer.at = token.text;
	return true;
}

static void skip_numbers(struct fw_ptx_lexer *lexer)
{
	struct fw_ptx_token token;

	while (next_is(lexer, FW_PTX_NUMBER, &token))
		;
}

/* `.loc 1 20 5, function_name $L__info_string0+12, inlined_at 1 7 3`, which no semicolon ends. */
static void skip_location(struct fw_ptx_lexer *lexer)
{
	struct fw_ptx_token token;

	skip_numbers(lexer);
	while (next_is(lexer, FW_PTX_MARK, &token)) {
		struct fw_ptx_lexer ahead = *lexer;

		if (!fw_ptx_is_mark(&token, ',') && !fw_ptx_is_mark(&token, '+')) {
			lexer->at = token.text;
			return;
		}
		token = fw_ptx_next(&ahead);
		if (fw_ptx_is(&token, "function_name"))
			fw_ptx_next(&ahead);
		if (token.kind == FW_PTX_NAME)
			*lexer = ahead;
		skip_numbers(lexer);
	}
}

/* One statement that begins with token. */
static fw_status read_statement(struct fw_ptx_module *module, struct fw_ptx_token token,
				struct fw_error *err)
{
	enum fw_ptx_linkage linkage = FW_PTX_STATIC;

	if (fw_ptx_is_mark(&token, '@')) {
		token = fw_ptx_next(&module->lexer);
		if (fw_ptx_is_mark(&token, '!'))
			token = fw_ptx_next(&module->lexer);
		token = fw_ptx_next(&module->lexer);
	}
	if (token.kind == FW_PTX_DIRECTIVE) {
		while (fw_ptx_is(&token, ".extern") || fw_ptx_is(&token, ".visible")) {
			linkage = token.text[1] == 'e' ? FW_PTX_EXTERN : FW_PTX_GLOBAL;
			token = fw_ptx_next(&module->lexer);
		}
		if (fw_ptx_is(&token, ".loc")) {
			skip_location(&module->lexer);
			return FW_OK;
		}
		if (fw_ptx_is(&token, ".shared"))
			return fw_ptx_shared(module, linkage, err);
	} else if (token.kind == FW_PTX_NAME) {
		/* A label. */
		if (fw_ptx_skip_colon(&module->lexer))
			return FW_OK;
		read_opcode(module, &token);
	}
	if (!read_operands(module))
		return fw_fail(err, FW_ERR_NOMEM, "out of memory");
	return FW_OK;
}

fw_status fw_ptx_body(struct fw_ptx_module *module, struct fw_error *err)
{
	size_t depth = 1;
	fw_status status = FW_OK;

	while (status == FW_OK && depth) {
		struct fw_ptx_token token = fw_ptx_next(&module->lexer);

		if (token.kind == FW_PTX_END)
			return fw_fail(err, FW_ERR_FORMAT, "text ends inside a function");
		if (fw_ptx_is_mark(&token, '{'))
			depth++;
		else if (fw_ptx_is_mark(&token, '}'))
			depth--;
		else if (!fw_ptx_is_mark(&token, ';'))
			status = read_statement(module, token, err);
	}
	return status;
}
