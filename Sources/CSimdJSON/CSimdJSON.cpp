// JSON text -> tape, by simdjson's On-Demand API.
//
// simdjson's first stage validates UTF-8 and finds the structure; the walk below visits every
// value, so that members nobody maps are validated too, and keeps numbers as their source digits.

#include "CSimdJSON.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <simdjson.h>

using namespace simdjson;

struct JSONParser {
  ondemand::parser parser;
};

namespace {

// A failure on its way out of the walk.
struct Failure {
  JSONStatus status;
  const uint8_t *at;
};

// Everything the walk needs, in one place.
struct Walk {
  ondemand::parser &parser;
  ondemand::document *document;
  const uint8_t *source;
  const uint8_t *end;  // of the text
  uint8_t *arena;
  uint8_t *free;  // the arena's first free byte
  TapeNode *nodes;
  size_t count;
  size_t capacity;
  Failure failure;

  bool fail(JSONStatus status, const void *at) {
    failure = {status, static_cast<const uint8_t *>(at)};
    return false;
  }

  bool fail(error_code error, const void *at) {
    switch (error) {
      case UTF8_ERROR: return fail(JSON_UTF8, at);
      case UNESCAPED_CHARS:
      case UNCLOSED_STRING: return fail(JSON_CONTROL, at);
      case STRING_ERROR: return fail(JSON_STRING, at);
      case NUMBER_ERROR: return fail(JSON_NUMBER, at);
      case DEPTH_ERROR: return fail(JSON_DEPTH, at);
      case EMPTY: return fail(JSON_EMPTY, at);
      case INCOMPLETE_ARRAY_OR_OBJECT: return fail(JSON_INCOMPLETE, at);
      case MEMALLOC:
      case CAPACITY: return fail(JSON_TOO_LARGE, at);
      default: return fail(JSON_SYNTAX, at);
    }
  }

  // Appends a node; nullptr when the tape is full.
  TapeNode *append(uint8_t kind, const void *at) {
    if (count == capacity) {
      fail(JSON_NODES, at);
      return nullptr;
    }
    TapeNode *node = &nodes[count++];
    *node = TapeNode{};
    node->kind = kind;
    node->next = static_cast<uint32_t>(count);
    node->origin = offset(at);
    return node;
  }

  uint32_t offset(const void *at) const {
    return static_cast<uint32_t>(static_cast<const uint8_t *>(at) - source);
  }

  bool string(ondemand::raw_json_string raw, uint32_t &text, uint32_t &length);
  bool scalar(std::string_view token, TapeNode *node);
  // Where the iterator stands, for messages.
  const void *here() {
    const char *location;
    if (document->current_location().get(location)) return end;
    const uint8_t *at = reinterpret_cast<const uint8_t *>(location);
    return at < end ? at : end;
  }

  // Whether every token was consumed.
  bool atEnd() { return document->current_location().error() == OUT_OF_BOUNDS; }

