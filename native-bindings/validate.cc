// The implementation of validate.h and its door.
#include "validate.h"

#include "convert.h"
#include "hex.h"

namespace waf {

bool OutsideByteRange(const uint8_t* data, size_t size, const uint8_t* allowed) {
  for (size_t i = 0; i < size; ++i) {
    if (((allowed[data[i] >> 3] >> (data[i] & 7)) & 1) == 0) return true;
  }
  return false;
}

bool BadUrlEncoding(const uint8_t* data, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (data[i] != '%') continue;
    if (i + 2 >= size || !IsHex(data[i + 1]) || !IsHex(data[i + 2])) return true;
    i += 2;
  }
  return false;
}

namespace {

// The length of the well-formed sequence at p, or 0.
size_t Utf8Sequence(const uint8_t* p, size_t left) {
  const uint8_t c = p[0];
  const size_t count = c >= 0xC2 && c <= 0xDF   ? 2
                       : (c & 0xF0) == 0xE0     ? 3
                       : c >= 0xF0 && c <= 0xF4 ? 4
                                                : 0;
  if (count == 0 || left < count) return 0;
  for (size_t k = 1; k < count; ++k) {
    if ((p[k] & 0xC0) != 0x80) return 0;
  }
  if (c == 0xE0 && p[1] < 0xA0) return 0;
  if (c == 0xED && p[1] > 0x9F) return 0;
  if (c == 0xF0 && p[1] < 0x90) return 0;
  if (c == 0xF4 && p[1] > 0x8F) return 0;
  return count;
}

}  // namespace

bool BadUtf8(const uint8_t* data, size_t size) {
  size_t i = 0;
  while (i < size) {
    if (data[i] < 0x80) {
      ++i;
      continue;
    }
    const size_t count = Utf8Sequence(data + i, size - i);
    if (count == 0) return true;
    i += count;
  }
  return false;
}

namespace {

template <bool (*Check)(const uint8_t*, size_t)>
Napi::Value Run(const Napi::CallbackInfo& info) {
  ByteView view;
  if (!ReadBytes(info.Env(), info[0], DataOf(info.Env()).scratch[0], &view)) {
    return info.Env().Undefined();
  }
  return Napi::Boolean::New(info.Env(), Check(view.data, view.size));
}

Napi::Value RunByteRange(const Napi::CallbackInfo& info) {
  ByteView view;
  if (!ReadBytes(info.Env(), info[0], DataOf(info.Env()).scratch[0], &view)) {
    return info.Env().Undefined();
  }
  uint8_t* allowed = nullptr;
  size_t size = 0;
  if (!ReadUint8Array(info.Env(), info[1], &allowed, &size) || size != 32) {
    return FailType(info.Env(), "a byte range is a Uint8Array of 32 bytes");
  }
  return Napi::Boolean::New(info.Env(), OutsideByteRange(view.data, view.size, allowed));
}

}  // namespace

void RegisterValidation(Napi::Env env, Napi::Object exports) {
  exports.Set("outsideByteRange", Napi::Function::New(env, RunByteRange));
  exports.Set("badUrlEncoding", Napi::Function::New(env, Run<BadUrlEncoding>));
  exports.Set("badUtf8", Napi::Function::New(env, Run<BadUtf8>));
}

}  // namespace waf
