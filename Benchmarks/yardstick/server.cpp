// The yardstick for servers: what a C++ programmer would write by hand to bring this one feed into PostgreSQL.
// simdjson -> COPY into a temporary table -> one upsert in SQL, one transaction. No mapping, no policies, no reports.
//   g++ -O3 -std=c++17 server.cpp -o server -I$(pg_config --includedir) -lsimdjson -lpq
//   ./server people.json postgresql:///people
// Imports twice, and prints the seconds of each import, load and parse included.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <libpq-fe.h>
#include <simdjson.h>
#include <string>
using namespace simdjson;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void fail(PGconn *c) {
  fprintf(stderr, "%s\n", PQerrorMessage(c));
  exit(1);
}

static void run(PGconn *c, const char *sql) {
  PGresult *r = PQexec(c, sql);
  ExecStatusType s = PQresultStatus(r);
  if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK && s != PGRES_COPY_IN) fail(c);
  PQclear(r);
}

static void text(std::string &out, std::string_view value) {
  for (char c : value) switch (c) {
    case '\\': out += "\\\\"; break;
    case '\t': out += "\\t"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    default: out += c;
  }
}

static long import(PGconn *c, const char *path) {
  padded_string json = padded_string::load(path);
  run(c, "BEGIN");
  run(c, "CREATE TEMP TABLE staging (LIKE \"Person\") ON COMMIT DROP");
  run(c, "COPY staging FROM STDIN");
  ondemand::parser parser;
  ondemand::document document = parser.iterate(json);
  std::string out;
  long count = 0;
  for (auto element : document.get_array()) {
    ondemand::object o = element.get_object();
    text(out, o["ticket_number"].get_string().value()); out += '\t';
    text(out, o["first_name"].get_string().value()); out += '\t';
    text(out, o["last_name"].get_string().value()); out += '\t';
    text(out, o["ss_num"].get_string().value()); out += '\t';
    for (char d : std::string_view(o["salary"].get_string().value())) if (d != ',') out += d;
    out += '\t';
    text(out, o["dob"].get_string().value()); out += '\t';
    out += bool(o["active"].get_bool()) ? "t\t" : "f\t";
    out += std::string_view(o["score"].raw_json_token()); out += '\t';
    out += std::string_view(o["visits"].raw_json_token()); out += '\t';
    ondemand::object address = o["address"].get_object();
    auto city = address["city"];
    if (city.is_null()) out += "\\N"; else text(out, city.get_string().value());
    out += '\t';
    text(out, address["zip"].get_string().value()); out += '\n';
    count++;
    if (out.size() > 1 << 18) {
      if (PQputCopyData(c, out.data(), (int)out.size()) != 1) fail(c);
      out.clear();
    }
  }
  if (!out.empty() && PQputCopyData(c, out.data(), (int)out.size()) != 1) fail(c);
  if (PQputCopyEnd(c, nullptr) != 1) fail(c);
  PGresult *r = PQgetResult(c);
  if (PQresultStatus(r) != PGRES_COMMAND_OK) fail(c);
  PQclear(r);
  while ((r = PQgetResult(c))) PQclear(r);
  run(c,
    "INSERT INTO \"Person\" AS p SELECT * FROM staging ON CONFLICT (\"ticketNumber\") DO UPDATE SET \"firstName\" = excluded.\"firstName\","
    " \"lastName\" = excluded.\"lastName\", \"socialSecurityNumber\" = excluded.\"socialSecurityNumber\", salary = excluded.salary,"
    " \"dateOfBirth\" = excluded.\"dateOfBirth\", active = excluded.active, score = excluded.score, visits = excluded.visits,"
    " city = excluded.city, zip = excluded.zip WHERE (p.*) IS DISTINCT FROM (excluded.*)");
  run(c, "COMMIT");
  return count;
}

int main(int argc, char **argv) {
  if (argc < 3) { fprintf(stderr, "usage: server FEED.json URL\n"); return 64; }
  PGconn *c = PQconnectdb(argv[2]);
  if (PQstatus(c) != CONNECTION_OK) fail(c);
  run(c, "SET client_min_messages = warning; SET timezone = 'UTC'; DROP TABLE IF EXISTS \"Person\"; CREATE TABLE \"Person\" (\"ticketNumber\" text COLLATE \"C\" UNIQUE,"
         " \"firstName\" text, \"lastName\" text, \"socialSecurityNumber\" text, salary double precision, \"dateOfBirth\" timestamptz,"
         " active boolean, score double precision, visits bigint, city text, zip text)");
  double t0 = now();
  long count = import(c, argv[1]);
  double t1 = now();
  import(c, argv[1]);
  double t2 = now();
  PQfinish(c);
  printf("{\"records\":%ld,\"firstImport\":%.3f,\"again\":%.3f}\n", count, t1 - t0, t2 - t1);
}
