#define _POSIX_C_SOURCE 200809L
#include "../fuzz/fuzz_gram.c"
#include "../fuzz/replay.h"

int main(void) { return replay("ls tests/fuzz/corpus/gram/*"); }
