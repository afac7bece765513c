/* A contestant in C: see harness.R. The including file defines probe_setup(), probe_run()
 * (timed) and probe_value() (not timed; also gives the memory of the run back). */
#ifndef PROBE_H
#define PROBE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void probe_setup(const char *dir, char **args);
static void probe_run(void);
static double probe_value(void);

/* Read dir/name.bin as written by the harness. */
static inline double *probe_matrix(const char *dir, const char *name, int *n, int *d)
{
  char path[4096];
  int32_t size[2];
  snprintf(path, sizeof path, "%s/%s.bin", dir, name);
  FILE *file = fopen(path, "rb");
  if (!file || fread(size, sizeof *size, 2, file) != 2)
    exit(1);
  size_t length = (size_t)size[0] * (size_t)size[1];
  double *x = malloc(length * sizeof *x);
  if (!x || fread(x, sizeof *x, length, file) != length)
    exit(1);
  fclose(file);
  *n = size[0];
  *d = size[1];
  return x;
}

static double probe_resident(const char *field)
{
  char line[256];
  double kb = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, field, strlen(field)))
      kb = atof(line + strlen(field) + 1);
  if (file)
    fclose(file);
  return kb * 1024;
}

static double probe_clock(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
  char question[16];
  if (argc < 2)
    return 1;
  probe_setup(argv[1], argv + 2);
  puts("ready");
  fflush(stdout);
  while (fgets(question, sizeof question, stdin)) {
    FILE *reset = fopen("/proc/self/clear_refs", "w");
    if (reset)
      fputs("5", reset), fclose(reset);
    double before = probe_resident("VmRSS"), begin = probe_clock(CLOCK_MONOTONIC);
    double spent = probe_clock(CLOCK_PROCESS_CPUTIME_ID);
    probe_run();
    double seconds = probe_clock(CLOCK_MONOTONIC) - begin, peak = probe_resident("VmHWM");
    spent = probe_clock(CLOCK_PROCESS_CPUTIME_ID) - spent;
    printf("%.9g %.0f %.15g %.9g\n", seconds, peak - before, probe_value(), spent);
    fflush(stdout);
  }
  return 0;
}

#endif
