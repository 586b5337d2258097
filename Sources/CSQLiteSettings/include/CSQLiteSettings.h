// Settings of SQLite's that have a variable number of arguments, which Swift does not import.
#pragma once

/// Makes SQLite count none of its memory (https://www.sqlite.org/c3ref/c_config_covering_index_scan.html, MEMSTATUS):
/// each allocation would take a lock that the whole process shares.
///
/// For a process that is about to open its first database; later it does nothing. `sqlite3_memory_used` is 0 then, and
/// the soft heap limit has no effect.
void dragoman_sqlite_counts_no_memory(void);
