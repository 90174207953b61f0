/*
 * What a sandbox process asks of the kernel by itself, as a Node-API addon: the same file serves every version of Node.
 * Each function returns what the C library returns, or minus the errno.
 *
 * Node's headers are not there wherever Node is, and the ABI is stable: the few functions are declared here, as in js_native_api.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_ARGUMENTS 7

struct uv_loop_s;
typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef napi_value (*napi_callback)(napi_env env, napi_callback_info info);
/* `napi_ok` is 0. */
typedef int napi_status;

napi_status napi_get_cb_info(napi_env, napi_callback_info, size_t *count, napi_value *values, napi_value *self, void **data);
napi_status napi_get_value_bigint_int64(napi_env, napi_value, int64_t *result, bool *lossless);
napi_status napi_create_bigint_int64(napi_env, int64_t, napi_value *result);
napi_status napi_get_buffer_info(napi_env, napi_value, void **data, size_t *length);
napi_status napi_create_function(napi_env, const char *name, size_t length, napi_callback, void *data, napi_value *result);
napi_status napi_set_named_property(napi_env, napi_value object, const char *name, napi_value value);
napi_status napi_get_uv_event_loop(napi_env, struct uv_loop_s **loop);
/* Of libuv. */
int uv_loop_fork(struct uv_loop_s *loop);

/* Reads bigints; absent ones are 0. Anything else counts as 0. */
static void read_arguments(napi_env env, napi_callback_info info, int64_t *out) {
  napi_value values[MAX_ARGUMENTS];
  size_t count = MAX_ARGUMENTS;
  bool lossless;
  for (size_t i = 0; i < MAX_ARGUMENTS; i++) out[i] = 0;
  if (napi_get_cb_info(env, info, &count, values, NULL, NULL) != 0) return;
  for (size_t i = 0; i < count && i < MAX_ARGUMENTS; i++) napi_get_value_bigint_int64(env, values[i], &out[i], &lossless);
}

static napi_value answer(napi_env env, int64_t result) {
  napi_value value = NULL;
  napi_create_bigint_int64(env, result, &value);
  return value;
}

static napi_value make_syscall(napi_env env, napi_callback_info info) {
  int64_t a[MAX_ARGUMENTS];
  read_arguments(env, info, a);
  long result = syscall(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
  return answer(env, result < 0 ? -errno : result);
}

static napi_value make_prctl(napi_env env, napi_callback_info info) {
  int64_t a[MAX_ARGUMENTS];
  read_arguments(env, info, a);
  int result = prctl((int)a[0], (unsigned long)a[1], 0UL, 0UL, 0UL);
  return answer(env, result < 0 ? -errno : result);
}

static napi_value set_limit(napi_env env, napi_callback_info info) {
  int64_t a[MAX_ARGUMENTS];
  read_arguments(env, info, a);
  struct rlimit limit = {(rlim_t)a[1], (rlim_t)a[1]};
  return answer(env, setrlimit((int)a[0], &limit) < 0 ? -errno : 0);
}

/* libuv returns minus the errno by itself. */
static napi_value renew_event_loop(napi_env env, napi_callback_info info) {
  struct uv_loop_s *loop = NULL;
  (void)info;
  if (napi_get_uv_event_loop(env, &loop) != 0) return answer(env, -EINVAL);
  return answer(env, uv_loop_fork(loop));
}

static napi_value address_of(napi_env env, napi_callback_info info) {
  napi_value buffer;
  size_t count = 1;
  void *data = NULL;
  if (napi_get_cb_info(env, info, &count, &buffer, NULL, NULL) == 0 && count == 1)
    napi_get_buffer_info(env, buffer, &data, NULL);
  return answer(env, (int64_t)(intptr_t)data);
}

static void define(napi_env env, napi_value exports, const char *name, napi_callback callback) {
  napi_value function;
  if (napi_create_function(env, name, (size_t)-1, callback, NULL, &function) == 0)
    napi_set_named_property(env, exports, name, function);
}

napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  define(env, exports, "syscall", make_syscall);
  define(env, exports, "prctl", make_prctl);
  define(env, exports, "setLimit", set_limit);
  define(env, exports, "renewEventLoop", renew_event_loop);
  define(env, exports, "addressOf", address_of);
  return exports;
}
