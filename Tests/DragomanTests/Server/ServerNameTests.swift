import DragomanPostgreSQL
import Testing

/// How messages name a server.
@Suite("Names of servers") struct ServerNameTests {
  @Test(
    "They have the host, the database and the schema, and neither user nor password",
    arguments: [
      (
        "postgresql://u:secret@db.example.org:5433/people",
        "postgresql://db.example.org:5433/people"
      ),
      (
        "postgresql://db/people?options=-csearch_path%3Dsales",
        "postgresql://db/people?schema=sales"
      ),
      (
        "postgresql://u@db/people?password=secret&options=-c%20search_path%3Dsales%20-cx%3D1&sslmode=require",
        "postgresql://db/people?schema=sales"
      ),
      ("postgresql://db?dbname=people", "postgresql://db/people"),
      ("postgresql://?service=people&user=u", "postgresql://?service=people"),
      ("postgresql://?dbname=postgresql%3A%2F%2Fu%3Asecret%40db%2Fx", "postgresql://"),
      ("postgresql://u:se?cret@db/people", "a PostgreSQL server"),
    ]
  )
  func names(url: String, name: String) { #expect(PostgreSQLServer(url).name == name) }
}
