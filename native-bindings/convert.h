// Moves values across N-API: argument reading, errors with a code, the per-environment state.
// No exception crosses: every function reports failure by its result and a pending JS error.
#ifndef WAF_NATIVE_CONVERT_H
#define WAF_NATIVE_CONVERT_H

#include <napi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct pcre2_real_jit_stack_8;

namespace waf {

// One per JavaScript environment (main thread or worker); nothing here is shared between threads.
struct ScanWorkspace;

struct InstanceData {
  Napi::FunctionReference database_class;
  // 65536 bytes or empty (SecUnicodeMapFile for the slow path).
  std::vector<uint8_t> unicode_map;
  // Scratch for strings and transformation outputs; cut back when it grew beyond kScratchKept.
  std::vector<uint8_t> scratch[3];
  pcre2_real_jit_stack_8* jit_stack = nullptr;
  // By the entries that a scan program may remember; gone with the last program.
  std::map<size_t, std::weak_ptr<ScanWorkspace>> scan_workspaces;
  ~InstanceData();
};

constexpr size_t kScratchKept = 1 << 20;

InstanceData& DataOf(Napi::Env env);

// Throws `message` as an Error whose `code` is `code`; returns undefined for `return Fail(...)`.
Napi::Value Fail(Napi::Env env, const char* code, const std::string& message);
Napi::Value FailType(Napi::Env env, const char* message);

// Bytes of a latin1 string or a Uint8Array argument. A string is copied into `scratch`.
struct ByteView {
  const uint8_t* data = nullptr;
  size_t size = 0;
};
bool ReadBytes(Napi::Env env, napi_value value, std::vector<uint8_t>& scratch, ByteView* view);

// A view of a Uint8Array (or Buffer), over ordinary or shared memory; false for anything else.
bool ReadUint8Array(napi_env env, napi_value value, uint8_t** data, size_t* size);
// The same for an Int32Array.
bool ReadInt32Array(napi_env env, napi_value value, int32_t** data, size_t* length);

std::string ReadLatin1(Napi::Value value);
int64_t ReadInteger(const Napi::Object& object, const char* key, int64_t fallback);
bool ReadFlag(const Napi::Object& object, const char* key);
// Is it `true`? Unlike ToBoolean it runs no JavaScript, which a closing environment refuses.
bool ReadBoolean(const Napi::Value& value);
// False when there is no such thing; also when the environment is shutting down, where every
// property reads as nothing at all.
bool ReadObject(const Napi::Array& list, uint32_t index, Napi::Object* object);
bool ReadArray(const Napi::Object& object, const char* key, Napi::Array* list);

Napi::Value NewLatin1(Napi::Env env, const uint8_t* data, size_t size);
Napi::Uint8Array NewBytes(Napi::Env env, const uint8_t* data, size_t size);
Napi::Int32Array NewInt32Array(Napi::Env env, const std::vector<int32_t>& values);

// Registration, one function per area; called by addon.cc only.
void RegisterTransformations(Napi::Env env, Napi::Object exports);
void RegisterInjection(Napi::Env env, Napi::Object exports);
void RegisterValidation(Napi::Env env, Napi::Object exports);
void RegisterHyperscan(Napi::Env env, Napi::Object exports);
void RegisterHyperscanStream(Napi::Env env, Napi::Object exports);
void RegisterScanProgram(Napi::Env env, Napi::Object exports);
void RegisterPcre(Napi::Env env, Napi::Object exports);
void RegisterMappedFile(Napi::Env env, Napi::Object exports);
void RegisterMemory(Napi::Env env, Napi::Object exports);
void RegisterThreadTime(Napi::Env env, Napi::Object exports);
void RegisterAccept(Napi::Env env, Napi::Object exports);
void RegisterHttp2Session(Napi::Env env, Napi::Object exports);
void RegisterZstd(Napi::Env env, Napi::Object exports);

}  // namespace waf

#endif  // WAF_NATIVE_CONVERT_H
