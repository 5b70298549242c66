// The two translations of heads: HTTP/2 fields to one HTTP/1.1-shaped head that the engine's
// parser reads, and an HTTP/1.1 head of the engine to HTTP/2 fields. Knows no session.
#ifndef WAF_NATIVE_HTTP2_HEADS_H
#define WAF_NATIVE_HTTP2_HEADS_H

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace waf {

// What a request's fields add up to. Bytes past `bytes_max` are counted and not kept.
class RequestFields {
 public:
  void Add(const uint8_t* name, size_t name_size, const uint8_t* value, size_t value_size,
           size_t bytes_max);
  // Bytes of names and values, kept or not, with RFC 9113's 32 a field.
  size_t bytes() const { return bytes_; }
  bool too_large() const { return too_large_; }
  // True when `:scheme` is neither http nor https.
  bool odd_scheme() const { return odd_scheme_; }
  // True for a CONNECT that opens a WebSocket (RFC 8441); it is written as the GET that would open
  // one over HTTP/1.1. CONNECT with another protocol is written like any CONNECT.
  bool websocket() const;
  // Appends `METHOD target HTTP/2.0`, one `host` line and the fields in their order; cookies are
  // one line (RFC 9113 section 8.2.3). `:authority` and a `host` that differs from it give two
  // lines, so that the parser sees what a backend might.
  void WriteTo(std::string* out) const;
  // Frees the texts; what was counted stays.
  void Forget();

 private:
  std::string method_;
  std::string path_;
  std::string protocol_;
  std::string authority_;
  std::string host_;
  std::string cookie_;
  std::string lines_;
  size_t bytes_ = 0;
  bool too_large_ = false;
  bool odd_scheme_ = false;
  bool has_host_ = false;
  bool has_cookie_ = false;
};

// Fields of an answer; names and values point into `text`.
struct ResponseFields {
  // Lower-case copy of the names, values as they were.
  std::string text;
  std::vector<nghttp2_nv> fields;
  int status = 0;
};

// Reads an HTTP/1.1 head that the engine wrote. Leaves out what belongs to one connection only
// (RFC 9113 section 8.2.2). False when it is no such head.
bool ReadResponseHead(const uint8_t* data, size_t size, ResponseFields* out);

// Reads trailer lines that the engine wrote, each with its end. False when they are none.
bool ReadTrailers(const uint8_t* data, size_t size, ResponseFields* out);

}  // namespace waf

#endif  // WAF_NATIVE_HTTP2_HEADS_H
