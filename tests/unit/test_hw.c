#include "hw/chips.h"
#include "hw/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void every_value_has_a_source(void **state)
{
	size_t count;
	const struct fw_hw_limits *all = fw_hw_limits_all(&count);

	(void)state;
	assert_true(count >= 21);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(strlen(all[i].sources), FW_HW_LIMIT_VALUES);
		assert_int_equal(strspn(all[i].sources, "HGDKU"), FW_HW_LIMIT_VALUES);
		if (i)
			assert_true(all[i].cc > all[i - 1].cc);
		if (all[i].carveout_count)
			assert_int_equal(all[i].carveouts[all[i].carveout_count - 1],
					 all[i].smem_per_sm);
	}
}

static void unknown_capability_names_its_neighbours(void **state)
{
	const struct fw_hw_limits *hw = NULL;
	struct fw_error err;

	(void)state;
	assert_int_equal(fw_hw_limits_find(95, &hw, &err), FW_ERR_UNSUPPORTED);
	assert_non_null(
		strstr(err.message, "9.5 is not known; the nearest known ones are 9.0 and 10.0"));
	assert_int_equal(fw_hw_limits_find(130, &hw, &err), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "nearest known one is 12.1"));
	assert_int_equal(fw_hw_limits_find(35, &hw, &err), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "nearest known one is 5.0"));
	assert_null(hw);
	assert_int_equal(fw_hw_limits_find(90, &hw, &err), FW_OK);
	assert_int_equal(hw->cc, 90);
}

static void capability_is_read_in_every_usual_form(void **state)
{
	static const struct {
		const char *text;
		unsigned cc;
	} rows[] = { { "9.0", 90 },   { "90", 90 },     { "12.1", 121 },    { "121", 121 },
		     { "sm_90", 90 }, { "sm_90a", 90 }, { "sm_103f", 103 }, { "", 0 },
		     { "9", 0 },      { "9.", 0 },      { ".9", 0 },        { "9.00", 0 },
		     { "90a", 0 },    { "-9.0", 0 },    { "nine", 0 },      { "9.x", 0 },
		     { "1000", 0 },   { "sm_", 0 },     { "sm_9.0", 0 },    { "0.0", 0 },
		     { "9.0 ", 0 },   { "100.0", 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned cc = 0;
		fw_status status = fw_hw_cc_parse(rows[i].text, &cc, NULL);

		assert_int_equal(cc, rows[i].cc);
		assert_int_equal(status, rows[i].cc ? FW_OK : FW_ERR_ARGUMENT);
	}
}

static void chips_are_found_as_people_and_drivers_write_them(void **state)
{
	static const struct {
		const char *asked, *name;
		unsigned cc, sms;
	} rows[] = { { "H200", "H200", 90, 132 },
		     { "nvidia h200", "H200", 90, 132 },
		     { "A10", "A10", 86, 72 },
		     { "NVIDIA A10G", "A10G", 86, 80 },
		     { "NVIDIA A100-SXM4-80GB", "A100", 80, 108 },
		     { "NVIDIA H100 80GB HBM3", "H100", 90, 132 },
		     { "NVIDIA H100 PCIe", "H100 PCIe", 90, 114 },
		     { "Tesla T4", "T4", 75, 40 },
		     { "rtx4090", "RTX 4090", 89, 128 },
		     { "NVIDIA GeForce RTX 4070 Ti SUPER", "RTX 4070 Ti SUPER", 89, 66 } };
	const struct fw_hw_chip *chip;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(fw_hw_chip_find(rows[i].asked, &chip, NULL), FW_OK);
		assert_string_equal(chip->name, rows[i].name);
		assert_int_equal(chip->cc, rows[i].cc);
		assert_int_equal(chip->sms, rows[i].sms);
	}
}

/* A laptop's 4090 has 76 SMs: a name that only starts like a known one is another chip. */
static void unknown_chips_are_refused(void **state)
{
	static const char *const names[] = { "",    "GeForce", "RTX 4090 Laptop GPU", "A1000", "H",
					     "100", "\xff" };
	const struct fw_hw_chip *chip = NULL;
	struct fw_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(fw_hw_chip_find(names[i], &chip, &err), FW_ERR_UNSUPPORTED);
	assert_null(chip);
	assert_int_equal(fw_hw_chip_find("RTX 4090 Laptop GPU", &chip, &err), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "similar names: RTX 4090"));
}

static void every_chip_has_known_limits(void **state)
{
	const struct fw_hw_limits *hw;
	size_t count;
	const struct fw_hw_chip *all = fw_hw_chips_all(&count), *found;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(fw_hw_limits_find(all[i].cc, &hw, NULL), FW_OK);
		assert_int_equal(fw_hw_chip_find(all[i].name, &found, NULL), FW_OK);
		assert_ptr_equal(found, &all[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_has_a_source),
		cmocka_unit_test(unknown_capability_names_its_neighbours),
		cmocka_unit_test(capability_is_read_in_every_usual_form),
		cmocka_unit_test(chips_are_found_as_people_and_drivers_write_them),
		cmocka_unit_test(unknown_chips_are_refused),
		cmocka_unit_test(every_chip_has_known_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
