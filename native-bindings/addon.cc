// Registration only: one line per area of the addon.
#include <napi.h>

#include "convert.h"

namespace {

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new waf::InstanceData());
  waf::RegisterTransformations(env, exports);
  waf::RegisterInjection(env, exports);
  waf::RegisterValidation(env, exports);
  waf::RegisterHyperscan(env, exports);
  waf::RegisterHyperscanStream(env, exports);
  waf::RegisterScanProgram(env, exports);
  waf::RegisterPcre(env, exports);
  waf::RegisterMappedFile(env, exports);
  waf::RegisterMemory(env, exports);
  waf::RegisterThreadTime(env, exports);
  waf::RegisterAccept(env, exports);
  waf::RegisterHttp2Session(env, exports);
  waf::RegisterZstd(env, exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(waf_native, Init)
