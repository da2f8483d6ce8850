#ifndef FW_BINARY_PTX_H
#define FW_BINARY_PTX_H

#include "binary/ptx_lex.h"
#include "binary/reader.h"

/* Who may use a name: this module, also others (.visible, .weak), or it is another's (.extern). */
enum fw_ptx_linkage { FW_PTX_STATIC, FW_PTX_GLOBAL, FW_PTX_EXTERN };

/* A variable in shared memory. */
struct fw_ptx_var {
	uint64_t bytes, align;
	enum fw_ptx_linkage linkage;
	bool is_dynamic;   /* sized by the launch */
	uint32_t function; /* + 1, whose body declares it; 0: the module */
	uint32_t seen_by;  /* function + 1 that last named it, so that it is listed once */
};

/* A function or kernel: what its own body says, and what it names. */
struct fw_ptx_func {
	size_t kernel; /* in fw_reader.found; SIZE_MAX: not a kernel */
	uint32_t first_ref, ref_count;
	int barriers; /* of its own, FW_UNKNOWN where the hardware's are not told */
	bool has_body, is_builtin, has_setmaxnreg, has_indirect_call;
	int tcgen05;
	uint32_t seen_by, visited_by;
};

/* A reference to variable or function number n. */
#define FW_PTX_FUNC_REF 0x80000000u

/* What is known of the text while it is read. */
struct fw_ptx_module {
	struct fw_reader *reader;
	struct fw_image *image;
	struct fw_ptx_lexer lexer;
	struct fw_vec vars, funcs, refs, symbols; /* refs: uint32_t, grouped by function */
	uint32_t *slots;                          /* symbol + 1 by hash of its name */
	size_t slot_count;
	uint64_t lengths;                 /* bit n: a name has n bytes (modulo 64) */
	uint32_t function;                /* whose body is read, + 1; 0 outside */
	enum fw_ptx_linkage body_linkage; /* of its variables: a kernel's own are static */
	uint64_t dynamic_align; /* of the launch-sized memory, which pads every kernel's; 0: none */
	bool has_shared_func;   /* a function that is no kernel has shared memory of its own */
};

void fw_ptx_names_init(struct fw_ptx_module *module);
void fw_ptx_names_release(struct fw_ptx_module *module);

/* A name of the module; *ref is what it stands for. false: memory is out. */
bool fw_ptx_define(struct fw_ptx_module *module, const struct fw_ptx_token *name, uint32_t ref);
bool fw_ptx_lookup(const struct fw_ptx_module *module, const struct fw_ptx_token *name,
		   uint32_t *ref);

/* Notes that the function being read names ref. */
bool fw_ptx_refer(struct fw_ptx_module *module, uint32_t ref);

/* The rest of a declaration, after .shared up to the semicolon. */
fw_status fw_ptx_shared(struct fw_ptx_module *module, enum fw_ptx_linkage linkage,
			struct fw_error *err);

/* A function's body, after its opening brace up to the closing one. */
fw_status fw_ptx_body(struct fw_ptx_module *module, struct fw_error *err);

/* Shared memory, barriers and the like of each kernel, over all it calls. */
fw_status fw_ptx_link(struct fw_ptx_module *module, struct fw_error *err);

static inline struct fw_ptx_func *fw_ptx_function(const struct fw_ptx_module *module)
{
	return (struct fw_ptx_func *)module->funcs.data + (module->function - 1);
}

#endif
