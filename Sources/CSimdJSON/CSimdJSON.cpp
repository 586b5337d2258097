// JSON text -> tape, by simdjson's On-Demand API.
//
// simdjson's first stage validates UTF-8 and finds the structure; the walk below visits every
// value, so that members nobody maps are validated too, and keeps numbers as their source digits.

#include "CSimdJSON.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <simdjson.h>

using namespace simdjson;

namespace {

// A member's name that is on the tape: where its text is in the source, and in the arena.
struct Name {
  const char *raw;
  uint32_t text, length;
};

constexpr size_t maximumNameCount = 64;

}  // namespace

struct JSONParser {
  explicit JSONParser(int depth) : maximumDepth(depth) {}

  const int maximumDepth;
  ondemand::parser parser;
  Name names[maximumNameCount] = {};
};

namespace {

// A failure on its way out of the walk.
struct Failure {
  JSONStatus status;
  const uint8_t *at;
};

// Everything the walk needs, in one place.
struct Walk {
  JSONParser &parser;
  ondemand::document *document;
  const uint8_t *source;
  const uint8_t *end;  // of the text
  uint8_t *arena;
  uint8_t *free;  // the arena's first free byte
  TapeNode *nodes;
  size_t count;
  size_t capacity;
  Failure failure;
  // The names that values of a list have in common, in their order, and which one is expected next.
  size_t nameCount = 0;
  size_t nextName = 0;

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
  bool name(ondemand::raw_json_string raw, uint32_t &text, uint32_t &length);
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
  size_t list(ondemand::array list, JSONPlace *places, size_t placeCapacity);
  const uint8_t *endOf(size_t node, const uint8_t *start);
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
  error_code error = parser.parser.unescape(raw, free).get(unescaped);
  if (error) {
    const char *escape = surrogateEscape(raw.raw(), reinterpret_cast<const char *>(end));
    return escape ? fail(JSON_SURROGATE, escape) : fail(JSON_STRING, raw.raw() - 1);
  }
  if (holdsSurrogate(start, unescaped.size())) return fail(JSON_SURROGATE, raw.raw() - 1);
  text = static_cast<uint32_t>(start - arena);
  length = static_cast<uint32_t>(unescaped.size());
  return true;
}

// A member's name: values of a list have the same ones in the same order, most likely, and share their text.
bool Walk::name(ondemand::raw_json_string raw, uint32_t &text, uint32_t &length) {
  constexpr size_t reach = 4;  // members that a value may leave out
  const char *start = raw.raw();
  const size_t rest = reinterpret_cast<const char *>(end) - start;
  size_t last = std::min(nextName + reach, nameCount);
  for (size_t i = nextName; i < last; i++) {
    const Name &known = parser.names[i];
    // The quote behind it is compared, too. A longer one than the rest of the text is another.
    if (*start != *known.raw || rest <= known.length || memcmp(start, known.raw, known.length + 1) != 0) continue;
    text = known.text;
    length = known.length;
    nextName = i + 1;
    return true;
  }
  if (!string(raw, text, length)) return false;
  bool isPlain = start[length] == '"' && memchr(start, '\\', length) == nullptr;
  if (isPlain && nextName < maximumNameCount) {
    parser.names[nextName++] = {start, text, length};
    nameCount = std::max(nameCount, nextName);
  }
  return true;
}

bool isSpace(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

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
  while (length > 0 && isSpace(start[length - 1])) length--;
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
  if (depth > parser.maximumDepth) return fail(JSON_DEPTH, start);
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
  const size_t firstName = nextName;
  for (auto element : array) {
    nextName = firstName;
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
    if (!name(field.key(), key, keyLength)) return false;
    if (!value(field.value(), depth + 1, key, keyLength)) return false;
  }
  nodes[self].next = static_cast<uint32_t>(count);
  return true;
}

// The end of the value that was read last; nullptr where it took the list's own end for its.
const uint8_t *Walk::endOf(size_t node, const uint8_t *start) {
  // A number or a literal is on the tape as it stands; the iterator is still in front of it.
  if (nodes[node].kind <= TAPE_NUMBER) return start + nodes[node].length;
  // Behind all others stands a comma, or the end of the list.
  const uint8_t *behind = static_cast<const uint8_t *>(here());
  if (behind == end) return nullptr;
  while (behind > start && isSpace(behind[-1])) behind--;
  return behind;
}

// Appends values up to the first one that is not whole; returns how many there are.
size_t Walk::list(ondemand::array list, JSONPlace *places, size_t placeCapacity) {
  size_t found = 0;
  for (auto element : list) {
    if (found == placeCapacity) break;
    ondemand::value value;
    if (std::move(element).get(value)) break;
    const size_t node = count;
    uint8_t *const freeBefore = free;
    const uint8_t *start = reinterpret_cast<const uint8_t *>(value.raw_json_token().data());
    nextName = 0;
    const uint8_t *behind = this->value(value, 1, 0, 0) ? endOf(node, start) : nullptr;
    if (behind == nullptr) {
      count = node;
      free = freeBefore;
      break;
    }
    places[found++] = {static_cast<uint32_t>(node), offset(start),
                       static_cast<uint32_t>(behind - start)};
  }
  return found;
}

// The last byte in front of a place that is not white space; 0: there is none.
uint8_t lastByte(const uint8_t *source, size_t place) {
  while (place > 0 && isSpace(source[place - 1])) place--;
  return place > 0 ? source[place - 1] : 0;
}

// The last comma behind a byte that may end a value, or the white space in front of it.
uint8_t *endOfValue(uint8_t *start, uint8_t *end, uint8_t closing) {
  uint8_t next = 0;
  for (uint8_t *at = end - 1; at > start; at--) {
    if (*at == closing && next == ',') return at + 1;
    if (!isSpace(*at)) next = *at;
  }
  return nullptr;
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

JSONParser *jsonParserCreate(int maximumDepth) {
  return new (std::nothrow) JSONParser(maximumDepth);
}

void jsonParserDestroy(JSONParser *parser) { delete parser; }

size_t jsonPadding(void) { return SIMDJSON_PADDING; }

JSONStatus jsonParse(JSONParser *parser, const uint8_t *source, size_t start, size_t length,
                     uint8_t *arena, size_t *arenaEnd, TapeNode *nodes, size_t *count,
                     size_t capacity, size_t *errorAt) {
  const uint8_t *text = source + start;
  ondemand::document document;
  Walk walk{*parser, &document, source,   text + length,  arena, arena + *arenaEnd,
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

JSONStatus jsonParseList(JSONParser *parser, uint8_t *source, size_t start, size_t length,
                         uint8_t *arena, size_t *arenaEnd, TapeNode *nodes, size_t *count,
                         size_t capacity, JSONPlace *places, size_t *placeCount) {
  size_t placeCapacity = *placeCount;
  *placeCount = 0;
  if (start == 0 || source[start] != ',') return JSON_SYNTAX;
  const uint8_t closing = lastByte(source, start);
  uint8_t *open = source + start;
  uint8_t *end = open + length;
  JSONStatus status = JSON_INCOMPLETE;
  // Where the text of a string looks like the end of a value, another one is tried.
  for (int attempt = 0; attempt < 3 && *placeCount == 0; attempt++) {
    end = endOfValue(open, end, closing);
    if (end == nullptr) return status;
    // A list of its own as long as it is parsed: simdjson's first stage is run once for all of it.
    const uint8_t comma = *end;
    *open = '[';
    *end = ']';
    ondemand::document document;
    Walk walk{*parser, &document, source,   end + 1,  arena, arena + *arenaEnd,
              nodes,   *count,    capacity, {JSON_OK, open}};
    size_t size = end + 1 - open;
    ondemand::array list;
    if (!parser->parser.iterate(open, size, size + SIMDJSON_PADDING).get(document) &&
        !document.get_array().get(list))
      *placeCount = walk.list(list, places, placeCapacity);
    *open = ',';
    *end = comma;
    *arenaEnd = static_cast<size_t>(walk.free - arena);
    *count = walk.count;
    status = walk.failure.status;
    if (status == JSON_NODES) return status;
  }
  return status;
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
  // As many as a byte counts: then the compiler compares and adds many bytes at a time.
  for (size_t start = 0; start < length; start += 255) {
    size_t end = std::min(start + 255, length);
    uint8_t feeds = 0;
    for (size_t i = start; i < end; i++) feeds += text[i] == '\n';
    count += feeds;
  }
  return count;
}

bool isUTF8(const uint8_t *text, size_t length) {
  return simdjson::validate_utf8(reinterpret_cast<const char *>(text), length);
}

bool hasNUL(const uint8_t *text, size_t length) {
  return length > 0 && memchr(text, 0, length) != nullptr;
}

}  // extern "C"
