// Maps a file of fixed size as memory that several threads and processes share: what is written
// there outlives the process without a system call. Never grows a file while it is mapped.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include <cerrno>

#include "convert.h"

namespace waf {

namespace {

constexpr int64_t kBytesMax = 1 << 20;

Napi::Value FailWith(Napi::Env env, int system_error) {
  const int error = uv_translate_sys_error(system_error);
  return Fail(env, uv_err_name(error), uv_strerror(error));
}

// 0, or an errno. A page without room on the disk would end the process when it is written.
int Reserve(int fd, size_t size) {
  struct stat facts = {};
  if (fstat(fd, &facts) != 0) return errno;
  if (!S_ISREG(facts.st_mode)) return EINVAL;
  return posix_fallocate(fd, 0, static_cast<off_t>(size));
}

// (path, bytes) => ArrayBuffer.
Napi::Value MapFile(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (info.Length() != 2 || !info[0].IsString() || !info[1].IsNumber()) {
    return FailType(env, "mapFile takes a path and a number of bytes");
  }
  const int64_t wanted = info[1].As<Napi::Number>().Int64Value();
  if (wanted < 1 || wanted > kBytesMax) return FailType(env, "mapFile maps 1 byte to 1 MB");
  const auto size = static_cast<size_t>(wanted);
  const std::string path = info[0].As<Napi::String>().Utf8Value();
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return FailWith(env, errno);
  const int reserved = Reserve(fd, size);
  void* memory =
      reserved == 0 ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  const int error = reserved == 0 ? errno : reserved;
  close(fd);
  if (memory == MAP_FAILED) return FailWith(env, error);
  napi_value buffer = nullptr;
  const auto unmap = [](napi_env, void* data, void* length) {
    munmap(data, reinterpret_cast<size_t>(length));
  };
  if (napi_create_external_arraybuffer(env, memory, size, unmap, reinterpret_cast<void*>(size),
                                       &buffer) != napi_ok) {
    munmap(memory, size);
    return Fail(env, "ENOTSUP", "this Node does not take memory of others");
  }
  return Napi::Value(env, buffer);
}

}  // namespace

void RegisterMappedFile(Napi::Env env, Napi::Object exports) {
  exports.Set("mapFile", Napi::Function::New(env, MapFile));
}

}  // namespace waf
