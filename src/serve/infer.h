#ifndef FW_SERVE_INFER_H
#define FW_SERVE_INFER_H
/*
 * Infer requests of the Open Inference Protocol (KServe V2), JSON with or without the binary tensor extension, and their
 * answers. One input: "image", BYTES [n] or [n, 1] of JPEG or PNG (base64 in JSON), or "tensor", FP32 [n, 3, side, side].
 */
#include "base/str.h"
#include "serve/body.h"
#include "serve/labels.h"

#define FW_INFER_VERSION "1" /* of the model, the only one */

/* The outputs, in the order in which they are answered if none is asked for. */
enum fw_infer_kind {
	FW_INFER_CLASS_ID,    /* "class_id", UINT32 [n, k] */
	FW_INFER_PROBABILITY, /* "probability", FP32 [n, k] */
	FW_INFER_LABEL,       /* "label", BYTES [n, k]; only with labels */
	FW_INFER_KINDS
};

/* "class_id"; its data type; static storage. */
const char *fw_infer_output_name(enum fw_infer_kind kind);
const char *fw_infer_output_type(enum fw_infer_kind kind);

struct fw_infer_limits {
	uint32_t max_images, side, top; /* top: classes that an answer can have */
	bool has_labels;
	size_t json_bytes; /* that a tree of JSON may take */
};

struct fw_infer_output {
	enum fw_infer_kind kind;
	bool is_binary;
	/* Of FW_INFER_PROBABILITY, as the classification extension: BYTES "probability:id:label", so many; 0: not. */
	uint32_t classification;
};

struct fw_infer_image {
	const unsigned char *bytes; /* in the body */
	size_t size;
};

struct fw_infer {
	char id[256]; /* "": none */
	bool is_tensor;
	uint32_t count, top;
	int64_t timeout_ns; /* 0: none */
	uint32_t n_outputs;
	struct fw_infer_output outputs[FW_INFER_KINDS];
	struct fw_infer_image *images; /* the caller's, max_images */
};

/*
 * json_bytes: of the body's start, what follows are binary tensors. Writes decoded data over the body. FW_ERR_FORMAT and
 * FW_ERR_ARGUMENT: what is wrong with the request; FW_ERR_NOMEM and
 * FW_ERR_UNSUPPORTED: it takes more memory than there is, or than is allowed.
 */
fw_status fw_infer_read(struct fw_infer *infer, const struct fw_infer_limits *limits,
			struct fw_body *body, size_t json_bytes, struct fw_error *err);

struct fw_infer_answer {
	const char *model;
	const struct fw_labels *labels; /* NULL: none */
	uint32_t stride; /* classes from one image to the next in ids and probabilities */
	const uint32_t *ids;
	const float *probabilities;
};

/* The answer's JSON and binary tensors; the bytes of its JSON, 0 where there is nothing binary. */
size_t fw_infer_write(const struct fw_infer *infer, const struct fw_infer_answer *answer,
		      struct fw_str *out);

#endif
