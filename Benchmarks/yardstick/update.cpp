// The yardstick of a save: a thousand rows, spread over the whole table or side by side, changed by one prepared UPDATE in one
// transaction that is on the disk when it ends (synchronous=FULL, as ours). No validation, no conflicts, no notices.
//   g++ -O3 -std=c++20 update.cpp -o update -lsqlite3
//   ./update people.db 1000 [together]
// Prints the median of five rounds, in seconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sqlite3.h>
#include <string>
#include <vector>

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char **argv) {
  if (argc < 3) { fprintf(stderr, "usage: update FILE.db COUNT [together]\n"); return 64; }
  size_t count = strtoul(argv[2], nullptr, 10);
  sqlite3 *db;
  if (sqlite3_open(argv[1], &db) != SQLITE_OK) { fprintf(stderr, "%s\n", sqlite3_errmsg(db)); return 74; }
  sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536; PRAGMA wal_autocheckpoint=8000",
    nullptr, nullptr, nullptr);
  std::vector<sqlite3_int64> all, keys;
  sqlite3_stmt *s;
  sqlite3_prepare_v2(db, "SELECT _pk FROM Person ORDER BY _pk", -1, &s, nullptr);
  while (sqlite3_step(s) == SQLITE_ROW) all.push_back(sqlite3_column_int64(s, 0));
  sqlite3_finalize(s);
  size_t stride = argc > 3 ? 1 : std::max<size_t>(1, all.size() / count);
  for (size_t i = 0; i < all.size() && keys.size() < count; i += stride) keys.push_back(all[i]);
  std::vector<double> rounds;
  for (int round = 1; round <= 5; round++) {
    std::string city = "Town " + std::to_string(round);
    double start = now();
    sqlite3_prepare_v2(db, "UPDATE Person SET visits = ?, city = ?, _v = _v + 1 WHERE _pk = ?", -1, &s, nullptr);
    sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
    for (size_t i = 0; i < keys.size(); i++) {
      sqlite3_bind_int64(s, 1, 1000000 * round + i + 7);
      sqlite3_bind_text(s, 2, city.data(), (int)city.size(), SQLITE_STATIC);
      sqlite3_bind_int64(s, 3, keys[i]);
      if (sqlite3_step(s) != SQLITE_DONE) { fprintf(stderr, "%s\n", sqlite3_errmsg(db)); return 74; }
      sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    if (sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK) { fprintf(stderr, "%s\n", sqlite3_errmsg(db)); return 74; }
    rounds.push_back(now() - start);
  }
  sqlite3_close(db);
  std::sort(rounds.begin(), rounds.end());
  printf("{\"stored\":%zu,\"changed\":%zu,\"save\":%.6f}\n", all.size(), keys.size(), rounds[2]);
}
