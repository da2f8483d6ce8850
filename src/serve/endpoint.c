#include "serve/endpoint.h"

#include "serve/infer.h"

#include <string.h>

static const struct {
	const char *name, *method;
} endpoints[] = {
#define FW_ENDPOINT(id, name, method) { name, method },
#include "serve/endpoints.def"
#undef FW_ENDPOINT
};

const char *fw_endpoint_name(enum fw_endpoint endpoint)
{
	return endpoints[endpoint].name;
}

const char *fw_endpoint_method(enum fw_endpoint endpoint)
{
	return endpoints[endpoint].method;
}

/* What is behind a beginning; NULL: it does not begin so. */
static const char *behind(const char *text, const char *start)
{
	size_t len = strlen(start);

	return strncmp(text, start, len) ? NULL : text + len;
}

static enum fw_endpoint find_of_model(const char *rest, const char *model)
{
	const char *version;

	rest = behind(rest, model);
	if (!rest)
		return FW_ENDPOINT_NONE;
	version = behind(rest, "/versions/");
	if (version)
		rest = behind(version, FW_INFER_VERSION);
	if (!rest)
		return FW_ENDPOINT_NONE;
	if (!*rest)
		return FW_ENDPOINT_MODEL;
	if (!strcmp(rest, "/ready"))
		return FW_ENDPOINT_MODEL_READY;
	if (!strcmp(rest, "/infer"))
		return FW_ENDPOINT_INFER;
	return strcmp(rest, "/classify") ? FW_ENDPOINT_NONE : FW_ENDPOINT_CLASSIFY;
}

enum fw_endpoint fw_endpoint_find(const char *path, const char *model)
{
	static const struct {
		const char *path;
		enum fw_endpoint endpoint;
	} fixed[] = {
		{ "/v2", FW_ENDPOINT_SERVER },           { "/v2/", FW_ENDPOINT_SERVER },
		{ "/v2/health/live", FW_ENDPOINT_LIVE }, { "/v2/health/ready", FW_ENDPOINT_READY },
		{ "/metrics", FW_ENDPOINT_METRICS },
	};
	const char *rest = behind(path, "/v2/models/");

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (!strcmp(path, fixed[i].path))
			return fixed[i].endpoint;
	return rest ? find_of_model(rest, model) : FW_ENDPOINT_NONE;
}
