// Accepts clients from a listening socket: each new descriptor goes to JavaScript, which
// makes a socket of it as it likes. Never reads or writes a connection.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <cerrno>
#include <memory>

#include "convert.h"

namespace waf {

namespace {

// Clients taken in one turn of the event loop before other work gets its turn.
// Each of them may send its first request in the next turn.
constexpr int kBatch = 16;
// Out of descriptors or memory: how long to leave waiting clients in the kernel's queue.
constexpr uint64_t kPauseMs = 100;

struct Acceptor {
  explicit Acceptor(Napi::Env e) : env(e) {}
  Napi::Env env;
  int fd = -1;
  uv_poll_t poll;
  uv_timer_t pause;
  Napi::FunctionReference callback;
  // One element: the callback writes the descriptor there when it owns it.
  Napi::Reference<Napi::Int32Array> owned;
  int32_t* owned_fd = nullptr;
  std::unique_ptr<Napi::AsyncContext> context;
  napi_async_cleanup_hook_handle hook = nullptr;
  // Holds the object until both handles are closed.
  std::shared_ptr<Acceptor> self;
  int open_handles = 0;
  bool closing = false;
};

void OnReadable(uv_poll_t* poll, int status, int events);

void OnHandleClosed(uv_handle_t* handle) {
  auto* acceptor = static_cast<Acceptor*>(handle->data);
  if (--acceptor->open_handles > 0) return;
  close(acceptor->fd);
  if (acceptor->hook != nullptr) napi_remove_async_cleanup_hook(acceptor->hook);
  acceptor->self.reset();
}

void CloseAcceptor(Acceptor* acceptor) {
  if (acceptor->closing) return;
  acceptor->closing = true;
  acceptor->callback.Reset();
  acceptor->owned.Reset();
  acceptor->context.reset();
  uv_close(reinterpret_cast<uv_handle_t*>(&acceptor->poll), OnHandleClosed);
  uv_close(reinterpret_cast<uv_handle_t*>(&acceptor->pause), OnHandleClosed);
}

// The environment ends; the handle given here is the one to remove when all is closed.
void OnEnvironmentEnd(napi_async_cleanup_hook_handle hook, void* data) {
  auto* acceptor = static_cast<Acceptor*>(data);
  acceptor->hook = hook;
  CloseAcceptor(acceptor);
}

void OnPauseOver(uv_timer_t* timer) {
  auto* acceptor = static_cast<Acceptor*>(timer->data);
  uv_poll_start(&acceptor->poll, UV_READABLE, OnReadable);
}

bool IsExhausted(int number) {
  return number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM;
}

void OnReadable(uv_poll_t* poll, int, int) {
  auto* acceptor = static_cast<Acceptor*>(poll->data);
  for (int i = 0; i < kBatch && !acceptor->closing; ++i) {
    const int fd = accept4(acceptor->fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (!IsExhausted(errno)) return;
      // The queue stays readable: without a pause this would be a busy loop.
      uv_poll_stop(poll);
      uv_timer_start(&acceptor->pause, OnPauseOver, kPauseMs, 0);
      return;
    }
    const int on = 1;
    // Best effort: a client that is gone already ends by itself when it is read.
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    Napi::HandleScope scope(acceptor->env);
    int32_t* owned = acceptor->owned_fd;
    *owned = -1;
    acceptor->callback.MakeCallback(acceptor->env.Global(), {Napi::Number::New(acceptor->env, fd)},
                                    *acceptor->context);
    // A thread that is being stopped runs no more JavaScript; nobody else would close it.
    if (!acceptor->closing && *owned != fd) close(fd);
  }
}

// (listening fd, Int32Array of one, (fd) => void) -> () => void that stops and closes the listening
// socket.
Napi::Value AcceptClients(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  int32_t* owned = nullptr;
  size_t length = 0;
  if (!info[0].IsNumber() || !info[2].IsFunction()) return FailType(env, "expected fd, callback");
  if (!ReadInt32Array(env, info[1], &owned, &length) || length != 1) {
    return FailType(env, "expected an Int32Array of one element");
  }
  uv_loop_t* loop = nullptr;
  if (napi_get_uv_event_loop(env, &loop) != napi_ok) return Fail(env, "ENOTSUP", "no event loop");
  auto acceptor = std::make_shared<Acceptor>(env);
  acceptor->fd = info[0].As<Napi::Number>().Int32Value();
  const int error = uv_poll_init(loop, &acceptor->poll, acceptor->fd);
  if (error != 0) return Fail(env, uv_err_name(error), uv_strerror(error));
  uv_timer_init(loop, &acceptor->pause);
  acceptor->poll.data = acceptor.get();
  acceptor->pause.data = acceptor.get();
  acceptor->open_handles = 2;
  acceptor->self = acceptor;
  acceptor->owned = Napi::Persistent(info[1].As<Napi::Int32Array>());
  acceptor->owned_fd = owned;
  acceptor->callback = Napi::Persistent(info[2].As<Napi::Function>());
  acceptor->context = std::make_unique<Napi::AsyncContext>(env, "waf.accept");
  napi_add_async_cleanup_hook(env, OnEnvironmentEnd, acceptor.get(), &acceptor->hook);
  uv_poll_start(&acceptor->poll, UV_READABLE, OnReadable);
  const std::weak_ptr<Acceptor> weak = acceptor;
  return Napi::Function::New(env, [weak](const Napi::CallbackInfo&) {
    if (const auto open = weak.lock()) CloseAcceptor(open.get());
  });
}

}  // namespace

void RegisterAccept(Napi::Env env, Napi::Object exports) {
  exports.Set("acceptClients", Napi::Function::New(env, AcceptClients));
}

}  // namespace waf
