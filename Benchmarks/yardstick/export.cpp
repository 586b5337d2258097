// The yardstick of the export: reads the people of a file in the order of their key and prints NDJSON,
// byte for byte what `dragoman export people.map.yaml -f ndjson` prints.
//   g++ -O3 -std=c++20 export.cpp -o export -lsqlite3; ./export people.db people.ndjson
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sqlite3.h>
#include <string_view>
#include <unistd.h>

static char buffer[1 << 18];
static size_t used = 0;
static int output;

static void flush() {
  for (size_t done = 0; done < used;) {
    ssize_t wrote = write(output, buffer + done, used - done);
    if (wrote < 0) { perror("write"); _exit(1); }
    done += (size_t)wrote;
  }
  used = 0;
}

static void put(std::string_view bytes) {
  if (used + bytes.size() > sizeof buffer) flush();
  if (bytes.size() > sizeof buffer) { fprintf(stderr, "too long\n"); _exit(1); }
  memcpy(buffer + used, bytes.data(), bytes.size());
  used += bytes.size();
}

static sqlite3_stmt *row;

static std::string_view column(int index) {
  const char *text = (const char *)sqlite3_column_text(row, index);
  return {text, (size_t)sqlite3_column_bytes(row, index)};
}

// Text of a row, with JSON's escapes (RFC 8259, section 7).
static void text(std::string_view value) {
  put("\"");
  size_t copied = 0;
  for (size_t i = 0; i < value.size(); i++) {
    unsigned char byte = (unsigned char)value[i];
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    put(value.substr(copied, i - copied));
    copied = i + 1;
    char escape[8];
    switch (byte) {
      case '"': put("\\\""); break;
      case '\\': put("\\\\"); break;
      case '\n': put("\\n"); break;
      case '\r': put("\\r"); break;
      case '\t': put("\\t"); break;
      case '\b': put("\\b"); break;
      case '\f': put("\\f"); break;
      default: snprintf(escape, sizeof escape, "\\u%04x", byte); put(escape);
    }
  }
  put(value.substr(copied));
  put("\"");
}

static void integer(int64_t value) {
  char digits[24];
  put({digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
}

// The shortest decimal that is the same double, its thousands grouped by commas.
static void grouped(double value) {
  char digits[400], *end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed).ptr;
  std::string_view all(digits, end);
  size_t point = std::min(all.find('.'), all.size());
  put("\"");
  for (size_t i = 0; i < point; i++) {
    put(all.substr(i, 1));
    if (all[i] != '-' && point - i > 1 && (point - i - 1) % 3 == 0) put(",");
  }
  put(point == all.size() ? ".0" : all.substr(point));
  put("\"");
}

static void instant(std::string_view value) {
  put("\"");
  put(value.substr(0, 10));
  put("T");
  put(value.substr(11));
  put("Z\"");
}

int main(int argc, char **argv) {
  if (argc < 3) { fprintf(stderr, "usage: export FILE.db OUT.ndjson\n"); return 64; }
  sqlite3 *db;
  output = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (output < 0) { perror(argv[2]); return 1; }
  if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK
      || sqlite3_exec(db, "PRAGMA cache_size=-65536", nullptr, nullptr, nullptr) != SQLITE_OK
      || sqlite3_prepare_v2(db,
        "SELECT ticketNumber, firstName, lastName, socialSecurityNumber, salary, dateOfBirth, active, score, visits, city, zip"
        " FROM Person ORDER BY ticketNumber", -1, &row, nullptr) != SQLITE_OK) {
    fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    return 1;
  }
  while (sqlite3_step(row) == SQLITE_ROW) {
    put("{\"ticket_number\":");
    text(column(0));
    put(",\"first_name\":");
    text(column(1));
    put(",\"last_name\":");
    text(column(2));
    put(",\"ss_num\":");
    text(column(3));
    put(",\"salary\":");
    grouped(sqlite3_column_double(row, 4));
    put(",\"dob\":");
    instant(column(5));
    put(sqlite3_column_int(row, 6) ? ",\"active\":true" : ",\"active\":false");
    put(",\"score\":");
    grouped(sqlite3_column_double(row, 7));
    put(",\"visits\":");
    integer(sqlite3_column_int64(row, 8));
    put(",\"address\":{");
    if (sqlite3_column_type(row, 9) != SQLITE_NULL) {
      put("\"city\":");
      text(column(9));
      put(",");
    }
    put("\"zip\":");
    text(column(10));
    put("}}\n");
  }
  flush();
  sqlite3_finalize(row);
  sqlite3_close(db);
  return close(output);
}
