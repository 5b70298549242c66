// The state of one HTTP/2 server session over nghttp2: its streams, and what the library reported
// until JavaScript asks. Knows nothing of JavaScript; never touches a socket.
#ifndef WAF_NATIVE_HTTP2_STATE_H
#define WAF_NATIVE_HTTP2_STATE_H

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "http2-heads.h"
#include "http2-queue.h"

namespace waf {

struct Http2Settings {
  size_t head_bytes_max = 65'536;
  size_t queue_bytes_max = 65'536;
  size_t outbound_acks_max = 100;
  uint32_t streams_max = 100;
  uint32_t stream_window_bytes = 65'535;
  int32_t connection_window_bytes = 1'048'576;
};

struct Http2Stream {
  RequestFields fields;
  SendQueue queue;
  bool ended = false;
  // Fields that follow the content; empty for none.
  ResponseFields trailers;
  // True while the writer waits for the queue to empty.
  bool full = false;
};

struct Http2State {
  Http2State() = default;
  ~Http2State() { Release(); }
  Http2State(const Http2State&) = delete;
  Http2State& operator=(const Http2State&) = delete;

  // Makes the session and queues its settings; false when the library refuses.
  bool Open(const Http2Settings& wanted);
  // Ends the session and forgets everything.
  void Release();

  // Null when there is no such stream.
  Http2Stream* Find(int32_t id);
  void Tell(int32_t kind, int32_t stream, int32_t a, int32_t b) {
    events.insert(events.end(), {kind, stream, a, b});
  }

  nghttp2_session* session = nullptr;
  Http2Settings settings;
  std::unordered_map<int32_t, std::unique_ptr<Http2Stream>> streams;
  // (kind, stream, a, b) of each event, in order.
  std::vector<int32_t> events;
  // Heads that were read, one after another.
  std::string heads;
  // The bytes that the library reads now; offsets of data events count from here.
  const uint8_t* input = nullptr;
  // What the library wants sent and JavaScript did not take yet.
  const uint8_t* pending = nullptr;
  size_t pending_size = 0;
  // Frames that served nothing.
  uint32_t glitches = 0;
};

// The nghttp2 data source of an answer: reads the queue of the stream in `source`.
ssize_t ReadHttp2Queue(nghttp2_session* session, int32_t id, uint8_t* out, size_t size,
                       uint32_t* flags, nghttp2_data_source* source, void* data);

}  // namespace waf

#endif  // WAF_NATIVE_HTTP2_STATE_H
