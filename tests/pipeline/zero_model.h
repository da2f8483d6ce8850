#ifndef FW_TESTS_ZERO_MODEL_H
#define FW_TESTS_ZERO_MODEL_H
/*
 * A classifier whose weights are all zero, so that a GPU which computes nothing can be right: all scores are zero, and the
 * classes come in the order of their ids.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CLASSES 256
#define TOP     3
/* Of an answer: an id and a probability. */
#define ANSWER_BYTES 8

/* name: for this process; data becomes the file of the weights, which the model names. 0: made. */
static int make_zero_model(const char *name, char model[64], char data[72])
{
	char command[512];
	FILE *pipe, *file;
	long size;

	snprintf(model, 64, "/tmp/%s-%d.onnx", name, (int)getpid());
	snprintf(data, 72, "%s.data", model);
	snprintf(command, sizeof(command),
		 "python3 -B %s/tests/nn/make_model.py resnet18 --width 0.125 --image 32 --classes "
		 "%d --dynamic --external -o %s 2>&1",
		 FW_SOURCE, CLASSES, model);
	pipe = popen(command, "r");
	if (!pipe || pclose(pipe))
		return 1;
	file = fopen(data, "r+e");
	if (!file || fseek(file, 0, SEEK_END))
		return 1;
	size = ftell(file);
	return fclose(file) || truncate(data, 0) || truncate(data, size); /* zeros */
}

/* What a GPU would give: answers to images, else scores. 1024 bytes an image, so that is plain. */
static void read_right(void *memory, size_t bytes)
{
	struct {
		uint32_t id;
		float probability;
	} answer;

	memset(memory, 0, bytes);
	if (bytes % (TOP * ANSWER_BYTES))
		return;
	for (size_t i = 0; i < bytes / ANSWER_BYTES; i++) {
		answer.id = (uint32_t)(i % TOP);
		answer.probability = 1.0f / CLASSES;
		memcpy((char *)memory + i * ANSWER_BYTES, &answer, ANSWER_BYTES);
	}
}

#endif
