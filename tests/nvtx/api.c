/* What src/inject/nvtx_api.h declares has the layout and the values of NVIDIA's headers. */
#include "inject/nvtx_api.h"

#include <nvtx3/nvToolsExt.h>

/* The types between the headers and a tool are declared only beside the headers' implementation. */
#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #theirs)
#define SAME_PLACE(field, theirs)                                                                  \
	SAME(offsetof(struct fw_nvtx_attributes, field), offsetof(nvtxEventAttributes_t, theirs))

SAME(sizeof(struct fw_nvtx_attributes), sizeof(nvtxEventAttributes_t));
SAME_PLACE(version, version);
SAME_PLACE(size, size);
SAME_PLACE(category, category);
SAME_PLACE(color_type, colorType);
SAME_PLACE(payload_type, payloadType);
SAME_PLACE(payload, payload);
SAME_PLACE(message_type, messageType);
SAME_PLACE(message, message);

SAME(FW_NVTX_VERSION, NVTX_VERSION);
SAME(FW_NVTX_NO_LEVELS, NVTX_NO_PUSH_POP_TRACKING);
SAME((int)FW_NVTX_NO_MESSAGE, (int)NVTX_MESSAGE_UNKNOWN);
SAME((int)FW_NVTX_ASCII, (int)NVTX_MESSAGE_TYPE_ASCII);
SAME((int)FW_NVTX_WIDE, (int)NVTX_MESSAGE_TYPE_UNICODE);
SAME((int)FW_NVTX_REGISTERED, (int)NVTX_MESSAGE_TYPE_REGISTERED);

SAME((int)FW_NVTX_EXPORT_CALLBACKS, (int)NVTX_ETID_CALLBACKS);
SAME((int)FW_NVTX_EXPORT_VERSION, (int)NVTX_ETID_VERSIONINFO);
SAME((int)FW_NVTX_MODULE_CORE, (int)NVTX_CB_MODULE_CORE);
SAME((int)FW_NVTX_MODULE_CORE2, (int)NVTX_CB_MODULE_CORE2);
SAME(sizeof(struct fw_nvtx_callbacks), sizeof(NvtxExportTableCallbacks));
SAME(sizeof(struct fw_nvtx_version), sizeof(NvtxExportTableVersionInfo));
SAME(offsetof(struct fw_nvtx_callbacks, get_table),
     offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
SAME(offsetof(struct fw_nvtx_version, set_tool_version),
     offsetof(NvtxExportTableVersionInfo, SetInjectionNvtxVersion));

SAME((int)FW_NVTX_MARK_EX, (int)NVTX_CBID_CORE_MarkEx);
SAME((int)FW_NVTX_MARK_W, (int)NVTX_CBID_CORE_MarkW);
SAME((int)FW_NVTX_START_EX, (int)NVTX_CBID_CORE_RangeStartEx);
SAME((int)FW_NVTX_START_W, (int)NVTX_CBID_CORE_RangeStartW);
SAME((int)FW_NVTX_END, (int)NVTX_CBID_CORE_RangeEnd);
SAME((int)FW_NVTX_PUSH_EX, (int)NVTX_CBID_CORE_RangePushEx);
SAME((int)FW_NVTX_PUSH_A, (int)NVTX_CBID_CORE_RangePushA);
SAME((int)FW_NVTX_PUSH_W, (int)NVTX_CBID_CORE_RangePushW);
SAME((int)FW_NVTX_POP, (int)NVTX_CBID_CORE_RangePop);
SAME((int)FW_NVTX_NAME_CATEGORY_W, (int)NVTX_CBID_CORE_NameCategoryW);
SAME((int)FW_NVTX_NAME_THREAD_A, (int)NVTX_CBID_CORE_NameOsThreadA);
SAME((int)FW_NVTX_NAME_THREAD_W, (int)NVTX_CBID_CORE_NameOsThreadW);
SAME((int)FW_NVTX_DOMAIN_MARK_EX, (int)NVTX_CBID_CORE2_DomainMarkEx);
SAME((int)FW_NVTX_DOMAIN_START_EX, (int)NVTX_CBID_CORE2_DomainRangeStartEx);
SAME((int)FW_NVTX_DOMAIN_END, (int)NVTX_CBID_CORE2_DomainRangeEnd);
SAME((int)FW_NVTX_DOMAIN_PUSH_EX, (int)NVTX_CBID_CORE2_DomainRangePushEx);
SAME((int)FW_NVTX_DOMAIN_POP, (int)NVTX_CBID_CORE2_DomainRangePop);
SAME((int)FW_NVTX_REGISTER_STRING_A, (int)NVTX_CBID_CORE2_DomainRegisterStringA);
SAME((int)FW_NVTX_REGISTER_STRING_W, (int)NVTX_CBID_CORE2_DomainRegisterStringW);
SAME((int)FW_NVTX_DOMAIN_CREATE_A, (int)NVTX_CBID_CORE2_DomainCreateA);
SAME((int)FW_NVTX_DOMAIN_CREATE_W, (int)NVTX_CBID_CORE2_DomainCreateW);
