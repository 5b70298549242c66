// Registration only. An addon of its own, without the matcher's libraries, for processes that match
// nothing.
#include "files.h"

NAPI_MODULE_INIT() {
  waf::RegisterFilePages(env, exports);
  waf::RegisterFileLock(env, exports);
  return exports;
}
