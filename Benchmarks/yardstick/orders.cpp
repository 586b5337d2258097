// The yardstick of links: what a C++ programmer would write by hand for generate_orders.py's feed.
// simdjson, straight into prepared statements, one transaction; the keys of what is stored are kept in
// memory, so that links and lines find their rows without a SELECT. Tables and indexes are Dragoman's.
//   g++ -O3 -std=c++20 orders.cpp -o orders -lsimdjson -lsqlite3
//   ./orders orders.json orders.db     a first import into a new file, an update of one that is there
// The feed's order is relied on: customers and products stand before the orders.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <simdjson.h>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unistd.h>
using namespace simdjson;

static const char *schema =
  "CREATE TABLE IF NOT EXISTS Customer (_pk INTEGER PRIMARY KEY, _v INTEGER, id TEXT, name TEXT, city TEXT);"
  "CREATE TABLE IF NOT EXISTS Product (_pk INTEGER PRIMARY KEY, _v INTEGER, sku TEXT, title TEXT);"
  "CREATE TABLE IF NOT EXISTS \"Order\" (_pk INTEGER PRIMARY KEY, _v INTEGER, number INTEGER, placed TEXT, note TEXT,"
  " customer INTEGER REFERENCES Customer (_pk) DEFERRABLE INITIALLY DEFERRED);"
  "CREATE TABLE IF NOT EXISTS Line (_pk INTEGER PRIMARY KEY, _v INTEGER, no INTEGER, quantity INTEGER, price TEXT,"
  " product INTEGER REFERENCES Product (_pk) DEFERRABLE INITIALLY DEFERRED,"
  " \"order\" INTEGER REFERENCES \"Order\" (_pk) DEFERRABLE INITIALLY DEFERRED);"
  "CREATE UNIQUE INDEX IF NOT EXISTS Customer_unique_id ON Customer (id);"
  "CREATE UNIQUE INDEX IF NOT EXISTS Product_unique_sku ON Product (sku);"
  "CREATE UNIQUE INDEX IF NOT EXISTS Order_unique_number ON \"Order\" (number);"
  "CREATE INDEX IF NOT EXISTS Order_customer ON \"Order\" (customer);"
  "CREATE UNIQUE INDEX IF NOT EXISTS Line_unique_order_no ON Line (\"order\", no);"
  "CREATE INDEX IF NOT EXISTS Line_product ON Line (product);"
  "CREATE INDEX IF NOT EXISTS Line_order ON Line (\"order\");";

static sqlite3 *db;

static void check(bool good) {
  if (!good) { fprintf(stderr, "%s\n", sqlite3_errmsg(db)); _exit(1); }
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) == SQLITE_OK);
  return statement;
}

// One table: the primary keys of its rows by their unique key, and the two statements that write it.
// Both take the columns in the same places and the primary key in the last one.
template <class Key> struct Table {
  std::unordered_map<Key, int64_t> keys;
  int64_t next = 1;
  sqlite3_stmt *insert, *update, *current;
  int last;

  Table(const char *insertSQL, const char *updateSQL, int last, size_t expected)
    : insert(prepare(insertSQL)), update(prepare(updateSQL)), last(last) { keys.reserve(expected); }

  int64_t begin(Key &&key) {
    auto [place, isNew] = keys.try_emplace(std::move(key), next);
    current = isNew ? insert : update;
    if (isNew) next++;
    sqlite3_bind_int64(current, last, place->second);
    return place->second;
  }
  void text(int index, std::string_view value) { sqlite3_bind_text(current, index, value.data(), (int)value.size(), SQLITE_STATIC); }
  void integer(int index, int64_t value) { sqlite3_bind_int64(current, index, value); }
  void null(int index) { sqlite3_bind_null(current, index); }
  void step() {
    check(sqlite3_step(current) == SQLITE_DONE);
    sqlite3_reset(current);
  }
  void learn(Key &&key, int64_t primaryKey) {
    keys.emplace(std::move(key), primaryKey);
    if (primaryKey >= next) next = primaryKey + 1;
  }
};

template <class Row> static void forEachRow(const char *sql, Row row) {
  sqlite3_stmt *statement = prepare(sql);
  while (sqlite3_step(statement) == SQLITE_ROW) row(statement);
  sqlite3_finalize(statement);
}

static std::string textOf(sqlite3_stmt *row, int column) {
  return std::string((const char *)sqlite3_column_text(row, column), sqlite3_column_bytes(row, column));
}

static void optionalText(auto &table, int index, ondemand::value value) {
  if (value.is_null()) table.null(index); else table.text(index, value.get_string().value());
}

// The price as dragoman stores a decimal of two places; the feed's are spelled that way already.
static std::string_view price(std::string_view text) {
  size_t point = text.find('.');
  if (point == std::string_view::npos || text.size() - point != 3) { fprintf(stderr, "price\n"); _exit(1); }
  return text;
}

