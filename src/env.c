#include "env.h"

void ke_check(const ke_env *env)
{
  if (env->check)
    env->check(env->data);
}

void ke_progress(const ke_env *env, double share)
{
  if (env->progress)
    env->progress(env->data, share);
}
