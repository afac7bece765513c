/* What the reference BLAS and LAPACK ask of a Fortran runtime, for platforms whose own is not at
 * hand: joining and trimming of character strings; messages are not written, and a stop is one. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void _gfortran_concat_string(size_t length, char *to, size_t m, const char *a, size_t n,
                             const char *b)
{
  for (size_t i = 0; i < length; i++)
    to[i] = i < m ? a[i] : i - m < n ? b[i - m] : ' ';
}

size_t _gfortran_string_len_trim(size_t length, const char *text)
{
  while (length > 0 && text[length - 1] == ' ')
    length--;
  return length;
}

void _gfortran_stop_string(const char *text, size_t length, int quiet)
{
  (void)text, (void)length, (void)quiet;
  abort();
}

void _gfortran_st_write(void *unit) { (void)unit; }
void _gfortran_st_write_done(void *unit) { (void)unit; }

void _gfortran_transfer_character_write(void *unit, void *value, size_t length)
{
  (void)unit, (void)value, (void)length;
}

void _gfortran_transfer_integer_write(void *unit, void *value, int kind)
{
  (void)unit, (void)value, (void)kind;
}
