/*
 * PTX written for one question each. Expected sizes of shared memory are what ptxas 13.0 printed for
 * the same text; the rest is the text itself, read with the PTX ISA manual.
 */
#include "binary_case.h"

#include "binary/ptx_lex.h"

#define HEAD ".version 9.0\n.target sm_80\n.address_size 64\n"

static struct fw_binary *read_text(const char *text, unsigned char **copy)
{
	struct bytes b = { 0 };
	struct fw_binary *binary;

	put(&b, text, strlen(text));
	binary = read_made(&b, copy);
	for (size_t i = 0; i < binary->problem_count; i++)
		fail_msg("%s", binary->problems[i].message);
	free_bytes(&b);
	return binary;
}

static const struct fw_kernel *find(const struct fw_binary *binary, const char *name)
{
	for (size_t i = 0; i < binary->kernel_count; i++) {
		if (!strcmp(binary->kernels[i].name, name))
			return &binary->kernels[i];
	}
	fail_msg("no kernel %s", name);
	return NULL;
}

static const char layout[] =
	HEAD ".shared .align 1 .b8 g1[7];\n"
	     ".shared .align 16 .b8 g2[16];\n"
	     ".func f(){ .shared .align 1 .b8 fs[100]; mov.u32 %r1, fs; ret; }\n"
	     ".visible .entry k1(.param .u64 p){\n"
	     " .shared .align 1 .b8 s[3]; .shared .align 8 .f64 d;\n"
	     " .shared .align 1 .b8 t[5]; mov.u32 %r1, s; ret; }\n"
	     ".entry k2(.param .u64 p){ mov.u32 %r1, g1; call f; ret; }\n"
	     ".entry k3(){ .shared .align 1 .b8 un[77]; ret; }\n"
	     ".entry k4(){ mov.u32 %r1, g1; st.shared.u8 [g2+4], %r2; ret; }\n"
	     ".entry k5(){ ret; }\n";

static void shared_memory_is_laid_out_as_by_ptxas(void **state)
{
	unsigned char *copy;
	struct fw_binary *binary = read_text(layout, &copy);

	(void)state;
	assert_int_equal(find(binary, "k1")->static_smem, 21);
	assert_int_equal(find(binary, "k2")->static_smem, 107);
	assert_int_equal(find(binary, "k3")->static_smem, 77);
	assert_int_equal(find(binary, "k4")->static_smem, 32);
	assert_int_equal(find(binary, "k5")->static_smem, 0);
	assert_int_equal(find(binary, "k5")->uses_dynamic_smem, 0);
	close_made(binary, copy);
}

/*
 * What other modules may name, then variables of functions that they may call, the kernel's own, the
 * module's, and those of its functions. x, though .extern, has a size: it is static memory.
 */
static void shared_memory_is_ordered_by_who_may_name_it(void **state)
{
	unsigned char *copy;
	struct fw_binary *binary = read_text(
		HEAD ".shared .align 1 .b8 m[5];\n"
		     ".extern .shared .align 8 .b8 x[30];\n"
		     ".weak .shared .align 2 .b8 w[3];\n"
		     ".weak .func wf(){ .shared .align 4 .b8 wl[9]; mov.u32 %r1, wl; st.shared.u8 "
		     "[%r1], 1; ret; }\n"
		     ".func sf(){ .shared .align 16 .b8 sl[7]; mov.u32 %r1, sl; st.shared.u8 "
		     "[%r1], 1; ret; }\n"
		     ".visible .entry a(){ .shared .align 1 .b8 o[11]; mov.u32 %r1, o; "
		     "st.shared.u8 [%r1], 1; mov.u32 %r1, m; st.shared.u8 [%r1], 1; ret; }\n"
		     ".visible .entry b(){ .shared .align 8 .b8 o[2]; mov.u32 %r1, o; st.shared.u8 "
		     "[%r1], 1; mov.u32 %r1, x; st.shared.u8 [%r1], 1; mov.u32 %r1, m; "
		     "st.shared.u8 [%r1], 1; ret; }\n"
		     ".visible .entry c(){ .shared .align 16 .b8 o[1]; mov.u32 %r1, o; "
		     "st.shared.u8 [%r1], 1; call sf; call wf; mov.u32 %r1, w; st.shared.u8 [%r1], "
		     "1; mov.u32 %r1, m; st.shared.u8 [%r1], 1; ret; }\n",
		&copy);

	(void)state;
	assert_int_equal(find(binary, "a")->static_smem, 16);
	assert_int_equal(find(binary, "b")->static_smem, 39);
	assert_int_equal(find(binary, "b")->uses_dynamic_smem, 0);
	assert_int_equal(find(binary, "c")->static_smem, 39);
	close_made(binary, copy);
}