int main(int argc, char **argv) {
  if (argc < 3) { fprintf(stderr, "usage: orders FEED.json FILE.db\n"); return 64; }
  padded_string json = padded_string::load(argv[1]);
  check(sqlite3_open(argv[2], &db) == SQLITE_OK);
  check(sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536; BEGIN IMMEDIATE;", nullptr, nullptr, nullptr) == SQLITE_OK);
  check(sqlite3_exec(db, schema, nullptr, nullptr, nullptr) == SQLITE_OK);

  size_t guess = json.size() / 290;  // bytes an order
  Table<std::string> customers("INSERT INTO Customer(id,name,city,_v,_pk) VALUES(?1,?2,?3,1,?4)",
    "UPDATE Customer SET id=?1,name=?2,city=?3,_v=_v+1 WHERE _pk=?4", 4, guess / 10);
  Table<std::string> products("INSERT INTO Product(sku,title,_v,_pk) VALUES(?1,?2,1,?3)",
    "UPDATE Product SET sku=?1,title=?2,_v=_v+1 WHERE _pk=?3", 3, guess / 40);
  Table<int64_t> orders("INSERT INTO \"Order\"(number,placed,note,customer,_v,_pk) VALUES(?1,?2,?3,?4,1,?5)",
    "UPDATE \"Order\" SET number=?1,placed=?2,note=?3,customer=?4,_v=_v+1 WHERE _pk=?5", 5, guess);
  // The key of a line is its order's primary key and its number in one word.
  Table<int64_t> lines("INSERT INTO Line(no,quantity,price,product,\"order\",_v,_pk) VALUES(?1,?2,?3,?4,?5,1,?6)",
    "UPDATE Line SET no=?1,quantity=?2,price=?3,product=?4,\"order\"=?5,_v=_v+1 WHERE _pk=?6", 6, guess * 3);
  auto lineKey = [](int64_t order, int64_t no) { return order << 16 | no; };
  forEachRow("SELECT id, _pk FROM Customer", [&](sqlite3_stmt *row) { customers.learn(textOf(row, 0), sqlite3_column_int64(row, 1)); });
  forEachRow("SELECT sku, _pk FROM Product", [&](sqlite3_stmt *row) { products.learn(textOf(row, 0), sqlite3_column_int64(row, 1)); });
  forEachRow("SELECT number, _pk FROM \"Order\"", [&](sqlite3_stmt *row) { orders.learn(sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)); });
  forEachRow("SELECT \"order\", no, _pk FROM Line", [&](sqlite3_stmt *row) {
    lines.learn(lineKey(sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)), sqlite3_column_int64(row, 2));
  });

  ondemand::parser parser;
  ondemand::document document = parser.iterate(json);
  ondemand::object feed = document.get_object();
  std::string key;
  for (ondemand::object customer : feed["customers"].get_array()) {
    std::string_view id = customer["id"].get_string();
    customers.begin(std::string(id));
    customers.text(1, id);
    customers.text(2, customer["name"].get_string());
    optionalText(customers, 3, customer["city"].value());
    customers.step();
  }
  for (ondemand::object product : feed["products"].get_array()) {
    std::string_view sku = product["sku"].get_string();
    products.begin(std::string(sku));
    products.text(1, sku);
    products.text(2, product["title"].get_string());
    products.step();
  }
  auto target = [&](auto &table, std::string_view name) {
    key.assign(name);
    auto found = table.keys.find(key);
    return found == table.keys.end() ? 0 : found->second;
  };
  for (ondemand::object order : feed["orders"].get_array()) {
    int64_t number = order["number"].get_int64();
    int64_t owner = orders.begin(int64_t(number));
    orders.integer(1, number);
    orders.text(2, order["placed"].get_string());
    int64_t customer = target(customers, order["customer"].get_string());
    if (customer) orders.integer(4, customer); else orders.null(4);
    optionalText(orders, 3, order["note"].value());
    orders.step();
    for (ondemand::object line : order["lines"].get_array()) {
      int64_t no = line["no"].get_int64();
      lines.begin(lineKey(owner, no));
      lines.integer(1, no);
      int64_t product = target(products, line["sku"].get_string());
      if (product) lines.integer(4, product); else lines.null(4);
      lines.integer(2, line["quantity"].get_int64());
      lines.text(3, price(line["price"].get_string()));
      lines.integer(5, owner);
      lines.step();
    }
  }
  check(sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK);
  for (sqlite3_stmt *statement : {customers.insert, customers.update, products.insert, products.update, orders.insert, orders.update, lines.insert, lines.update})
    sqlite3_finalize(statement);
  check(sqlite3_close(db) == SQLITE_OK);
}
