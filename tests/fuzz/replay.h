/* Replays the corpus of a fuzz target as a test: inputs that once reached new code. */
#ifndef KERNELECT_REPLAY_H
#define KERNELECT_REPLAY_H

#include "minunit.h"

#include <stdio.h>
#include <stdlib.h>

#define REPLAY_MOST 65536

static uint8_t *replay_data;
static size_t replay_size;

static void replays(void) { mu_assert(LLVMFuzzerTestOneInput(replay_data, replay_size) == 0); }

/* `list` is a shell command that prints the files; names are ours, so this is safe. */
static int replay(const char *list)
{
  char name[512];
  replay_data = (uint8_t *)malloc(REPLAY_MOST);
  FILE *files = popen(list, "r");
  while (files && fscanf(files, "%511s", name) == 1) {
    FILE *file = fopen(name, "rb");
    if (!file)
      continue;
    replay_size = fread(replay_data, 1, REPLAY_MOST, file);
    fclose(file);
    mu_run(replays);
  }
  if (files)
    pclose(files);
  free(replay_data);
  return mu_report();
}

#endif