/* 12004 bytes alone; 12016 where the module declares memory of the launch, used or not. */
static void launch_sized_memory_pads_the_rest(void **state)
{
	unsigned char *copy;
	struct fw_binary *binary =
		read_text(HEAD ".entry s(){ .shared .align 4 .b8 a[12004]; ret; }\n", &copy);

	(void)state;
	assert_int_equal(find(binary, "s")->static_smem, 12004);
	close_made(binary, copy);
	binary = read_text(HEAD ".extern .shared .align 16 .b8 e[];\n"
				".entry s(){ .shared .align 4 .b8 a[12004]; ret; }\n"
				".func g(){ mov.u32 %r1, e; ret; }\n"
				".entry d(){ call.uni g, (); ret; }\n",
			   &copy);
	assert_int_equal(find(binary, "s")->static_smem, 12016);
	assert_int_equal(find(binary, "s")->uses_dynamic_smem, 0);
	assert_int_equal(find(binary, "d")->static_smem, 0);
	assert_int_equal(find(binary, "d")->uses_dynamic_smem, 1);
	close_made(binary, copy);
	/* To 16 bytes at least, whatever the alignment declared (ptxas: 16). */
	binary = read_text(HEAD ".extern .shared .align 4 .b8 e[];\n"
				".entry s(){ .shared .align 1 .b8 a[3]; ret; }\n",
			   &copy);
	assert_int_equal(find(binary, "s")->static_smem, 16);
	close_made(binary, copy);
}

