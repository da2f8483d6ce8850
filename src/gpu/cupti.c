#include "gpu/cupti.h"

#include "gpu/cupti_find.h"
#include "gpu/loader.h"

#include <string.h>

static const struct fw_symbol symbols[] = {
#define FW_SYM(required, symbol, field, args)                                                      \
	{ symbol, offsetof(struct fw_cupti, field), required },
#include "gpu/cupti.def"
#undef FW_SYM
};

static fw_status load(struct fw_cupti *cupti, const char *library, struct fw_error *err)
{
	return fw_symbols_load(library, symbols, sizeof(symbols) / sizeof(symbols[0]), cupti,
			       &cupti->handle, err);
}

fw_status fw_cupti_open(struct fw_cupti *cupti, struct fw_error *err)
{
	struct fw_cupti_places places;
	fw_status status = FW_ERR_UNSUPPORTED;
	char candidate[FW_CUPTI_PATH_BYTES];

	*cupti = (struct fw_cupti){ 0 };
	fw_cupti_look(&places);
	for (unsigned i = 0; status && fw_cupti_candidate(&places, i, candidate); i++)
		if (candidate[0])
			status = load(cupti, candidate, err);
	if (status)
		return status;
	cupti->was_loaded = places.loaded[0] != 0;
	fw_cupti_look(&places);
	memcpy(cupti->path, places.loaded[0] ? places.loaded : candidate, sizeof(cupti->path));
	return FW_OK;
}

const char *fw_cupti_error_text(const struct fw_cupti *cupti, int result)
{
	const char *text = NULL;

	if (cupti->get_result_string && !cupti->get_result_string(result, &text) && text)
		return text;
	return "an error that CUPTI has no name for";
}
