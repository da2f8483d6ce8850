/* Runs a fuzz target over every file of the folders named, so that a corpus is a plain test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes;
	long size;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
		perror(path);
		return 1;
	}
	/* Exactly as many bytes as the file has, so that the address sanitizer sees any read past it. */
	bytes = malloc(size ? (size_t)size : 1);
	if (!bytes || fread(bytes, 1, (size_t)size, f) != (size_t)size) {
		perror(path);
		return 1;
	}
	fclose(f);
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(bytes, (size_t)size);
	free(bytes);
	return 0;
}

static int replay_folder(const char *path, int *files)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char file[4096];
	int bad = 0;

	if (!dir) {
		perror(path);
		return 1;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		bad |= replay_file(file);
		++*files;
	}
	closedir(dir);
	return bad;
}

int main(int argc, char **argv)
{
	int files = 0, bad = 0;

	for (int i = 1; i < argc; i++)
		bad |= replay_folder(argv[i], &files);
	printf("%d files\n", files);
	return bad || !files;
}
