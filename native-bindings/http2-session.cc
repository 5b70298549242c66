// One HTTP/2 server session over nghttp2: bytes in, events out; answers in, bytes out. Never
// touches a socket, never decides about a request.
#include <nghttp2/nghttp2.h>

#include <algorithm>

#include "convert.h"
#include "http2-state.h"

namespace waf {

namespace {

// Room that a session keeps for the next heads and events, bytes.
constexpr size_t kKeptRoom = 16'384;

class Http2Session : public Napi::ObjectWrap<Http2Session> {
 public:
  static void Register(Napi::Env env, Napi::Object exports) {
    exports.Set("Http2Session", DefineClass(env, "Http2Session",
                                            {InstanceMethod<&Http2Session::Receive>("receive"),
                                             InstanceMethod<&Http2Session::Heads>("heads"),
                                             InstanceMethod<&Http2Session::Respond>("respond"),
                                             InstanceMethod<&Http2Session::Data>("data"),
                                             InstanceMethod<&Http2Session::Trailers>("trailers"),
                                             InstanceMethod<&Http2Session::Pull>("pull"),
                                             InstanceMethod<&Http2Session::Events>("events"),
                                             InstanceMethod<&Http2Session::Consume>("consume"),
                                             InstanceMethod<&Http2Session::Reset>("reset"),
                                             InstanceMethod<&Http2Session::Shutdown>("shutdown"),
                                             InstanceMethod<&Http2Session::Terminate>("terminate"),
                                             InstanceMethod<&Http2Session::Glitches>("glitches"),
                                             InstanceMethod<&Http2Session::Finished>("finished"),
                                             InstanceMethod<&Http2Session::Close>("close")}));
  }

