// One HTTP/2 server session over nghttp2: bytes in, events out; answers in, bytes out. Never
// touches a socket, never decides about a request.
#include <nghttp2/nghttp2.h>

#include <memory>
#include <unordered_map>

#include "convert.h"
#include "http2-heads.h"
#include "http2-queue.h"

namespace waf {

namespace {

// The same numbers stand in http2-session.ts.
constexpr int32_t kHead = 1;
constexpr int32_t kData = 2;
constexpr int32_t kEnd = 3;
constexpr int32_t kClose = 4;
constexpr int32_t kFault = 5;
constexpr int32_t kDrained = 6;
constexpr int32_t kAnswered = 7;

constexpr int32_t kFlagEnd = 1;
constexpr int32_t kFlagTooLarge = 2;
constexpr int32_t kFlagOddScheme = 4;

// A window update below this serves nobody.
constexpr int32_t kTinyUpdate = 64;

struct Stream {
  RequestFields fields;
  SendQueue queue;
  bool ended = false;
  // Fields that follow the content; empty for none.
  ResponseFields trailers;
  // True while the writer waits for the queue to empty.
  bool full = false;
};

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
    head_bytes_max_ = static_cast<size_t>(ReadInteger(settings, "headBytesMax", 65'536));
    queue_bytes_max_ = static_cast<size_t>(ReadInteger(settings, "queueBytesMax", 65'536));
    if (!Open(settings)) Fail(env, "http2_invalid", "the session cannot be made");
  }

  ~Http2Session() override { Release(); }

 private:
  bool Open(const Napi::Object& settings) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_option* option = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) return false;
    if (nghttp2_option_new(&option) != 0) {
      nghttp2_session_callbacks_del(callbacks);
      return false;
    }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, OnBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, OnSent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, OnInvalid);
    nghttp2_option_set_no_auto_window_update(option, 1);
    const auto acks = ReadInteger(settings, "outboundAcksMax", 100);
    nghttp2_option_set_max_outbound_ack(option, static_cast<size_t>(acks));
    nghttp2_option_set_max_settings(option, 16);
    const int made = nghttp2_session_server_new2(&session_, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    if (made != 0) return false;
    const auto streams = static_cast<uint32_t>(ReadInteger(settings, "streamsMax", 100));
    const auto window = static_cast<uint32_t>(ReadInteger(settings, "streamWindowBytes", 65'535));
    const nghttp2_settings_entry entries[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(head_bytes_max_)},
    };
    if (nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, entries, 3) != 0) return false;
    const auto whole =
        static_cast<int32_t>(ReadInteger(settings, "connectionWindowBytes", 1'048'576));
    return nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, whole) == 0;
  }

  // ---- what the library tells

  static Http2Session* Self(void* data) { return static_cast<Http2Session*>(data); }

  void Tell(int32_t kind, int32_t stream, int32_t a, int32_t b) {
    events_.insert(events_.end(), {kind, stream, a, b});
  }

