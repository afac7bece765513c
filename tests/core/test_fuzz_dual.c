#define _POSIX_C_SOURCE 200809L
#include "../fuzz/fuzz_dual.c"
#include "../fuzz/replay.h"

int main(void) { return replay("ls tests/fuzz/corpus/dual/*"); }
