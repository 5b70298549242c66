// The callbacks of nghttp2 for one server session, and its settings. Decides nothing about
// requests.
#include "http2-state.h"

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
constexpr int32_t kFlagWebsocket = 8;

// A window update below this serves nobody.
constexpr int32_t kTinyUpdate = 64;

// Heads that were not taken yet, as a multiple of the longest: a few bytes of a client can mean a
// whole head, and streams that are reset make room for others. Past it streams are refused.
constexpr size_t kWaitingHeads = 32;

Http2State* Self(void* data) { return static_cast<Http2State*>(data); }

int OnBeginHeaders(nghttp2_session* session, const nghttp2_frame* frame, void* data) {
  if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
  auto* self = Self(data);
  const int32_t id = frame->hd.stream_id;
  if (self->heads.size() < kWaitingHeads * self->settings.head_bytes_max) {
    self->streams.emplace(id, std::make_unique<Http2Stream>());
    return 0;
  }
  ++self->glitches;
  return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
}

int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
             const uint8_t* value, size_t value_size, uint8_t, void* data) {
  auto* self = Self(data);
  Http2Stream* stream = self->Find(frame->hd.stream_id);
  if (stream == nullptr) return 0;
  RequestFields& fields = stream->fields;
  // Trailers count towards the same bound; nothing reads them.
  fields.Add(name, name_size, value, value_size,
             frame->headers.cat == NGHTTP2_HCAT_REQUEST ? self->settings.head_bytes_max : 0);
  // A table of one entry can be named without end: past twice the bound the session ends.
  return fields.bytes() > 2 * self->settings.head_bytes_max ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

void TellHead(Http2State* self, int32_t id, bool end) {
  Http2Stream* stream = self->Find(id);
  if (stream == nullptr) return;
  RequestFields& fields = stream->fields;
  const size_t start = self->heads.size();
  fields.WriteTo(&self->heads);
  int32_t flags = end ? kFlagEnd : 0;
  if (fields.too_large()) flags |= kFlagTooLarge;
  if (fields.odd_scheme()) flags |= kFlagOddScheme;
  if (fields.websocket()) flags |= kFlagWebsocket;
  fields.Forget();
  self->Tell(kHead, id, static_cast<int32_t>(self->heads.size() - start), flags);
}

int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* data) {
  auto* self = Self(data);
  const bool end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  const int32_t id = frame->hd.stream_id;
  switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
      if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        TellHead(self, id, end);
      } else if (end) {
        self->Tell(kEnd, id, 0, 0);
      }
      break;
    case NGHTTP2_DATA:
      if (end) self->Tell(kEnd, id, 0, 0);
      if (!end && frame->hd.length == 0) ++self->glitches;
      break;
    case NGHTTP2_WINDOW_UPDATE:
      if (frame->window_update.window_size_increment < kTinyUpdate) ++self->glitches;
      break;
    default:
      ++self->glitches;
  }
  return 0;
}

int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* bytes, size_t size, void* data) {
  auto* self = Self(data);
  self->Tell(kData, id, static_cast<int32_t>(bytes - self->input), static_cast<int32_t>(size));
  return 0;
}

int OnSent(nghttp2_session* session, const nghttp2_frame* frame, void* data) {
  const int32_t id = frame->hd.stream_id;
  const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (last && nghttp2_session_get_stream_remote_close(session, id) == 0) {
    Self(data)->Tell(kAnswered, id, 0, 0);
  }
  return 0;
}

int OnClose(nghttp2_session*, int32_t id, uint32_t code, void* data) {
  auto* self = Self(data);
  self->streams.erase(id);
  self->Tell(kClose, id, static_cast<int32_t>(code), 0);
  return 0;
}

int OnInvalid(nghttp2_session*, const nghttp2_frame* frame, int error, void* data) {
  auto* self = Self(data);
  ++self->glitches;
  self->Tell(kFault, frame->hd.stream_id, error, 0);
  return 0;
}

}  // namespace

ssize_t ReadHttp2Queue(nghttp2_session* session, int32_t id, uint8_t* out, size_t size,
                       uint32_t* flags, nghttp2_data_source* source, void* data) {
  auto* stream = static_cast<Http2Stream*>(source->ptr);
  const size_t done = stream->queue.Read(out, size);
  if (stream->full && stream->queue.size() * 4 < Self(data)->settings.queue_bytes_max) {
    stream->full = false;
    Self(data)->Tell(kDrained, id, 0, 0);
  }
  if (stream->ended && stream->queue.empty()) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    const auto& fields = stream->trailers.fields;
    if (!fields.empty() && nghttp2_submit_trailer(session, id, fields.data(), fields.size()) == 0) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    }
  } else if (done == 0) {
    return NGHTTP2_ERR_DEFERRED;
  }
  return static_cast<ssize_t>(done);
}

bool Http2State::Open(const Http2Settings& wanted) {
  settings = wanted;
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
  nghttp2_option_set_max_outbound_ack(option, settings.outbound_acks_max);
  nghttp2_option_set_max_settings(option, 16);
  const int made = nghttp2_session_server_new2(&session, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  if (made != 0) return false;
  const nghttp2_settings_entry entries[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.streams_max},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.stream_window_bytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(settings.head_bytes_max)},
      {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
  };
  if (nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, entries, 4) != 0) return false;
  return nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0,
                                               settings.connection_window_bytes) == 0;
}

Http2Stream* Http2State::Find(int32_t id) {
  const auto found = streams.find(id);
  return found == streams.end() ? nullptr : found->second.get();
}

void Http2State::Release() {
  if (session != nullptr) nghttp2_session_del(session);
  session = nullptr;
  pending_size = 0;
  streams.clear();
  events.clear();
  heads.clear();
}

}  // namespace waf