  Stream* Find(int32_t id) {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : found->second.get();
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* data) {
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      Self(data)->streams_.emplace(frame->hd.stream_id, std::make_unique<Stream>());
    }
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* data) {
    auto* self = Self(data);
    Stream* stream = self->Find(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    RequestFields& fields = stream->fields;
    // Trailers count towards the same bound; nothing reads them.
    fields.Add(name, name_size, value, value_size,
               frame->headers.cat == NGHTTP2_HCAT_REQUEST ? self->head_bytes_max_ : 0);
    // A table of one entry can be named without end: past twice the bound the session ends.
    return fields.bytes() > 2 * self->head_bytes_max_ ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* data) {
    auto* self = Self(data);
    const bool end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    const int32_t id = frame->hd.stream_id;
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
        if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
          self->TellHead(id, end);
        } else if (end) {
          self->Tell(kEnd, id, 0, 0);
        }
        break;
      case NGHTTP2_DATA:
        if (end) self->Tell(kEnd, id, 0, 0);
        if (!end && frame->hd.length == 0) ++self->glitches_;
        break;
      case NGHTTP2_WINDOW_UPDATE:
        if (frame->window_update.window_size_increment < kTinyUpdate) ++self->glitches_;
        break;
      default:
        ++self->glitches_;
    }
    return 0;
  }

  void TellHead(int32_t id, bool end) {
    const Stream* stream = Find(id);
    if (stream == nullptr) return;
    const RequestFields& fields = stream->fields;
    const size_t start = heads_.size();
    fields.WriteTo(&heads_);
    int32_t flags = end ? kFlagEnd : 0;
    if (fields.too_large()) flags |= kFlagTooLarge;
    if (fields.odd_scheme()) flags |= kFlagOddScheme;
    Tell(kHead, id, static_cast<int32_t>(heads_.size() - start), flags);
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* bytes, size_t size,
                    void* data) {
    auto* self = Self(data);
    self->Tell(kData, id, static_cast<int32_t>(bytes - self->input_), static_cast<int32_t>(size));
    return 0;
  }

  static int OnSent(nghttp2_session* session, const nghttp2_frame* frame, void* data) {
    const int32_t id = frame->hd.stream_id;
    const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (last && nghttp2_session_get_stream_remote_close(session, id) == 0) {
      Self(data)->Tell(kAnswered, id, 0, 0);
    }
    return 0;
  }

  static int OnClose(nghttp2_session*, int32_t id, uint32_t code, void* data) {
    auto* self = Self(data);
    self->streams_.erase(id);
    self->Tell(kClose, id, static_cast<int32_t>(code), 0);
    return 0;
  }

  static int OnInvalid(nghttp2_session*, const nghttp2_frame* frame, int error, void* data) {
    auto* self = Self(data);
    ++self->glitches_;
    self->Tell(kFault, frame->hd.stream_id, error, 0);
    return 0;
  }

  static ssize_t ReadQueue(nghttp2_session* session, int32_t id, uint8_t* out, size_t size,
                           uint32_t* flags, nghttp2_data_source* source, void* data) {
    auto* stream = static_cast<Stream*>(source->ptr);
    const size_t done = stream->queue.Read(out, size);
    if (stream->full && stream->queue.size() * 4 < Self(data)->queue_bytes_max_) {
      stream->full = false;
      Self(data)->Tell(kDrained, id, 0, 0);
    }
    if (stream->ended && stream->queue.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      const auto& fields = stream->trailers.fields;
      if (!fields.empty() &&
          nghttp2_submit_trailer(session, id, fields.data(), fields.size()) == 0) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      }
    } else if (done == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(done);
  }

  // ---- what JavaScript asks

  bool Ready(Napi::Env env) {
    if (session_ != nullptr) return true;
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
    input_ = bytes;
    const ssize_t taken = nghttp2_session_mem_recv(session_, bytes, length);
    input_ = nullptr;
    return Napi::Number::New(env, taken < 0 ? static_cast<double>(taken) : 0);
  }

  // () -> Int32Array of (kind, stream, a, b), or null when nothing happened; forgets them.
  Napi::Value Events(const Napi::CallbackInfo& info) {
    if (events_.empty()) return info.Env().Null();
    Napi::Int32Array taken = NewInt32Array(info.Env(), events_);
    events_.clear();
    return taken;
  }

  // () -> bytes of all heads since the last call, one after another; forgets them.
  Napi::Value Heads(const Napi::CallbackInfo& info) {
    Napi::Value taken =
        NewBytes(info.Env(), reinterpret_cast<const uint8_t*>(heads_.data()), heads_.size());
    heads_.clear();
    return taken;
  }

  // What the arguments (stream, bytes, start, end) of a call name.
  struct StreamBytes {
    int32_t id = 0;
    // Null when there is no such stream, or the range lies outside of the bytes.
    Stream* stream = nullptr;
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
    if (session_ == nullptr || end > size || start > end) return true;
    out->stream = Find(out->id);
    out->bytes = bytes + start;
    out->size = end - start;
    return true;
  }

  // (stream, bytes, start, end, last) -> false when there is no such stream, or no such head.
  Napi::Value Respond(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    StreamBytes sent;
    if (!ReadStreamBytes(info, &sent)) return FailType(env, "expected bytes");
    Stream* stream = sent.stream;
    if (stream == nullptr) return Napi::Boolean::New(env, false);
    ResponseFields head;
    if (!ReadResponseHead(sent.bytes, sent.size, &head)) return Napi::Boolean::New(env, false);
    int error = 0;
    if (head.status < 200) {
      error = nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, sent.id, nullptr,
                                     head.fields.data(), head.fields.size(), nullptr);
    } else if (ReadBoolean(info[4])) {
      error = nghttp2_submit_response(session_, sent.id, head.fields.data(), head.fields.size(),
                                      nullptr);
    } else {
      nghttp2_data_provider provider;
      provider.source.ptr = stream;
      provider.read_callback = ReadQueue;
      error = nghttp2_submit_response(session_, sent.id, head.fields.data(), head.fields.size(),
                                      &provider);
    }
    return Napi::Boolean::New(env, error == 0);
  }

  // (stream, bytes, start, end, last) -> true while more is welcome before `drained`.
  Napi::Value Data(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    StreamBytes sent;
    if (!ReadStreamBytes(info, &sent)) return FailType(env, "expected bytes");
    Stream* stream = sent.stream;
    if (stream == nullptr) return Napi::Boolean::New(env, true);
    stream->queue.Add(sent.bytes, sent.size);
    if (ReadBoolean(info[4])) stream->ended = true;
    nghttp2_session_resume_data(session_, sent.id);
    if (!stream->ended && stream->queue.size() > queue_bytes_max_) stream->full = true;
    return Napi::Boolean::New(env, !stream->full);
  }

  // (stream, bytes, start, end): lines of trailers, sent after the content.
  Napi::Value Trailers(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    StreamBytes sent;
    if (!ReadStreamBytes(info, &sent)) return FailType(env, "expected bytes");
    Stream* stream = sent.stream;
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
      if (pending_size_ == 0) {
        const ssize_t size = nghttp2_session_mem_send(session_, &pending_);
        if (size < 0) return Napi::Number::New(env, static_cast<double>(size));
        if (size == 0) break;
        pending_size_ = static_cast<size_t>(size);
      }
      const size_t part = std::min(pending_size_, room - at);
      std::copy_n(pending_, part, target + at);
      at += part;
      pending_ += part;
      pending_size_ -= part;
    }
    return Napi::Number::New(env, static_cast<double>(at));
  }

  // (stream, bytes): the request took them; the peer may send as many more.
  Napi::Value Consume(const Napi::CallbackInfo& info) {
    if (session_ != nullptr) {
      nghttp2_session_consume(session_, info[0].As<Napi::Number>().Int32Value(),
                              static_cast<size_t>(info[1].As<Napi::Number>().Int64Value()));
    }
    return info.Env().Undefined();
  }

  // (stream, code)
  Napi::Value Reset(const Napi::CallbackInfo& info) {
    if (session_ != nullptr) {
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE,
                                info[0].As<Napi::Number>().Int32Value(),
                                info[1].As<Napi::Number>().Uint32Value());
    }
    return info.Env().Undefined();
  }

  // (): no new streams; those that run may end.
  Napi::Value Shutdown(const Napi::CallbackInfo& info) {
    if (session_ != nullptr) {
      nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                            nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                            nullptr, 0);
    }
    return info.Env().Undefined();
  }

  // (code): ends the session once its last frame is pulled.
  Napi::Value Terminate(const Napi::CallbackInfo& info) {
    if (session_ != nullptr) {
      nghttp2_session_terminate_session(session_, info[0].As<Napi::Number>().Uint32Value());
    }
    return info.Env().Undefined();
  }

  // () -> frames that served nothing since the last call.
  Napi::Value Glitches(const Napi::CallbackInfo& info) {
    const double count = glitches_;
    glitches_ = 0;
    return Napi::Number::New(info.Env(), count);
  }

  // () -> true when the session has nothing more to read or write.
  Napi::Value Finished(const Napi::CallbackInfo& info) {
    const bool open =
        session_ != nullptr && (pending_size_ > 0 || nghttp2_session_want_read(session_) != 0 ||
                                nghttp2_session_want_write(session_) != 0);
    return Napi::Boolean::New(info.Env(), !open);
  }

  Napi::Value Close(const Napi::CallbackInfo& info) {
    Release();
    return info.Env().Undefined();
  }

  void Release() {
    if (session_ != nullptr) nghttp2_session_del(session_);
    session_ = nullptr;
    pending_size_ = 0;
    streams_.clear();
    events_.clear();
    heads_.clear();
  }

  nghttp2_session* session_ = nullptr;
  std::unordered_map<int32_t, std::unique_ptr<Stream>> streams_;
  std::vector<int32_t> events_;
  std::string heads_;
  const uint8_t* input_ = nullptr;
  const uint8_t* pending_ = nullptr;
  size_t pending_size_ = 0;
  size_t head_bytes_max_ = 0;
  size_t queue_bytes_max_ = 0;
  uint32_t glitches_ = 0;
};

}  // namespace

void RegisterHttp2Session(Napi::Env env, Napi::Object exports) {
  Http2Session::Register(env, exports);
}

}  // namespace waf