  explicit Http2Session(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Http2Session>(info) {
    Napi::Env env = info.Env();
    if (!info[0].IsObject()) {
      FailType(env, "expected settings");
      return;
    }
    const Napi::Object settings = info[0].As<Napi::Object>();
    if (!state_.Open(ReadSettings(settings)))
      Fail(env, "http2_invalid", "the session cannot be made");
  }

 private:
  static Http2Settings ReadSettings(const Napi::Object& from) {
    Http2Settings read;
    read.head_bytes_max = ReadNumber(from, "headBytesMax", read.head_bytes_max);
    read.queue_bytes_max = ReadNumber(from, "queueBytesMax", read.queue_bytes_max);
    read.outbound_acks_max = ReadNumber(from, "outboundAcksMax", read.outbound_acks_max);
    read.streams_max = ReadNumber(from, "streamsMax", read.streams_max);
    read.stream_window_bytes = ReadNumber(from, "streamWindowBytes", read.stream_window_bytes);
    read.connection_window_bytes =
        ReadNumber(from, "connectionWindowBytes", read.connection_window_bytes);
    return read;
  }

  template <typename T>
  static T ReadNumber(const Napi::Object& from, const char* name, T otherwise) {
    return static_cast<T>(ReadInteger(from, name, static_cast<int64_t>(otherwise)));
  }

  bool Ready(Napi::Env env) {
    if (state_.session != nullptr) return true;
    Fail(env, "closed", "the session is closed");
    return false;
  }

  // (bytes, length) -> 0, or the library's error that ends the session. Offsets of data events
  // point into these bytes.
  Napi::Value Receive(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    if (!Ready(env)) return env.Undefined();
    uint8_t* bytes = nullptr;
    size_t size = 0;
    if (!ReadUint8Array(env, info[0], &bytes, &size)) return FailType(env, "expected bytes");
    const auto length = static_cast<size_t>(info[1].As<Napi::Number>().Int64Value());
    if (length > size) return FailType(env, "expected a length within the bytes");
    state_.input = bytes;
    const ssize_t taken = nghttp2_session_mem_recv(state_.session, bytes, length);
    state_.input = nullptr;
    return Napi::Number::New(env, taken < 0 ? static_cast<double>(taken) : 0);
  }

  // () -> Int32Array of (kind, stream, a, b), or null when nothing happened; forgets them.
  Napi::Value Events(const Napi::CallbackInfo& info) {
    if (state_.events.empty()) return info.Env().Null();
    Napi::Int32Array taken = NewInt32Array(info.Env(), state_.events);
    state_.events.clear();
    if (state_.events.capacity() * sizeof(int32_t) > kKeptRoom) state_.events.shrink_to_fit();
    return taken;
  }

  // () -> bytes of all heads since the last call, one after another; forgets them.
  Napi::Value Heads(const Napi::CallbackInfo& info) {
    Napi::Value taken = NewBytes(info.Env(), reinterpret_cast<const uint8_t*>(state_.heads.data()),
                                 state_.heads.size());
    state_.heads.clear();
    if (state_.heads.capacity() > kKeptRoom) state_.heads.shrink_to_fit();
    return taken;
  }

  // What the arguments (stream, bytes, start, end) of a call name.
  struct StreamBytes {
    int32_t id = 0;
    // Null when there is no such stream, or the range lies outside of the bytes.
    Http2Stream* stream = nullptr;
    const uint8_t* bytes = nullptr;
    size_t size = 0;
  };

  // False when the second argument holds no bytes.
  bool ReadStreamBytes(const Napi::CallbackInfo& info, StreamBytes* out) {
    uint8_t* bytes = nullptr;
    size_t size = 0;
    if (!ReadUint8Array(info.Env(), info[1], &bytes, &size)) return false;
    const auto start = static_cast<size_t>(info[2].As<Napi::Number>().Int64Value());
    const auto end = static_cast<size_t>(info[3].As<Napi::Number>().Int64Value());
    out->id = info[0].As<Napi::Number>().Int32Value();
    if (state_.session == nullptr || end > size || start > end) return true;
    out->stream = state_.Find(out->id);
    out->bytes = bytes + start;
    out->size = end - start;
    return true;
  }

  // (stream, bytes, start, end, last) -> false when there is no such stream, or no such head.
  Napi::Value Respond(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    StreamBytes sent;
    if (!ReadStreamBytes(info, &sent)) return FailType(env, "expected bytes");
    Http2Stream* stream = sent.stream;
    if (stream == nullptr) return Napi::Boolean::New(env, false);
    ResponseFields head;
    if (!ReadResponseHead(sent.bytes, sent.size, &head)) return Napi::Boolean::New(env, false);
    int error = 0;
    if (head.status < 200) {
      error = nghttp2_submit_headers(state_.session, NGHTTP2_FLAG_NONE, sent.id, nullptr,
                                     head.fields.data(), head.fields.size(), nullptr);
    } else if (ReadBoolean(info[4])) {
      error = nghttp2_submit_response(state_.session, sent.id, head.fields.data(),
                                      head.fields.size(), nullptr);
    } else {
      nghttp2_data_provider provider;
      provider.source.ptr = stream;
      provider.read_callback = ReadHttp2Queue;
      error = nghttp2_submit_response(state_.session, sent.id, head.fields.data(),
                                      head.fields.size(), &provider);
    }
    return Napi::Boolean::New(env, error == 0);
  }

  // (stream, bytes, start, end, last) -> true while more is welcome before `drained`.
  Napi::Value Data(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    StreamBytes sent;
    if (!ReadStreamBytes(info, &sent)) return FailType(env, "expected bytes");
    Http2Stream* stream = sent.stream;
    if (stream == nullptr) return Napi::Boolean::New(env, true);
    stream->queue.Add(sent.bytes, sent.size);
    if (ReadBoolean(info[4])) stream->ended = true;
    nghttp2_session_resume_data(state_.session, sent.id);
    if (!stream->ended && stream->queue.size() > state_.settings.queue_bytes_max)
      stream->full = true;
    return Napi::Boolean::New(env, !stream->full);
  }

  // (stream, bytes, start, end): lines of trailers, sent after the content.
  Napi::Value Trailers(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    StreamBytes sent;
    if (!ReadStreamBytes(info, &sent)) return FailType(env, "expected bytes");
    Http2Stream* stream = sent.stream;
    if (stream == nullptr) return env.Undefined();
    if (!ReadTrailers(sent.bytes, sent.size, &stream->trailers)) stream->trailers = {};
    return env.Undefined();
  }

  // (target) -> bytes written; negative is the library's error. What does not fit waits.
  Napi::Value Pull(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    if (!Ready(env)) return env.Undefined();
    uint8_t* target = nullptr;
    size_t room = 0;
    if (!ReadUint8Array(env, info[0], &target, &room)) return FailType(env, "expected bytes");
    size_t at = 0;
    while (at < room) {
      if (state_.pending_size == 0) {
        const ssize_t size = nghttp2_session_mem_send(state_.session, &state_.pending);
        if (size < 0) return Napi::Number::New(env, static_cast<double>(size));
        if (size == 0) break;
        state_.pending_size = static_cast<size_t>(size);
      }
      const size_t part = std::min(state_.pending_size, room - at);
      std::copy_n(state_.pending, part, target + at);
      at += part;
      state_.pending += part;
      state_.pending_size -= part;
    }
    return Napi::Number::New(env, static_cast<double>(at));
  }

  // (stream, bytes): the request took them; the peer may send as many more.
  Napi::Value Consume(const Napi::CallbackInfo& info) {
    if (state_.session != nullptr) {
      nghttp2_session_consume(state_.session, info[0].As<Napi::Number>().Int32Value(),
                              static_cast<size_t>(info[1].As<Napi::Number>().Int64Value()));
    }
    return info.Env().Undefined();
  }

  // (stream, code)
  Napi::Value Reset(const Napi::CallbackInfo& info) {
    if (state_.session != nullptr) {
      nghttp2_submit_rst_stream(state_.session, NGHTTP2_FLAG_NONE,
                                info[0].As<Napi::Number>().Int32Value(),
                                info[1].As<Napi::Number>().Uint32Value());
    }
    return info.Env().Undefined();
  }

  // (): no new streams; those that run may end.
  Napi::Value Shutdown(const Napi::CallbackInfo& info) {
    if (state_.session != nullptr) {
      nghttp2_submit_goaway(state_.session, NGHTTP2_FLAG_NONE,
                            nghttp2_session_get_last_proc_stream_id(state_.session),
                            NGHTTP2_NO_ERROR, nullptr, 0);
    }
    return info.Env().Undefined();
  }

  // (code): ends the session once its last frame is pulled.
  Napi::Value Terminate(const Napi::CallbackInfo& info) {
    if (state_.session != nullptr) {
      nghttp2_session_terminate_session(state_.session, info[0].As<Napi::Number>().Uint32Value());
    }
    return info.Env().Undefined();
  }

  // () -> frames that served nothing since the last call.
  Napi::Value Glitches(const Napi::CallbackInfo& info) {
    const double count = state_.glitches;
    state_.glitches = 0;
    return Napi::Number::New(info.Env(), count);
  }

  // () -> true when the session has nothing more to read or write.
  Napi::Value Finished(const Napi::CallbackInfo& info) {
    const bool open = state_.session != nullptr &&
                      (state_.pending_size > 0 || nghttp2_session_want_read(state_.session) != 0 ||
                       nghttp2_session_want_write(state_.session) != 0);
    return Napi::Boolean::New(info.Env(), !open);
  }

  Napi::Value Close(const Napi::CallbackInfo& info) {
    state_.Release();
    return info.Env().Undefined();
  }

  Http2State state_;
};

}  // namespace

void RegisterHttp2Session(Napi::Env env, Napi::Object exports) {
  Http2Session::Register(env, exports);
}

}  // namespace waf
