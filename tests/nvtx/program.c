/*
 * A program that uses NVTX through NVIDIA's headers, for tests/nvtx/nvtx.py: what each scenario does is
 * said there. Prints what NVTX answers, so that runs with and without a tool can be compared.
 */
#include "program.h"

#include <errno.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void wait_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void nested(void)
{
	errno = EDOM;
	printf("%d ", nvtxRangePushA("outer"));
	wait_ms(20);
	printf("%d ", nvtxRangePushW(L"inner \x4e2d"));
	wait_ms(20);
	printf("%d ", nvtxRangePop());
	nvtxMarkA("a mark");
	nvtxMarkW(L"wide mark");
	printf("%d ", nvtxRangePop());
	printf("%d %d\n", nvtxRangePop(), errno == EDOM);
}

static void attributes(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("my domain");
	nvtxEventAttributes_t event = { 0 };

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
	nvtxDomainRangePushEx(domain, &event);
	nvtxDomainMarkEx(domain, &event);
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = "pushed ex";
	nvtxRangePushEx(&event);
	nvtxDomainRangePop(domain);
	nvtxRangePop();
	event.messageType = NVTX_MESSAGE_UNKNOWN;
	nvtxMarkEx(&event);
	nvtxDomainDestroy(domain);
	puts("ok");
}

static void *ends_it(void *id)
{
	nvtxRangeEnd(*(nvtxRangeId_t *)id);
	return NULL;
}

static void started(void)
{
	nvtxRangeId_t a = nvtxRangeStartA("a"), b = nvtxRangeStartW(L"b");
	pthread_t thread;

	wait_ms(20);
	nvtxRangeEnd(a);
	pthread_create(&thread, NULL, ends_it, &b);
	pthread_join(thread, NULL);
	nvtxRangeEnd(b);
	puts("ok");
}

static void *works(void *number)
{
	char name[32];

	snprintf(name, sizeof(name), "thread %d", *(int *)number);
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), name);
	for (int i = 0; i < 1000; i++) {
		nvtxRangePushA(name);
		nvtxRangePop();
	}
	nvtxRangePushA("never popped");
	return NULL;
}

static void threads(void)
{
	pthread_t thread[4];
	int numbers[4];

	for (int i = 0; i < 4; i++) {
		numbers[i] = i;
		pthread_create(&thread[i], NULL, works, &numbers[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	puts("ok");
}

static void *first_call(void *unused)
{
	nvtxMarkA("first");
	second_instance();
	return unused;
}

static void instances(void)
{
	pthread_t thread[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, first_call, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	puts("ok");
}

static void forked(void)
{
	int status = 0;
	pid_t child;

	nvtxRangePushA("parent's");
	child = fork();
	if (child == 0) {
		nvtxRangePop();
		nvtxRangePushA("child's");
		nvtxRangePop();
		_exit(7);
	}
	waitpid(child, &status, 0);
	nvtxRangePop();
	printf("%d\n", WEXITSTATUS(status));
}

/* ns a pair of push and pop takes. */
static void cost(void)
{
	const int count = 200000;
	struct timespec begin, end;

	nvtxMarkA("first");
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < count; i++) {
		nvtxRangePushA("aten::convolution");
		nvtxRangePop();
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.1f\n",
	       ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
		       count);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenarios[] = { { "nested", nested },   { "attributes", attributes },
			  { "started", started }, { "threads", threads },
			  { "forked", forked },   { "instances", instances },
			  { "cost", cost } };

	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (argc == 2 && !strcmp(argv[1], scenarios[i].name)) {
			scenarios[i].run();
			return 0;
		}
	return 2;
}
