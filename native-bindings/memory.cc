// Gives memory back: V8's heap of the calling thread, and what malloc keeps of freed blocks.
#include <dlfcn.h>
#include <malloc.h>

#include "convert.h"

namespace waf {

namespace {

// v8::MemoryPressureLevel::kModerate: V8 starts an incremental collection that shrinks the heap,
// marks beside the running program and pauses it for some milliseconds. kCritical would stop it.
constexpr int kModerate = 1;

// V8's functions by their exported names. Its header would tie the addon to one version of Node
// and of C++; a Node that does not export these keeps its memory, and everything else works.
using GetCurrent = void* (*)();
using NotifyPressure = void (*)(void* isolate, int level);

template <typename Function>
Function Find(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, symbol));
}

Napi::Value EaseHeap(const Napi::CallbackInfo& info) {
  const auto current = Find<GetCurrent>("_ZN2v87Isolate10GetCurrentEv");
  const auto notify =
      Find<NotifyPressure>("_ZN2v87Isolate26MemoryPressureNotificationENS_19MemoryPressureLevelE");
  void* isolate = current == nullptr || notify == nullptr ? nullptr : current();
  if (isolate != nullptr) notify(isolate, kModerate);
  return Napi::Boolean::New(info.Env(), isolate != nullptr);
}

Napi::Value TrimHeap(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), malloc_trim(0) == 1);
}

}  // namespace

void RegisterMemory(Napi::Env env, Napi::Object exports) {
  exports.Set("easeHeap", Napi::Function::New(env, EaseHeap));
  exports.Set("trimHeap", Napi::Function::New(env, TrimHeap));
}

}  // namespace waf
