// Decodes Zstandard (RFC 8878) up to a bound of bytes.
#include <zstd.h>

#include <algorithm>

#include "convert.h"

namespace waf {

namespace {

// RFC 9659, section 3: what a content coding may need; 8 MB.
constexpr int kWindowLogMax = 23;
constexpr size_t kFirstBytes = 1 << 16;

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

enum class Outcome { kDone, kTooLarge, kNone };

// Frames one after the other; what is cut off gives what there is.
Outcome Decode(const ByteView& view, size_t bytes_max, std::vector<uint8_t>* output) {
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (context == nullptr) return Outcome::kNone;
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kWindowLogMax);
  // One byte more than allowed shows that there is more.
  const size_t room = bytes_max + 1;
  output->resize(std::min(room, kFirstBytes));
  ZSTD_inBuffer input = {view.data, view.size, 0};
  ZSTD_outBuffer target = {output->data(), output->size(), 0};
  for (;;) {
    if (ZSTD_isError(ZSTD_decompressStream(context.get(), &target, &input)) != 0) {
      return Outcome::kNone;
    }
    if (target.pos == target.size) {
      if (target.size == room) return Outcome::kTooLarge;
      output->resize(std::min(room, target.size * 4));
      target.dst = output->data();
      target.size = output->size();
    } else if (input.pos == input.size) {
      // What has room left holds nothing back.
      output->resize(target.pos);
      return Outcome::kDone;
    }
  }
}

// (bytes, bytesMax) => Buffer, or null for what is not Zstandard.
Napi::Value DecodeZstd(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  ByteView view;
  uint8_t* data = nullptr;
  if (info.Length() != 2 || !info[1].IsNumber() ||
      !ReadUint8Array(env, info[0], &data, &view.size)) {
    return FailType(env, "decodeZstd takes bytes and a number of bytes");
  }
  view.data = data;
  const int64_t bytes_max = info[1].As<Napi::Number>().Int64Value();
  if (bytes_max < 1) return FailType(env, "decodeZstd decodes at least one byte");
  std::vector<uint8_t> output;
  switch (Decode(view, static_cast<size_t>(bytes_max), &output)) {
    case Outcome::kNone:
      return env.Null();
    case Outcome::kTooLarge:
      return Fail(env, "ERR_BUFFER_TOO_LARGE", "the decoded body is larger than the bound");
    case Outcome::kDone:
      break;
  }
  return Napi::Buffer<uint8_t>::Copy(env, output.data(), output.size());
}

}  // namespace

void RegisterZstd(Napi::Env env, Napi::Object exports) {
  exports.Set("decodeZstd", Napi::Function::New(env, DecodeZstd));
}

}  // namespace waf
