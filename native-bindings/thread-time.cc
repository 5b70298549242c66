// The CPU time of the calling thread.
#include <ctime>

#include "convert.h"

namespace waf {

namespace {

napi_value ThreadCpuUs(napi_env env, napi_callback_info) {
  timespec spent = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  const double us =
      static_cast<double>(spent.tv_sec) * 1e6 + static_cast<double>(spent.tv_nsec) / 1e3;
  napi_value result = nullptr;
  napi_create_double(env, us, &result);
  return result;
}

}  // namespace

void RegisterThreadTime(Napi::Env env, Napi::Object exports) {
  napi_value function = nullptr;
  napi_create_function(env, "threadCpuUs", NAPI_AUTO_LENGTH, ThreadCpuUs, nullptr, &function);
  exports.Set("threadCpuUs", Napi::Value(env, function));
}

}  // namespace waf
