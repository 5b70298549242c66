// The life of one Hyperscan database and of scratch space; shared by the scanning files.
#ifndef WAF_NATIVE_HYPERSCAN_H
#define WAF_NATIVE_HYPERSCAN_H

#include <hs/hs.h>
#include <napi.h>

#include <memory>
#include <string>

namespace waf {

// Memory outside the JavaScript heap, made known to its garbage collector while this lives.
class ExternalBytes {
 public:
  ExternalBytes(Napi::Env env, size_t bytes) : env_(env), bytes_(static_cast<int64_t>(bytes)) {
    Napi::MemoryManagement::AdjustExternalMemory(env_, bytes_);
  }
  ExternalBytes(const ExternalBytes&) = delete;
  ExternalBytes& operator=(const ExternalBytes&) = delete;
  ~ExternalBytes() { Napi::MemoryManagement::AdjustExternalMemory(env_, -bytes_); }

 private:
  Napi::Env env_;
  int64_t bytes_;
};

// A database that either owns its memory or lies in shared memory that `keep` holds alive.
class DatabaseHandle {
 public:
  DatabaseHandle(Napi::Env env, hs_database_t* owned)
      : database_(owned), owned_(true), external_(env, SizeOf(owned)) {}
  DatabaseHandle(Napi::Env env, const hs_database_t* shared, Napi::Reference<Napi::Uint8Array> keep)
      : database_(shared), owned_(false), keep_(std::move(keep)), external_(env, 0) {}
  DatabaseHandle(const DatabaseHandle&) = delete;
  DatabaseHandle& operator=(const DatabaseHandle&) = delete;
  ~DatabaseHandle() {
    if (owned_) hs_free_database(const_cast<hs_database_t*>(database_));
  }
  const hs_database_t* get() const { return database_; }

 private:
  static size_t SizeOf(const hs_database_t* database) {
    size_t size = 0;
    return hs_database_size(database, &size) == HS_SUCCESS ? size : 0;
  }

  const hs_database_t* database_;
  bool owned_;
  Napi::Reference<Napi::Uint8Array> keep_;
  ExternalBytes external_;
};

class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { hs_free_scratch(scratch_); }
  // Makes the scratch large enough for `database` too.
  bool Grow(const hs_database_t* database) {
    return hs_alloc_scratch(database, &scratch_) == HS_SUCCESS;
  }
  hs_scratch_t* get() const { return scratch_; }
  size_t Size() const {
    size_t size = 0;
    return scratch_ != nullptr && hs_scratch_size(scratch_, &size) == HS_SUCCESS ? size : 0;
  }

 private:
  hs_scratch_t* scratch_ = nullptr;
};

// The JavaScript object around a DatabaseHandle.
class HsDatabase : public Napi::ObjectWrap<HsDatabase> {
 public:
  static void Register(Napi::Env env, Napi::Object exports);
  static Napi::Value Wrap(Napi::Env env, std::shared_ptr<DatabaseHandle> handle);
  // The handle of a JavaScript HsDatabase; nullptr when it is closed or something else.
  static std::shared_ptr<DatabaseHandle> HandleOf(Napi::Env env, const Napi::Value& value);

  explicit HsDatabase(const Napi::CallbackInfo& info);

 private:
  Napi::Value Serialize(const Napi::CallbackInfo& info);
  Napi::Value Scan(const Napi::CallbackInfo& info);
  Napi::Value Info(const Napi::CallbackInfo& info);
  Napi::Value Size(const Napi::CallbackInfo& info);
  Napi::Value Close(const Napi::CallbackInfo& info);
  bool IsOpen(Napi::Env env) const;

  std::shared_ptr<DatabaseHandle> handle_;
  std::unique_ptr<Scratch> scratch_;
};

// What an hs_error_t means, for people.
const char* ErrorText(hs_error_t error);
void RegisterHyperscanCompile(Napi::Env env, Napi::Object exports);
void RegisterHyperscanQueue(Napi::Env env, Napi::Object exports);

}  // namespace waf

#endif  // WAF_NATIVE_HYPERSCAN_H
