// Advisory locks of whole files between processes; the kernel frees them with their process.
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "files.h"

namespace {

bool ReadDescriptor(napi_env env, napi_callback_info info, int32_t* fd) {
  size_t count = 1;
  napi_value argument = nullptr;
  napi_get_cb_info(env, info, &count, &argument, nullptr, nullptr);
  if (count == 1 && napi_get_value_int32(env, argument, fd) == napi_ok) return true;
  napi_throw_type_error(env, nullptr, "a lock takes a file descriptor");
  return false;
}

napi_value ThrowErrno(napi_env env, int error) {
  napi_throw_error(env, error == EBADF ? "EBADF" : "ENOLCK", strerror(error));
  return nullptr;
}

// (fd) => whether the lock is held now; never waits.
napi_value TryLock(napi_env env, napi_callback_info info) {
  int32_t fd = -1;
  if (!ReadDescriptor(env, info, &fd)) return nullptr;
  int result = 0;
  while ((result = flock(fd, LOCK_EX | LOCK_NB)) != 0 && errno == EINTR) {
  }
  if (result != 0 && errno != EWOULDBLOCK) return ThrowErrno(env, errno);
  napi_value held = nullptr;
  napi_get_boolean(env, result == 0, &held);
  return held;
}

napi_value Unlock(napi_env env, napi_callback_info info) {
  int32_t fd = -1;
  if (!ReadDescriptor(env, info, &fd)) return nullptr;
  if (flock(fd, LOCK_UN) != 0) return ThrowErrno(env, errno);
  return nullptr;
}

}  // namespace

void waf::RegisterFileLock(napi_env env, napi_value exports) {
  const napi_property_descriptor functions[] = {
      {"tryLock", nullptr, TryLock, nullptr, nullptr, nullptr, napi_default, nullptr},
      {"unlock", nullptr, Unlock, nullptr, nullptr, nullptr, napi_default, nullptr},
  };
  napi_define_properties(env, exports, 2, functions);
}
