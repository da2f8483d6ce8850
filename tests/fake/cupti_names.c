/* What CUPTI calls the calls: the headers' own names, with the version behind those of the runtime. */
#include "cupti.h"

#include "cupti_call_names.h"

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
	const char *const *names =
		domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_names : driver_names;
	size_t count = domain == CUPTI_CB_DOMAIN_RUNTIME_API
			       ? sizeof(runtime_names) / sizeof(*names)
			       : sizeof(driver_names) / sizeof(*names);
	CUptiResult error = cupti_error("cuptiGetCallbackName");

	if (error)
		return error;
	if (domain != CUPTI_CB_DOMAIN_RUNTIME_API && domain != CUPTI_CB_DOMAIN_DRIVER_API)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (cbid >= count || !names[cbid])
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = names[cbid];
	return CUPTI_SUCCESS;
}
