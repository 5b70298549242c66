// The two translations of heads; see the header.
#include "http2-heads.h"

#include <cstring>

namespace waf {

namespace {

constexpr size_t kFieldOverhead = 32;

bool Is(const uint8_t* data, size_t size, const char* text) {
  return size == std::strlen(text) && std::memcmp(data, text, size) == 0;
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool SameHost(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (Lower(a[i]) != Lower(b[i])) return false;
  }
  return true;
}

void AppendLine(std::string* out, const char* name, const std::string& value) {
  out->append(name).append(": ").append(value).append("\r\n");
}

bool BelongsToOneConnection(const std::string& text, size_t start, size_t size) {
  // RFC 8441 section 5.1: a WebSocket over HTTP/2 proves nothing by a key.
  static const char* const names[] = {
      "connection",        "keep-alive", "proxy-connection",
      "transfer-encoding", "upgrade",    "sec-websocket-accept",
  };
  for (const char* name : names) {
    if (size == std::strlen(name) && text.compare(start, size, name) == 0) return true;
  }
  return false;
}

// A byte that would end a line, or a string, in HTTP/1.1. The library refuses them; a head must not
// depend on it.
bool BreaksLine(const uint8_t* data, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == '\r' || data[i] == '\n' || data[i] == 0) return true;
  }
  return false;
}

// Reads fields from the line end at `at` to an empty line.
bool ReadLines(size_t at, ResponseFields* out) {
  std::string& text = out->text;
  uint8_t* base = reinterpret_cast<uint8_t*>(&text[0]);
  while (at != std::string::npos) {
    const size_t start = at + 2;
    at = text.find("\r\n", start);
    if (at == std::string::npos || at == start) break;
    const size_t colon = text.find(':', start);
    if (colon == std::string::npos || colon > at) return false;
    for (size_t i = start; i < colon; ++i) text[i] = Lower(text[i]);
    size_t from = colon + 1;
    size_t to = at;
    while (from < to && (text[from] == ' ' || text[from] == '\t')) ++from;
    while (to > from && (text[to - 1] == ' ' || text[to - 1] == '\t')) --to;
    if (BelongsToOneConnection(text, start, colon - start)) continue;
    out->fields.push_back(
        {base + start, base + from, colon - start, to - from, NGHTTP2_NV_FLAG_NONE});
  }
  return at != std::string::npos;
}

}  // namespace

void RequestFields::Add(const uint8_t* name, size_t name_size, const uint8_t* value,
                        size_t value_size, size_t bytes_max) {
  bytes_ += name_size + value_size + kFieldOverhead;
  if (bytes_ > bytes_max) too_large_ = true;
  if (too_large_) return;
  // Nothing of a field that would be two lines is kept; the request is refused for its size of 0.
  if (BreaksLine(name, name_size) || BreaksLine(value, value_size)) {
    too_large_ = true;
    return;
  }
  const char* text = reinterpret_cast<const char*>(value);
  if (name_size > 0 && name[0] == ':') {
    if (Is(name, name_size, ":method")) method_.assign(text, value_size);
    if (Is(name, name_size, ":path")) path_.assign(text, value_size);
    if (Is(name, name_size, ":protocol")) protocol_.assign(text, value_size);
    if (Is(name, name_size, ":authority")) authority_.assign(text, value_size);
    if (Is(name, name_size, ":scheme")) {
      odd_scheme_ = !Is(value, value_size, "https") && !Is(value, value_size, "http");
    }
    return;
  }
  if (Is(name, name_size, "host") && !has_host_) {
    has_host_ = true;
    host_.assign(text, value_size);
    return;
  }
  if (Is(name, name_size, "cookie")) {
    if (has_cookie_) cookie_.append("; ");
    has_cookie_ = true;
    cookie_.append(text, value_size);
    return;
  }
  lines_.append(reinterpret_cast<const char*>(name), name_size).append(": ");
  lines_.append(text, value_size).append("\r\n");
}

void RequestFields::WriteTo(std::string* out) const {
  const bool connect = method_ == "CONNECT" && !websocket();
  out->append(websocket() ? "GET" : method_)
      .append(" ")
      .append(connect ? authority_ : path_)
      .append(" HTTP/2.0\r\n");
  if (!authority_.empty()) AppendLine(out, "host", authority_);
  if (has_host_ && (authority_.empty() || !SameHost(host_, authority_))) {
    AppendLine(out, "host", host_);
  }
  out->append(lines_);
  if (has_cookie_) AppendLine(out, "cookie", cookie_);
  out->append("\r\n");
}

void RequestFields::Forget() {
  for (auto* text : {&method_, &path_, &protocol_, &authority_, &host_, &cookie_, &lines_}) {
    std::string().swap(*text);
  }
}

bool RequestFields::websocket() const { return method_ == "CONNECT" && protocol_ == "websocket"; }

bool ReadResponseHead(const uint8_t* data, size_t size, ResponseFields* out) {
  // "HTTP/1.1 200 reason"
  if (size < 14 || std::memcmp(data, "HTTP/1.", 7) != 0) return false;
  out->status = 0;
  for (size_t i = 9; i < 12; ++i) {
    if (data[i] < '0' || data[i] > '9') return false;
    out->status = out->status * 10 + (data[i] - '0');
  }
  out->text.assign(reinterpret_cast<const char*>(data), size);
  out->fields.clear();
  static uint8_t status_name[] = ":status";
  uint8_t* base = reinterpret_cast<uint8_t*>(&out->text[0]);
  out->fields.push_back({status_name, base + 9, 7, 3, NGHTTP2_NV_FLAG_NONE});
  return ReadLines(out->text.find("\r\n"), out);
}

bool ReadTrailers(const uint8_t* data, size_t size, ResponseFields* out) {
  out->text.assign("\r\n").append(reinterpret_cast<const char*>(data), size).append("\r\n");
  out->fields.clear();
  return ReadLines(0, out) && !out->fields.empty();
}

}  // namespace waf
