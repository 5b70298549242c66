// The slow-path door to the transformations: one value in, one value out.
#include <cstring>

#include "byte-class.h"
#include "convert.h"
#include "transformations.h"

namespace waf {

namespace {

uint8_t* Reserve(std::vector<uint8_t>& buffer, size_t size) {
  if (buffer.size() < size) {
    buffer.resize(size);
  } else if (buffer.capacity() > kScratchKept && size < kScratchKept) {
    buffer = std::vector<uint8_t>(kScratchKept);
  }
  return buffer.data();
}

// Applies ids[0..count) to `view` in turn; the result lies in scratch 1 or 2 (or is the input).
// Returns false with a pending error for an unknown id. *changed: is the result different bytes?
bool ApplyChain(Napi::Env env, const uint8_t* ids, size_t count, const TransformContext& context,
                ByteView* view, bool* changed) {
  InstanceData& data = DataOf(env);
  const ByteView original = *view;
  unsigned side = 1;
  for (size_t k = 0; k < count; ++k) {
    if (ids[k] >= kTransformationCount) {
      FailType(env, "unknown transformation id");
      return false;
    }
    const Transformation& t = kTransformations[ids[k]];
    if (!t.always && !CanChange(t, MaskOfBytes(view->data, view->size))) continue;
    uint8_t* out = Reserve(data.scratch[side], OutputBound(t, view->size) + 1);
    const size_t length = t.run(view->data, view->size, out, context);
    *view = ByteView{out, length};
    side = 3 - side;
  }
  *changed = view->size != original.size ||
             (view->size != 0 && std::memcmp(view->data, original.data, view->size) != 0);
  return true;
}

bool ReadMap(Napi::Env env, const Napi::Value& value, TransformContext* context) {
  const InstanceData& data = DataOf(env);
  if (!data.unicode_map.empty()) context->unicode_map = data.unicode_map.data();
  if (value.IsUndefined()) return true;
  uint8_t* map = nullptr;
  size_t size = 0;
  if (!ReadUint8Array(env, value, &map, &size) || size != 65536) {
    FailType(env, "a unicode map is a Uint8Array of 65536 bytes");
    return false;
  }
  context->unicode_map = map;
  return true;
}

// (ids: number | Uint8Array, value: string | Uint8Array, map?) -> the same type as value
Napi::Value Transform(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  uint8_t single = 0;
  uint8_t* ids = &single;
  size_t count = 1;
  if (info[0].IsNumber()) {
    const uint32_t id = info[0].As<Napi::Number>().Uint32Value();
    if (id >= kTransformationCount) return FailType(env, "unknown transformation id");
    single = static_cast<uint8_t>(id);
  } else if (!ReadUint8Array(env, info[0], &ids, &count)) {
    return FailType(env, "transformation ids are a number or a Uint8Array");
  }
  TransformContext context;
  ByteView view;
  bool changed = false;
  if (!ReadMap(env, info[2], &context)) return env.Undefined();
  if (!ReadBytes(env, info[1], DataOf(env).scratch[0], &view)) return env.Undefined();
  if (!ApplyChain(env, ids, count, context, &view, &changed)) return env.Undefined();
  if (!changed) return info[1];
  if (info[1].IsString()) return NewLatin1(env, view.data, view.size);
  return NewBytes(env, view.data, view.size);
}

Napi::Value SetUnicodeMap(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  InstanceData& data = DataOf(env);
  data.unicode_map.clear();
  if (info[0].IsNull() || info[0].IsUndefined()) return env.Undefined();
  TransformContext context;
  if (!ReadMap(env, info[0], &context)) return env.Undefined();
  data.unicode_map.assign(context.unicode_map, context.unicode_map + 65536);
  return env.Undefined();
}

Napi::Value TransformationNames(const Napi::CallbackInfo& info) {
  Napi::Array names = Napi::Array::New(info.Env(), kTransformationCount);
  for (size_t i = 0; i < kTransformationCount; ++i) {
    names.Set(static_cast<uint32_t>(i), kTransformations[i].name);
  }
  return names;
}

// The class masks that make a transformation worth running; -1 when it always is.
Napi::Value TransformationTriggers(const Napi::CallbackInfo& info) {
  Napi::Array triggers = Napi::Array::New(info.Env(), kTransformationCount);
  for (size_t i = 0; i < kTransformationCount; ++i) {
    const Transformation& t = kTransformations[i];
    triggers.Set(static_cast<uint32_t>(i), t.always ? -1.0 : static_cast<double>(t.trigger));
  }
  return triggers;
}

Napi::Value ByteClasses(const Napi::CallbackInfo& info) {
  Napi::Uint8Array classes = Napi::Uint8Array::New(info.Env(), 256);
  for (unsigned c = 0; !classes.IsEmpty() && c < 256; ++c) classes[c] = ClassOfByte(c);
  return classes;
}

}  // namespace

void RegisterTransformations(Napi::Env env, Napi::Object exports) {
  exports.Set("transform", Napi::Function::New(env, Transform));
  exports.Set("setUnicodeMap", Napi::Function::New(env, SetUnicodeMap));
  exports.Set("transformationNames", Napi::Function::New(env, TransformationNames));
  exports.Set("transformationTriggers", Napi::Function::New(env, TransformationTriggers));
  exports.Set("byteClasses", Napi::Function::New(env, ByteClasses));
}

}  // namespace waf
