// The implementation of convert.h.
#include "convert.h"

#include <cstring>

namespace waf {

InstanceData& DataOf(Napi::Env env) { return *env.GetInstanceData<InstanceData>(); }

Napi::Value Fail(Napi::Env env, const char* code, const std::string& message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, code));
  error.ThrowAsJavaScriptException();
  return env.Undefined();
}

Napi::Value FailType(Napi::Env env, const char* message) {
  Napi::TypeError::New(env, message).ThrowAsJavaScriptException();
  return env.Undefined();
}

bool ReadUint8Array(napi_env env, napi_value value, uint8_t** data, size_t* size) {
  napi_typedarray_type type;
  void* raw = nullptr;
  if (napi_get_typedarray_info(env, value, &type, size, &raw, nullptr, nullptr) != napi_ok) {
    return false;
  }
  *data = static_cast<uint8_t*>(raw);
  return type == napi_uint8_array;
}

bool ReadInt32Array(napi_env env, napi_value value, int32_t** data, size_t* length) {
  napi_typedarray_type type;
  void* raw = nullptr;
  if (napi_get_typedarray_info(env, value, &type, length, &raw, nullptr, nullptr) != napi_ok) {
    return false;
  }
  *data = static_cast<int32_t*>(raw);
  return type == napi_int32_array;
}

bool ReadBytes(Napi::Env env, napi_value value, std::vector<uint8_t>& scratch, ByteView* view) {
  size_t length = 0;
  if (napi_get_value_string_latin1(env, value, nullptr, 0, &length) == napi_ok) {
    if (scratch.size() < length + 1) {
      scratch.resize(length + 1);
    } else if (scratch.capacity() > kScratchKept && length < kScratchKept) {
      scratch = std::vector<uint8_t>(kScratchKept);
    }
    napi_get_value_string_latin1(env, value, reinterpret_cast<char*>(scratch.data()),
                                 scratch.size(), &length);
    view->data = scratch.data();
    view->size = length;
    return true;
  }
  uint8_t* data = nullptr;
  if (!ReadUint8Array(env, value, &data, &view->size)) {
    FailType(env, "expected a byte string or a Uint8Array");
    return false;
  }
  view->data = data;
  return true;
}

std::string ReadLatin1(Napi::Value value) {
  size_t length = 0;
  if (napi_get_value_string_latin1(value.Env(), value, nullptr, 0, &length) != napi_ok) return {};
  std::string text(length + 1, '\0');
  napi_get_value_string_latin1(value.Env(), value, &text[0], text.size(), &length);
  text.resize(length);
  return text;
}

int64_t ReadInteger(const Napi::Object& object, const char* key, int64_t fallback) {
  Napi::Value value = object.Get(key);
  return value.IsNumber() ? value.As<Napi::Number>().Int64Value() : fallback;
}

bool ReadFlag(const Napi::Object& object, const char* key) { return ReadBoolean(object.Get(key)); }

bool ReadBoolean(const Napi::Value& value) {
  bool flag = false;
  if (value.IsEmpty()) return false;
  return napi_get_value_bool(value.Env(), value, &flag) == napi_ok && flag;
}

bool ReadObject(const Napi::Array& list, uint32_t index, Napi::Object* object) {
  Napi::Value value = list.Get(index);
  if (value.IsEmpty() || !value.IsObject()) return false;
  *object = value.As<Napi::Object>();
  return true;
}

bool ReadArray(const Napi::Object& object, const char* key, Napi::Array* list) {
  Napi::Value value = object.Get(key);
  if (value.IsEmpty() || !value.IsArray()) return false;
  *list = value.As<Napi::Array>();
  return true;
}

Napi::Value NewLatin1(Napi::Env env, const uint8_t* data, size_t size) {
  napi_value text = nullptr;
  const char* chars = size == 0 ? "" : reinterpret_cast<const char*>(data);
  if (napi_create_string_latin1(env, chars, size, &text) != napi_ok) {
    return Fail(env, "string_too_long", "the output is longer than a string may be");
  }
  return Napi::Value(env, text);
}

Napi::Uint8Array NewBytes(Napi::Env env, const uint8_t* data, size_t size) {
  Napi::Uint8Array array = Napi::Uint8Array::New(env, size);
  if (size != 0 && !array.IsEmpty()) std::memcpy(array.Data(), data, size);
  return array;
}

Napi::Int32Array NewInt32Array(Napi::Env env, const std::vector<int32_t>& values) {
  Napi::Int32Array array = Napi::Int32Array::New(env, values.size());
  if (!values.empty() && !array.IsEmpty())
    std::memcpy(array.Data(), values.data(), values.size() * sizeof(int32_t));
  return array;
}

}  // namespace waf
