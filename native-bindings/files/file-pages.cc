// Lets go of file pages that a process has looked at through a map: the kernel keeps them
// as its cache and takes them back as it likes, but counts them to the process until then.
#include <sys/mman.h>

#include <cstdio>
#include <cstring>

#include "files.h"

namespace {

// Only shared maps of LMDB's files that nobody writes through: what is dropped is read again.
bool IsStore(const char* permissions, const char* path) {
  const size_t length = strlen(path);
  constexpr char kName[] = "/data.mdb";
  constexpr size_t kNameLength = sizeof(kName) - 1;
  return strcmp(permissions, "r--s") == 0 && length >= kNameLength &&
         strcmp(path + length - kNameLength, kName) == 0;
}

// Maps that were let go; 0 where /proc is not there.
napi_value DropFilePages(napi_env env, napi_callback_info) {
  int dropped = 0;
  if (FILE* maps = fopen("/proc/self/maps", "re"); maps != nullptr) {
    char line[4608];
    while (fgets(line, sizeof(line), maps) != nullptr) {
      unsigned long start = 0, end = 0;
      char permissions[8] = "", path[4200] = "";
      const int read =
          sscanf(line, "%lx-%lx %7s %*s %*s %*s %4199[^\n]", &start, &end, permissions, path);
      if (read != 4 || !IsStore(permissions, path)) continue;
      if (madvise(reinterpret_cast<void*>(start), end - start, MADV_DONTNEED) == 0) dropped++;
    }
    fclose(maps);
  }
  napi_value result = nullptr;
  napi_create_int32(env, dropped, &result);
  return result;
}

}  // namespace

void waf::RegisterFilePages(napi_env env, napi_value exports) {
  napi_value function = nullptr;
  napi_create_function(env, "dropFilePages", NAPI_AUTO_LENGTH, DropFilePages, nullptr, &function);
  napi_set_named_property(env, exports, "dropFilePages", function);
}
