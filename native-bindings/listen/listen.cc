// Listening sockets that several threads, or processes one after another, serve from one port. An
// addon of its own, without the matcher's libraries, so that the supervisor can hold the sockets.
// Never accepts a connection.
#include <arpa/inet.h>
#include <fcntl.h>
#include <napi.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace {

constexpr int kBacklog = 4096;

// A numeric IPv4 or IPv6 address and port as a socket address; 0 when `host` is neither.
socklen_t MakeAddress(const std::string& host, uint16_t port, sockaddr_storage* storage) {
  std::memset(storage, 0, sizeof(*storage));
  auto* v4 = reinterpret_cast<sockaddr_in*>(storage);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    return sizeof(sockaddr_in);
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(storage);
  if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    return sizeof(sockaddr_in6);
  }
  return 0;
}

// Closes the descriptor unless it was handed on.
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  int Release() {
    const int kept = fd;
    fd = -1;
    return kept;
  }
};

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

Napi::Value FailErrno(Napi::Env env, const char* call, int number) {
  const char* name = strerrorname_np(number);
  return Fail(env, name == nullptr ? "EUNKNOWN" : name,
              std::string(call) + ": " + std::strerror(number));
}

bool SetSocketOptions(int fd, int family) {
  const int on = 1;
  const int off = 0;
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0) return false;
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0) return false;
  return family != AF_INET6 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0;
}

// (host, port) -> { fd, port }: bound with SO_REUSEPORT, not listening yet.
Napi::Value BindReusePort(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (!info[0].IsString() || !info[1].IsNumber()) return FailType(env, "expected host and port");
  const int64_t port = info[1].As<Napi::Number>().Int64Value();
  if (port < 0 || port > 65535) return FailType(env, "a port is 0 to 65535");
  sockaddr_storage address;
  const std::string host = info[0].As<Napi::String>().Utf8Value();
  socklen_t length = MakeAddress(host, static_cast<uint16_t>(port), &address);
  if (length == 0) return Fail(env, "EINVAL", "the host is not a numeric IP address");
  Descriptor socket_fd;
  socket_fd.fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_fd.fd < 0) return FailErrno(env, "socket", errno);
  if (!SetSocketOptions(socket_fd.fd, address.ss_family))
    return FailErrno(env, "setsockopt", errno);
  if (bind(socket_fd.fd, reinterpret_cast<sockaddr*>(&address), length) != 0) {
    return FailErrno(env, "bind", errno);
  }
  if (getsockname(socket_fd.fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return FailErrno(env, "getsockname", errno);
  }
  const uint16_t bound = address.ss_family == AF_INET6
                             ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port;
  Napi::Object result = Napi::Object::New(env);
  result.Set("fd", Napi::Number::New(env, socket_fd.Release()));
  result.Set("port", Napi::Number::New(env, ntohs(bound)));
  return result;
}

// (bound fd) -> another descriptor of the same socket, which listens from now on.
Napi::Value ShareListening(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (!info[0].IsNumber()) return FailType(env, "expected a descriptor");
  Descriptor copy;
  copy.fd = fcntl(info[0].As<Napi::Number>().Int32Value(), F_DUPFD_CLOEXEC, 3);
  if (copy.fd < 0) return FailErrno(env, "fcntl", errno);
  // Only changes the backlog of a socket that listens already.
  if (listen(copy.fd, kBacklog) != 0) return FailErrno(env, "listen", errno);
  return Napi::Number::New(env, copy.Release());
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("bindReusePort", Napi::Function::New(env, BindReusePort));
  exports.Set("shareListening", Napi::Function::New(env, ShareListening));
  return exports;
}

}  // namespace

NODE_API_MODULE(waf_listen, Init)
