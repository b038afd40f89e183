/* Serves timings of matrix products by OpenBLAS to the program that has
 * compiled it.
 *
 *   openblas CLOCK MAXBATCH WIDTH0 WIDTH1 ...
 *
 * first prints a line: threads, core, configuration. Then each line "BATCH
 * RUNS" is answered by the seconds of one forward, the mean of RUNS: for each
 * layer, [BATCH,in] x [in,out] by cblas_sgemm and nothing else, no bias and no
 * ReLU. The rows and weights are the same each time. CLOCK is wall for the time
 * that passes, cpu for the processor time of this process.
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(clockid_t by) {
	struct timespec t;
	clock_gettime(by, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* fall_asleep waits until no thread computes. Idle threads of OpenBLAS spin for
 * up to a tenth of a second, on a core that whatever is timed next may need. */
static void fall_asleep(void) {
	const struct timespec moment = {0, 5 * 1000 * 1000};
	for (int i = 0; i < 200; i++) {
		double before = now(CLOCK_PROCESS_CPUTIME_ID);
		nanosleep(&moment, NULL);
		if (now(CLOCK_PROCESS_CPUTIME_ID) - before < 5e-4)
			return;
	}
}

/* matrix returns numbers between -scale and scale, on a cache line. */
static float *matrix(size_t rows, size_t cols, float scale) {
	size_t n = rows * cols, bytes = (n * sizeof(float) + 63) / 64 * 64;
	float *m = aligned_alloc(64, bytes);
	unsigned state = 1;
	if (m == NULL) {
		fprintf(stderr, "no memory for %zu x %zu numbers\n", rows, cols);
		exit(1);
	}
	for (size_t i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		m[i] = scale * ((float)(state >> 8) / (1 << 23) - 1);
	}
	return m;
}

static void forward(int batch, int layers, const int *width, float **weight, float **row) {
	for (int l = 0; l < layers; l++)
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, batch, width[l + 1], width[l], 1, row[l], width[l],
		            weight[l], width[l + 1], 0, row[l + 1], width[l + 1]);
}

int main(int argc, char **argv) {
	int layers = argc - 4;
	if (layers < 1) {
		fprintf(stderr, "usage: openblas CLOCK MAXBATCH WIDTH0 WIDTH1 ...\n");
		return 2;
	}
	clockid_t by = strcmp(argv[1], "cpu") == 0 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
	int most = atoi(argv[2]);
	int *width = calloc(layers + 1, sizeof *width);
	float **weight = calloc(layers, sizeof *weight), **row = calloc(layers + 1, sizeof *row);
	for (int l = 0; l <= layers; l++) {
		width[l] = atoi(argv[3 + l]);
		row[l] = matrix(most, width[l], 1);
		if (l > 0)
			weight[l - 1] = matrix(width[l - 1], width[l], 2.0f / width[l - 1]);
	}
	printf("%d %s %s\n", openblas_get_num_threads(), openblas_get_corename(), openblas_get_config());
	fflush(stdout);

	int batch, runs;
	while (scanf("%d %d", &batch, &runs) == 2) {
		if (batch < 1 || batch > most || runs < 1) {
			fprintf(stderr, "batch %d, runs %d\n", batch, runs);
			return 2;
		}
		if (openblas_get_num_threads() > 1) /* wakes them */
			forward(batch, layers, width, weight, row);
		double start = now(by);
		for (int i = 0; i < runs; i++)
			forward(batch, layers, width, weight, row);
		double took = now(by) - start;
		if (openblas_get_num_threads() > 1)
			fall_asleep();
		printf("%.9g\n", took / runs);
		fflush(stdout);
	}
	return 0;
}
