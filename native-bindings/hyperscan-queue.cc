// Compiles several databases at once, in threads of its own. The caller waits for
// one result after the other; results come in the order in which they are done.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "convert.h"
#include "hyperscan-compile.h"

namespace waf {

namespace {

struct CompileJob {
  uint32_t id;
  ExpressionSet set;
};

struct CompileResult {
  uint32_t id = 0;
  char* bytes = nullptr;  // serialized, made by malloc; null where it failed
  size_t size = 0;
  std::string message;
  int expression = -1;
};

CompileResult Run(CompileJob& job) {
  CompileResult result;
  result.id = job.id;
  hs_database_t* database = nullptr;
  hs_compile_error_t* error = nullptr;
  if (CompileSet(job.set, HS_MODE_BLOCK, &database, &error) != HS_SUCCESS) {
    result.message = TakeMessage(error, &result.expression);
    return result;
  }
  if (hs_serialize_database(database, &result.bytes, &result.size) != HS_SUCCESS) {
    result.message = "the database cannot be serialized";
  }
  hs_free_database(database);
  return result;
}

class CompileQueue : public Napi::ObjectWrap<CompileQueue> {
 public:
  static void Register(Napi::Env env, Napi::Object exports) {
    exports.Set("HsCompileQueue", DefineClass(env, "HsCompileQueue",
                                              {InstanceMethod<&CompileQueue::Submit>("submit"),
                                               InstanceMethod<&CompileQueue::Next>("next"),
                                               InstanceMethod<&CompileQueue::Close>("close")}));
  }

  // (threads)
  explicit CompileQueue(const Napi::CallbackInfo& info) : Napi::ObjectWrap<CompileQueue>(info) {
    const unsigned count = info[0].IsNumber() ? info[0].As<Napi::Number>().Uint32Value() : 1;
    for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this] { Work(); });
  }

  ~CompileQueue() override { Stop(); }

 private:
  // (id, expressions)
  Napi::Value Submit(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    if (!info[0].IsNumber()) return FailType(env, "expected a number and expressions");
    CompileJob job{info[0].As<Napi::Number>().Uint32Value(), {}};
    if (!ReadExpressions(env, info[1], &job.set)) return env.Undefined();
    if (job.set.patterns.empty()) return FailType(env, "a database needs at least one expression");
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_) return Fail(env, "closed", "the queue is closed");
      jobs_.push_back(std::move(job));
      ++open_;
    }
    work_.notify_one();
    return env.Undefined();
  }

  // () -> {id, bytes} or {id, message, expression}; null when nothing is under way
  Napi::Value Next(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    std::unique_lock<std::mutex> lock(mutex_);
    if (open_ == 0) return env.Null();
    done_.wait(lock, [this] { return !results_.empty(); });
    CompileResult result = std::move(results_.front());
    results_.pop_front();
    --open_;
    lock.unlock();
    Napi::Object object = Napi::Object::New(env);
    object.Set("id", Napi::Number::New(env, result.id));
    if (result.bytes == nullptr) {
      object.Set("message", Napi::String::New(env, result.message));
      object.Set("expression", Napi::Number::New(env, result.expression));
      return object;
    }
    object.Set("bytes", Napi::Buffer<char>::Copy(env, result.bytes, result.size));
    std::free(result.bytes);
    return object;
  }

  Napi::Value Close(const Napi::CallbackInfo& info) {
    Stop();
    return info.Env().Undefined();
  }

  // What is being compiled is finished first: the compiler cannot be stopped.
  void Stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      open_ = 0;
      jobs_.clear();
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    for (CompileResult& result : results_) std::free(result.bytes);
    results_.clear();
  }

  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      work_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      CompileJob job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      CompileResult result = Run(job);
      lock.lock();
      results_.push_back(std::move(result));
      done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  std::deque<CompileJob> jobs_;
  std::deque<CompileResult> results_;
  size_t open_ = 0;  // submitted, and its result not taken
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

void RegisterHyperscanQueue(Napi::Env env, Napi::Object exports) {
  CompileQueue::Register(env, exports);
}

}  // namespace waf
