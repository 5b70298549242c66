// What the small addon for LMDB's files registers.
#ifndef WAF_NATIVE_FILES_H
#define WAF_NATIVE_FILES_H

#include <node_api.h>

namespace waf {

void RegisterFilePages(napi_env env, napi_value exports);
void RegisterFileLock(napi_env env, napi_value exports);

}  // namespace waf

#endif
