// The door to libinjection: SQL injection fingerprint and cross-site scripting test.
#include "injection.h"

#include "convert.h"

namespace waf {

namespace {

Napi::Value DetectSqli(const Napi::CallbackInfo& info) {
  ByteView view;
  if (!ReadBytes(info.Env(), info[0], DataOf(info.Env()).scratch[0], &view)) {
    return info.Env().Undefined();
  }
  char fingerprint[8] = {0};
  if (!IsSqli(view.data, view.size, fingerprint)) return info.Env().Null();
  fingerprint[7] = '\0';
  return Napi::String::New(info.Env(), fingerprint);
}

Napi::Value DetectXss(const Napi::CallbackInfo& info) {
  ByteView view;
  if (!ReadBytes(info.Env(), info[0], DataOf(info.Env()).scratch[0], &view)) {
    return info.Env().Undefined();
  }
  return Napi::Boolean::New(info.Env(), IsXss(view.data, view.size));
}

Napi::Value Version(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), libinjection_version());
}

}  // namespace

void RegisterInjection(Napi::Env env, Napi::Object exports) {
  exports.Set("detectSqli", Napi::Function::New(env, DetectSqli));
  exports.Set("detectXss", Napi::Function::New(env, DetectXss));
  exports.Set("injectionVersion", Napi::Function::New(env, Version));
}

}  // namespace waf
