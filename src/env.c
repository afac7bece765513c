#include "env.h"

void ke_check(const ke_env *env)
{
  if (env->check)
    env->check(env->data);
}

size_t ke_batch(double flops)
{
  const double count = KE_PATIENCE / flops;
  return count < 1.0 ? 1 : count < (double)(SIZE_MAX / 2) ? (size_t)count : SIZE_MAX / 2;
}

void ke_progress(const ke_env *env, double share)
{
  if (env->progress)
    env->progress(env->data, share);
}
