/* Prints a folded ONNX model line by line, constants in hexadecimal: compare_folded.py makes a model of it again. */
#include "nn/graph.h"

#include <stdio.h>

static void print_value(const struct fw_nn_graph *graph, uint32_t i)
{
	const struct fw_nn_value *v = &graph->values[i];
	const unsigned char *bytes = v->data;

	printf("constant %u %s %u", i, fw_nn_type_name(v->type), v->rank);
	for (uint32_t d = 0; d < v->rank; d++)
		printf(" %lld", (long long)v->dims[d]);
	printf(" x");
	for (size_t k = 0; k < v->bytes; k++)
		printf("%02x", bytes[k]);
	putchar('\n');
}

static void print_attr(const struct fw_nn_attr *a)
{
	printf(" %s %d", a->name, (int)a->kind);
	switch (a->kind) {
	case FW_NN_ATTR_INT: printf(" 1 %lld", (long long)a->i); break;
	case FW_NN_ATTR_FLOAT: printf(" 1 %.9g", (double)a->f); break;
	case FW_NN_ATTR_TEXT: printf(" 1 %s", a->text); break;
	case FW_NN_ATTR_TENSOR: printf(" 1 %u", a->value); break;
	case FW_NN_ATTR_INTS:
		printf(" %u", a->n);
		for (uint32_t i = 0; i < a->n; i++)
			printf(" %lld", (long long)a->ints[i]);
		break;
	case FW_NN_ATTR_FLOATS:
		printf(" %u", a->n);
		for (uint32_t i = 0; i < a->n; i++)
			printf(" %.9g", (double)a->floats[i]);
		break;
	}
}

static void print_node(const struct fw_nn_node *node)
{
	printf("node %s %u", fw_nn_op_name(node->op), node->n_inputs);
	for (uint32_t i = 0; i < node->n_inputs; i++)
		printf(" %lld", node->inputs[i] == FW_NN_NONE ? -1 : (long long)node->inputs[i]);
	printf(" %u", node->n_outputs);
	for (uint32_t i = 0; i < node->n_outputs; i++)
		printf(" %u", node->outputs[i]);
	for (uint32_t i = 0; i < node->n_attrs; i++)
		print_attr(&node->attrs[i]);
	putchar('\n');
}

static void print_graph(const struct fw_nn_graph *graph)
{
	printf("opset %lld\n", (long long)graph->opset);
	for (uint32_t i = 0; i < graph->n_inputs; i++)
		printf("input %u %s\n", graph->inputs[i], graph->values[graph->inputs[i]].name);
	for (uint32_t i = 0; i < graph->n_outputs; i++)
		printf("output %u %s\n", graph->outputs[i], graph->values[graph->outputs[i]].name);
	for (uint32_t i = 0; i < graph->n_values; i++)
		if (graph->values[i].data)
			print_value(graph, i);
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		print_node(&graph->nodes[i]);
}

int main(int argc, char **argv)
{
	struct fw_nn_read_options options = { 0 };
	struct fw_error err = { 0 };
	struct fw_nn_graph graph;
	fw_status status;

	if (argc != 2) {
		fprintf(stderr, "usage: nn_dump_folded MODEL\n");
		return 2;
	}
	status = fw_nn_onnx_read(argv[1], &options, &graph, &err);
	if (!status) {
		status = fw_nn_fold(&graph, &err);
		if (!status)
			print_graph(&graph);
		fw_nn_graph_free(&graph);
	}
	if (!status)
		return 0;
	fprintf(stderr, "%s: %s\n", fw_status_name(status), err.message);
	return 1;
}
