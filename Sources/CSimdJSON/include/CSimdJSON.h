// The tape that every reader fills, and the JSON parser that fills it with simdjson.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a node of the tape is.
enum {
  TAPE_NULL = 0,    // null; in XML an element with xsi:nil="true"
  TAPE_FALSE = 1,
  TAPE_TRUE = 2,
  TAPE_NUMBER = 3,  // text = the digits as written in the source
  TAPE_STRING = 4,  // text = the unescaped UTF-8 bytes; in XML an attribute's value
  TAPE_ARRAY = 5,   // the elements follow, up to `next`
  TAPE_OBJECT = 6,  // the members follow, each with its key, up to `next`
  TAPE_ELEMENT = 7,  // XML: text = the direct text; attributes (key "@name"), then child elements follow
  // Only dictionaries have these:
  TAPE_DATE = 8,    // an instant: text = yyyy-MM-dd HH:mm:ss[.ffffff] in UTC
  TAPE_DATA = 9     // text = the bytes themselves
};

// One value. `text` and `key` count bytes from the start of the batch's arena, `origin` from the
// start of its source bytes.
typedef struct TapeNode {
  uint32_t text;       // offset of the scalar's bytes
  uint32_t length;     // their count
  uint32_t key;        // offset of the member's name (objects' members, XML names without prefix)
  uint32_t keyLength;  // its byte count; 0 for elements of arrays
  uint32_t next;       // index of the first node behind this one and all it holds
  uint32_t origin;     // offset of the value's first byte in the source
  uint16_t space;      // XML: number of the name's namespace (0 = none), see RecordBatch.namespaces
  uint8_t kind;        // TAPE_…
  uint8_t flags;       // TAPE_ATTRIBUTE, TAPE_NAME, TAPE_OUTSIDE
} TapeNode;

// TapeNode.flags
enum {
  TAPE_ATTRIBUTE = 1,  // the node is an XML attribute
  TAPE_NAME = 8,       // the text is a member's name, which is text whatever it means
  TAPE_OUTSIDE = 16    // dictionaries: a number that is none (NaN, infinity), a date no store holds
};

// A parser with its reusable memory. Not thread-safe.
typedef struct JSONParser JSONParser;

// Makes a parser of texts that nest no deeper; JSON_MAX_DEPTH and a few more are possible.
// Returns NULL when there is no memory.
JSONParser *jsonParserCreate(int maximumDepth);
void jsonParserDestroy(JSONParser *parser);

// How many bytes behind the text must be readable (their values do not matter).
size_t jsonPadding(void);

// Why a text was refused.
typedef enum JSONStatus {
  JSON_OK = 0,
  JSON_SYNTAX = 1,          // not JSON
  JSON_UTF8 = 2,            // invalid UTF-8
  JSON_CONTROL = 3,         // raw control character or missing end quote in a string
  JSON_STRING = 4,          // a bad escape
  JSON_SURROGATE = 5,       // an escaped surrogate without its pair
  JSON_NUMBER = 6,          // a number against RFC 8259's grammar
  JSON_LITERAL = 7,         // neither true, false nor null
  JSON_DEPTH = 8,           // nested deeper than the parser admits
  JSON_TRAILING = 9,        // something behind the value
  JSON_INCOMPLETE = 10,     // the text ends inside the value
  JSON_NODES = 11,          // the tape is full: enlarge and call again
  JSON_TOO_LARGE = 12,      // more than 4 GB or out of memory
  JSON_EMPTY = 13           // nothing but white space
} JSONStatus;

// The levels of a feed: below simdjson's own limit of 1024, which its debug builds assert.
enum { JSON_MAX_DEPTH = 1000 };

// Parses one whole JSON text, validating every byte of it, and appends its nodes to the tape.
//
//   source, start, length  the text is source[start ..< start + length]
//   arena, arenaEnd        where unescaped text goes; at least length + padding bytes must be free
//                          behind arenaEnd, which is advanced
//   nodes, count, capacity the tape; count is advanced
//   errorAt                out: offset in source where the text was refused
JSONStatus jsonParse(JSONParser *parser, const uint8_t *source, size_t start, size_t length,
                     uint8_t *arena, size_t *arenaEnd, TapeNode *nodes, size_t *count,
                     size_t capacity, size_t *errorAt);

// Where a value is: its node, and its text in the source.
typedef struct JSONPlace {
  uint32_t node;
  uint32_t start;
  uint32_t length;
} JSONPlace;

// Parses values of a list together, from the comma at source[start] on, as far as they stand whole and faultless
// in source[start ..< start + length]; each ends as the value in front of that comma does.
//
//   source      is as it was afterwards; padding bytes behind start + length must be readable
//   places      where the values are
//   placeCount  in: how many places there are; out: how many values were parsed
//
// Returns JSON_NODES where the tape is full: what was parsed stands. Whatever else ends it, `jsonParse` of the
// value behind the last one tells.
JSONStatus jsonParseList(JSONParser *parser, uint8_t *source, size_t start, size_t length,
                         uint8_t *arena, size_t *arenaEnd, TapeNode *nodes, size_t *count,
                         size_t capacity, JSONPlace *places, size_t *placeCount);

// Finds the end of the JSON value that starts at text[0], without validating it.
// The scan can be resumed when more bytes have come: pass the same state again.
typedef struct JSONScan {
  uint64_t position;  // bytes already scanned
  uint32_t depth;     // open brackets
  uint8_t inString;   // inside a string
  uint8_t escaped;    // the last byte was a backslash
  uint8_t started;    // the first byte of a scalar was seen
} JSONScan;

// Returns the value's length, or 0 when it does not end within the bytes given.
// With atEnd, a scalar may end with the text.
size_t jsonScanValue(JSONScan *scan, const uint8_t *text, size_t length, int atEnd);

// How many values text[0 ..< length] holds, if it is JSON: all that get a node of the tape.
size_t jsonCountValues(const uint8_t *text, size_t length);

// Counts the line feeds in text[0 ..< length].
size_t countLineFeeds(const uint8_t *text, size_t length);

// Whether text[0 ..< length] is valid UTF-8, and whether one of its bytes is 0.
bool isUTF8(const uint8_t *text, size_t length);
bool hasNUL(const uint8_t *text, size_t length);

#ifdef __cplusplus
}
#endif