static void barriers_are_the_highest_id_and_one(void **state)
{
	static const struct {
		const char *body;
		int expected;
	} cases[] = {
		{ "ret;", 0 },
		{ "bar.sync 0;", 1 },
		{ "@%p1 bar.sync 3, 64;", 4 },
		{ "@!%p1 barrier.sync.aligned 0x5;", 6 },
		{ "L: bar.arrive 15, %r1;", 16 },
		{ "bar.sync %r1, 64;", 16 },
		{ "bar.red.popc.u32 %r1, 2, %p1;", 3 },
		{ "barrier.cta.red.and.pred %p2, 7, %p1;", 8 },
		{ "bar.warp.sync 0xffffffff;", 0 },
		{ "barrier.cluster.arrive;", FW_UNKNOWN },
		{ "bar.sync 99;", FW_UNKNOWN },
		{ "// bar.sync 9;\n/* bar.sync 8; */ ret;", 0 },
		{ ".loc 1 20 5\nbar.sync 1;", 2 },
		{ ".loc 1 20 5, function_name $L__info_string0, inlined_at 1 7 3\nbar.sync 1;", 2 },
		{ ".loc 1 20 5, function_name $L__s+4, inlined_at 1 7 3\nbar.sync 1;", 2 },
		{ "{ { bar.sync 2; } }", 3 },
		{ "ld.shared.v2.u32 {%r1, %r2}, [a]; bar.sync 1;", 2 },
		{ ".pragma \"bar.sync 4; }\"; bar.sync 0;", 1 },
		{ "mov.u32 %r1, bar; bra $L__BB0_2; $L__BB0_2: bar.sync 0;", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		unsigned char *copy;
		struct fw_binary *binary;

		snprintf(text, sizeof(text), HEAD ".entry k(){ %s }\n.entry other(){ ret; }\n",
			 cases[i].body);
		binary = read_text(text, &copy);
		assert_int_equal(binary->kernel_count, 2);
		if (find(binary, "k")->barriers != cases[i].expected)
			fail_msg("%s: %d", cases[i].body, find(binary, "k")->barriers);
		close_made(binary, copy);
	}
}

static void launch_bounds_are_read(void **state)
{
	unsigned char *copy;
	struct fw_binary *binary = read_text(
		"/* first */ // second\n.version 8.2 .target sm_90a, debug\n.address_size 64\n"
		".entry a(.param .align 8 .b8 p[16])\n.maxntid 0x80, 2\n.minnctapersm 3\n"
		".maxnreg 40\n.maxclusterrank 4\n{ ret; }\n"
		".entry b()\n.reqntid 010, 2, 1 .reqnctapercluster 2, 1, 1 .explicitcluster\n"
		".blocksareclusters { ret; }\n"
		".entry c() .pragma \"nounroll\", \"x{y\"; .maxntid 96\n{ ret; }\n"
		".entry declared_only();\n",
		&copy);
	const struct fw_kernel *k = find(binary, "a");

	(void)state;
	assert_int_equal(binary->kernel_count, 3);
	assert_int_equal(find(binary, "c")->max_threads[0], 96);
	assert_int_equal(binary->images[0].ptx_version, 82);
	assert_int_equal(k->target.cc, 90);
	assert_int_equal(k->target.suffix, 'a');
	assert_int_equal(k->max_threads[0] * 100 + k->max_threads[1] * 10 + k->max_threads[2],
			 12821);
	assert_int_equal(k->min_blocks, 3);
	assert_int_equal(k->register_cap, 40);
	assert_int_equal(k->max_cluster_rank, 4);
	assert_int_equal(k->required_threads[0], FW_UNKNOWN);
	assert_int_equal(k->registers, FW_UNKNOWN);
	assert_int_equal(k->stack, FW_UNKNOWN);
	k = find(binary, "b");
	assert_int_equal(k->required_threads[0], 8);
	assert_int_equal(k->cluster[0], 2);
	assert_true(k->has_explicit_cluster && k->blocks_are_clusters);
	assert_int_equal(k->max_threads[0], FW_UNKNOWN);
	close_made(binary, copy);
}

static void special_instructions_count_over_calls(void **state)
{
	unsigned char *copy;
	struct fw_binary *binary = read_text(
		HEAD ".func (.param .b32 r) h(.param .b32 x);\n"
		     ".entry a(){ call.uni (r0), h, (p0); ret; }\n"
		     ".func (.param .b32 r) h(.param .b32 x){ setmaxnreg.dec.sync.aligned.u32 40;\n"
		     " tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r1], 128; ret; }\n"
		     ".entry b(){ ret; }\n",
		&copy);

	(void)state;
	assert_int_equal(find(binary, "a")->setmaxnreg, 1);
	assert_int_equal(find(binary, "a")->tcgen05, 2);
	assert_int_equal(find(binary, "b")->setmaxnreg, 0);
	assert_int_equal(find(binary, "b")->tcgen05, 0);
	close_made(binary, copy);
}

/* What is called decides, and is not in the text: unknown. */
static void calls_that_leave_the_text_make_it_unknown(void **state)
{
	unsigned char *copy;
	struct fw_binary *binary = read_text(
		HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
		     ".extern .func elsewhere();\n"
		     ".func f(){ .shared .b8 fs[10]; ret; }\n"
		     ".entry prints(){ call.uni (r), vprintf, (a, b); ret; }\n"
		     ".entry leaves(){ call elsewhere; ret; }\n"
		     ".entry points(){ call (r), %rd1, (a), proto; ret; }\n",
		&copy);

	(void)state;
	assert_int_equal(find(binary, "prints")->static_smem, 0);
	assert_int_equal(find(binary, "prints")->barriers, 0);
	assert_int_equal(find(binary, "leaves")->static_smem, FW_UNKNOWN);
	assert_int_equal(find(binary, "leaves")->barriers, FW_UNKNOWN);
	assert_int_equal(find(binary, "points")->static_smem, FW_UNKNOWN);
	close_made(binary, copy);
}

/* ptxas 13.0 charges k with the barriers of f: 4. A register may be named without a percent sign. */
static void calls_through_a_register_may_reach_any_function(void **state)
{
	static const struct {
		const char *body;
		int barriers, static_smem;
	} cases[] = {
		{ ".func f(){ bar.sync 3; ret; }\n.entry k(){ call (r), %rd1, (a), proto; ret; }",
		  FW_UNKNOWN, 0 },
		{ ".func f(){ bar.sync 3; ret; }\n"
		  ".entry k(){ .reg .u64 fp; P: .callprototype _ (); call fp, P; ret; }",
		  FW_UNKNOWN, 0 },
		{ ".extern .func f();\n.entry k(){ call (r), %rd1, (a), proto; ret; }", FW_UNKNOWN,
		  FW_UNKNOWN },
		{ ".func f(){ ret; }\n.entry k(){ call (r), %rd1, (a), proto; bar.sync 1; ret; }",
		  2, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[300];
		unsigned char *copy;
		struct fw_binary *binary;

		snprintf(text, sizeof(text), HEAD "%s\n", cases[i].body);
		binary = read_text(text, &copy);
		assert_int_equal(find(binary, "k")->barriers, cases[i].barriers);
		assert_int_equal(find(binary, "k")->static_smem, cases[i].static_smem);
		close_made(binary, copy);
	}
}

static void damaged_text_is_refused(void **state)
{
	static const char *const texts[] = {
		HEAD ".entry k(){ ret;",
		HEAD ".entry k(",
		HEAD ".entry",
		HEAD ".entry k(){ ret; } .entry k(){ ret; }",
		HEAD ".shared .align x .b8 a[4]; .entry k(){ ret; }",
		HEAD ".entry k } { ret; }",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct bytes b = { 0 };
		struct fw_binary *binary;
		unsigned char *copy;

		put(&b, texts[i], strlen(texts[i]));
		binary = read_made(&b, &copy);
		assert_int_equal(binary->kernel_count, 0);
		assert_int_equal(binary->problem_count, 1);
		close_made(binary, copy);
		free_bytes(&b);
	}
}

/* Each kernel calls every function, each of which calls all others: found once, or refused. */
static void dense_call_graphs_end(void **state)
{
	struct bytes b = { 0 };
	struct fw_binary *binary;
	unsigned char *copy;
	char line[64];

	(void)state;
	put(&b, HEAD, strlen(HEAD));
	for (int i = 0; i < 400; i++)
		put(&b, line, (size_t)snprintf(line, sizeof(line), ".func f%d();", i));
	for (int i = 0; i < 400; i++) {
		put(&b, line, (size_t)snprintf(line, sizeof(line), ".func f%d(){", i));
		for (int k = 0; k < 400; k++)
			put(&b, line, (size_t)snprintf(line, sizeof(line), "call f%d;", k));
		put(&b, "}\n", 2);
	}
	for (int i = 0; i < 2000; i++)
		put(&b, line, (size_t)snprintf(line, sizeof(line), ".entry k%d(){call f0;}\n", i));
	binary = read_made(&b, &copy);
	assert_int_equal(binary->kernel_count, 0);
	assert_non_null(strstr(binary->problems[0].message, "calls"));
	close_made(binary, copy);
	free_bytes(&b);
}

/* Every text of the bytes that matter, at every length around the size of a block. */
static void blocks_and_bytes_skip_alike(void **state)
{
	static const char alphabet[] = "%.;{}\"/abzAZ09_$ ,[]@`\n\x80\xff";
	uint64_t random = 88172645463325252u;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char text[64];
		size_t len = (size_t)i % sizeof(text);
		unsigned char *copy = malloc(len ? len : 1);
		const char *p = (const char *)copy;

		assert_non_null(copy);
		for (size_t k = 0; k < len; k++) {
			/* xorshift64 (Marsaglia 2003) */
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			/* Mostly what is skipped, so that whole blocks are. */
			text[k] = random % 8 ? "%.09 ,[]"[random >> 32 & 7]
					     : alphabet[(random >> 32) % sizeof(alphabet)];
		}
		memcpy(copy, text, len);
		if (fw_ptx_skip(p, p + len) != fw_ptx_skip_scalar(p, p + len))
			fail_msg("'%.*s': %td, %td", (int)len, text, fw_ptx_skip(p, p + len) - p,
				 fw_ptx_skip_scalar(p, p + len) - p);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_memory_is_laid_out_as_by_ptxas),
		cmocka_unit_test(shared_memory_is_ordered_by_who_may_name_it),
		cmocka_unit_test(launch_sized_memory_pads_the_rest),
		cmocka_unit_test(barriers_are_the_highest_id_and_one),
		cmocka_unit_test(launch_bounds_are_read),
		cmocka_unit_test(special_instructions_count_over_calls),
		cmocka_unit_test(calls_that_leave_the_text_make_it_unknown),
		cmocka_unit_test(calls_through_a_register_may_reach_any_function),
		cmocka_unit_test(damaged_text_is_refused),
		cmocka_unit_test(dense_call_graphs_end),
		cmocka_unit_test(blocks_and_bytes_skip_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