  bool root();
  bool value(ondemand::value value, int depth, uint32_t key, uint32_t keyLength);
  bool array(ondemand::array array, size_t self, int depth);
  bool object(ondemand::object object, size_t self, int depth);
};

// Whether unescaped bytes hold a surrogate: the source was valid UTF-8, so it came from an escape.
bool holdsSurrogate(const uint8_t *bytes, size_t length) {
  const uint8_t *at = bytes;
  const uint8_t *end = bytes + length;
  while (at < end) {
    at = static_cast<const uint8_t *>(memchr(at, 0xED, end - at));
    if (at == nullptr || at + 1 >= end) return false;
    if (at[1] >= 0xA0) return true;
    at++;
  }
  return false;
}

// The first \uD800 … \uDFFF of a string that could not be unescaped; nullptr: none.
const char *surrogateEscape(const char *at, const char *end) {
  for (; at < end && *at != '"'; at++) {
    if (*at != '\\') continue;
    bool isSurrogate = end - at > 3 && at[1] == 'u' && (at[2] | 0x20) == 'd' && at[3] >= '8';
    if (isSurrogate) return at;
    at++;
  }
  return nullptr;
}

bool Walk::string(ondemand::raw_json_string raw, uint32_t &text, uint32_t &length) {
  uint8_t *start = free;
  std::string_view unescaped;
  error_code error = parser.unescape(raw, free).get(unescaped);
  if (error) {
    const char *escape = surrogateEscape(raw.raw(), reinterpret_cast<const char *>(end));
    return escape ? fail(JSON_SURROGATE, escape) : fail(JSON_STRING, raw.raw() - 1);
  }
  if (holdsSurrogate(start, unescaped.size())) return fail(JSON_SURROGATE, raw.raw() - 1);
  text = static_cast<uint32_t>(start - arena);
  length = static_cast<uint32_t>(unescaped.size());
  return true;
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// The grammar of RFC 8259, section 6.
bool isNumber(std::string_view text) {
  size_t i = 0, n = text.size();
  if (i < n && text[i] == '-') i++;
  if (i == n || !isDigit(text[i])) return false;
  if (text[i] == '0') i++;
  else while (i < n && isDigit(text[i])) i++;
  if (i < n && text[i] == '.') {
    i++;
    if (i == n || !isDigit(text[i])) return false;
    while (i < n && isDigit(text[i])) i++;
  }
  if (i < n && (text[i] == 'e' || text[i] == 'E')) {
    i++;
    if (i < n && (text[i] == '+' || text[i] == '-')) i++;
    if (i == n || !isDigit(text[i])) return false;
    while (i < n && isDigit(text[i])) i++;
  }
  return i == n;
}

// A number or a literal: the token reaches to the next structural character.
bool Walk::scalar(std::string_view token, TapeNode *node) {
  const uint8_t *start = reinterpret_cast<const uint8_t *>(token.data());
  size_t length = token.size();
  if (start + length > end) length = start < end ? end - start : 0;
  while (length > 0 && (start[length - 1] == ' ' || start[length - 1] == '\n' ||
                        start[length - 1] == '\r' || start[length - 1] == '\t'))
    length--;
  std::string_view text(token.data(), length);
  node->text = static_cast<uint32_t>(free - arena);
  node->length = static_cast<uint32_t>(length);
  memcpy(free, start, length);
  free += length;
  if (length > 0 && (text[0] == '-' || isDigit(text[0]))) {
    node->kind = TAPE_NUMBER;
    return isNumber(text) || fail(JSON_NUMBER, start);
  }
  if (text == "true") node->kind = TAPE_TRUE;
  else if (text == "false") node->kind = TAPE_FALSE;
  else if (text == "null") node->kind = TAPE_NULL;
  else return fail(JSON_LITERAL, start);
  return true;
}

// The text's one value. On-Demand treats a scalar at the root apart.
bool Walk::root() {
  ondemand::json_type type;
  if (error_code error = document->type().get(type)) return fail(error, here());
  if (type == ondemand::json_type::array || type == ondemand::json_type::object) {
    ondemand::value root;
    if (error_code error = document->get_value().get(root)) return fail(error, here());
    if (!value(root, 1, 0, 0)) return false;
    return atEnd() || fail(JSON_TRAILING, here());
  }
  const void *start = here();
  TapeNode *node = append(TAPE_NULL, start);
  if (node == nullptr) return false;
  if (type == ondemand::json_type::string) {
    node->kind = TAPE_STRING;
    ondemand::raw_json_string raw;
    if (error_code error = document->get_raw_json_string().get(raw)) return fail(error, start);
    if (!string(raw, node->text, node->length)) return false;
    return atEnd() || fail(JSON_TRAILING, here());
  }
  // A scalar's token reaches to the end of the text, so what stands behind it is in the token.
  const char *text = static_cast<const char *>(start);
  return scalar(std::string_view(text, reinterpret_cast<const char *>(end) - text), node);
}

bool Walk::value(ondemand::value value, int depth, uint32_t key, uint32_t keyLength) {
  std::string_view token = value.raw_json_token();
  const char *start = token.data();
  if (depth > JSON_MAX_DEPTH) return fail(JSON_DEPTH, start);
  if (reinterpret_cast<const uint8_t *>(start) >= end) return fail(JSON_INCOMPLETE, end);
  size_t self = count;
  TapeNode *node = append(TAPE_NULL, start);
  if (node == nullptr) return false;
  node->key = key;
  node->keyLength = keyLength;
  switch (*start) {
    case '{': {
      node->kind = TAPE_OBJECT;
      ondemand::object object;
      if (error_code error = value.get_object().get(object)) return fail(error, start);
      return this->object(object, self, depth);
    }
    case '[': {
      node->kind = TAPE_ARRAY;
      ondemand::array array;
      if (error_code error = value.get_array().get(array)) return fail(error, start);
      return this->array(array, self, depth);
    }
    case '"': {
      node->kind = TAPE_STRING;
      ondemand::raw_json_string raw;
      if (error_code error = value.get_raw_json_string().get(raw)) return fail(error, start);
      return string(raw, node->text, node->length);
    }
    default:
      return scalar(token, node);
  }
}

bool Walk::array(ondemand::array array, size_t self, int depth) {
  for (auto element : array) {
    ondemand::value child;
    if (error_code error = std::move(element).get(child)) return fail(error, here());
    if (!value(child, depth + 1, 0, 0)) return false;
  }
  nodes[self].next = static_cast<uint32_t>(count);
  return true;
}

bool Walk::object(ondemand::object object, size_t self, int depth) {
  for (auto member : object) {
    ondemand::field field;
    if (error_code error = std::move(member).get(field)) return fail(error, here());
    uint32_t key, keyLength;
    if (!string(field.key(), key, keyLength)) return false;
    if (!value(field.value(), depth + 1, key, keyLength)) return false;
  }
  nodes[self].next = static_cast<uint32_t>(count);
  return true;
}

// simdjson's first stage tells that a text is faulty, not where: find the place.
void locate(Failure &failure, const uint8_t *start, const uint8_t *end) {
  if (failure.status == JSON_UTF8) {
    const uint8_t *low = start;
    while (low < end) {
      // The shortest step that is a valid sequence of its own.
      size_t step = *low < 0x80 ? 1 : *low < 0xE0 ? 2 : *low < 0xF0 ? 3 : 4;
      if (low + step > end || !validate_utf8(reinterpret_cast<const char *>(low), step)) break;
      low += step;
    }
    failure.at = low < end ? low : end;
  } else if (failure.status == JSON_CONTROL) {
    bool inString = false;
    for (const uint8_t *at = start; at < end; at++) {
      if (inString && *at == '\\') at++;
      else if (*at == '"') inString = !inString;
      else if (inString && *at < 0x20) {
        failure.at = at;
        return;
      }
    }
    failure = {JSON_INCOMPLETE, end};
  }
}

}  // namespace

extern "C" {

JSONParser *jsonParserCreate(void) { return new (std::nothrow) JSONParser(); }

void jsonParserDestroy(JSONParser *parser) { delete parser; }

size_t jsonPadding(void) { return SIMDJSON_PADDING; }

JSONStatus jsonParse(JSONParser *parser, const uint8_t *source, size_t start, size_t length,
                     uint8_t *arena, size_t *arenaEnd, TapeNode *nodes, size_t *count,
                     size_t capacity, size_t *errorAt) {
  const uint8_t *text = source + start;
  ondemand::document document;
  Walk walk{parser->parser, &document, source,   text + length,  arena, arena + *arenaEnd,
            nodes,          *count,    capacity, {JSON_OK, text}};
  error_code error =
      parser->parser.iterate(text, length, length + SIMDJSON_PADDING).get(document);
  bool done = error ? walk.fail(error, text) : walk.root();
  if (!done) {
    locate(walk.failure, text, text + length);
    *errorAt = static_cast<size_t>(walk.failure.at - source);
    return walk.failure.status;
  }
  *arenaEnd = static_cast<size_t>(walk.free - arena);
  *count = walk.count;
  return JSON_OK;
}

size_t jsonScanValue(JSONScan *scan, const uint8_t *text, size_t length, int atEnd) {
  const uint8_t *at = text + scan->position;
  const uint8_t *end = text + length;
  while (at < end) {
    if (scan->inString) {
      if (scan->escaped) {
        scan->escaped = 0;
        at++;
        continue;
      }
      while (at < end && *at != '"' && *at != '\\') at++;
      if (at == end) break;
      if (*at++ == '\\') {
        scan->escaped = 1;
        continue;
      }
      scan->inString = 0;
      if (scan->depth == 0) return static_cast<size_t>(at - text);
      continue;
    }
    switch (*at) {
      case '"':
        if (scan->started && scan->depth == 0) return static_cast<size_t>(at - text);
        scan->inString = 1;
        break;
      case '{':
      case '[':
        if (scan->started && scan->depth == 0) return static_cast<size_t>(at - text);
        scan->depth++;
        break;
      case '}':
      case ']':
        if (scan->depth == 0) return static_cast<size_t>(at - text);  // ends a scalar
        if (--scan->depth == 0) return static_cast<size_t>(at + 1 - text);
        break;
      case ',':
      case ' ':
      case '\t':
      case '\n':
      case '\r':
        if (scan->depth == 0) return static_cast<size_t>(at - text);
        break;
      default:
        break;
    }
    scan->started = 1;
    at++;
  }
  scan->position = length;
  bool isScalar = scan->started && scan->depth == 0 && !scan->inString;
  return atEnd && isScalar ? length : 0;
}

size_t jsonCountValues(const uint8_t *text, size_t length) {
  // One value, one more behind each comma, and the first of each container that is not empty.
  size_t count = 1;
  bool opened = false;
  for (size_t i = 0; i < length; i++) {
    switch (text[i]) {
      case ' ': case '\t': case '\n': case '\r': continue;
      case ']': case '}': opened = false; continue;
      default: break;
    }
    if (opened) count++;
    opened = text[i] == '[' || text[i] == '{';
    if (text[i] == ',') count++;
    if (text[i] != '"') continue;
    for (i++; i < length && text[i] != '"'; i++)
      if (text[i] == '\\') i++;
  }
  return count;
}

size_t countLineFeeds(const uint8_t *text, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += text[i] == '\n';
  return count;
}

bool isUTF8(const uint8_t *text, size_t length) {
  return simdjson::validate_utf8(reinterpret_cast<const char *>(text), length);
}

bool hasNUL(const uint8_t *text, size_t length) {
  return length > 0 && memchr(text, 0, length) != nullptr;
}

}  // extern "C"
