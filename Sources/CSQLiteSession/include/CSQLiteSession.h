#ifndef C_SQLITE_SESSION_H
#define C_SQLITE_SESSION_H

// The part of SQLite's session extension that is used here (https://www.sqlite.org/sessionintro.html).
// The system's header declares it only where SQLITE_ENABLE_SESSION is defined, and not every system's
// library has it: dragoman_has_sessions() tells.

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_value sqlite3_value;
typedef struct sqlite3_session sqlite3_session;
typedef struct sqlite3_changeset_iter sqlite3_changeset_iter;

#define DRAGOMAN_CHANGESET_DATA 1
#define DRAGOMAN_CHANGESET_NOTFOUND 2
#define DRAGOMAN_CHANGESET_CONFLICT 3
#define DRAGOMAN_CHANGESET_CONSTRAINT 4
#define DRAGOMAN_CHANGESET_FOREIGN_KEY 5

int sqlite3session_create(sqlite3 *db, const char *name, sqlite3_session **session)
    __attribute__((weak));
void sqlite3session_delete(sqlite3_session *session) __attribute__((weak));
int sqlite3session_attach(sqlite3_session *session, const char *table) __attribute__((weak));
int sqlite3session_changeset(sqlite3_session *session, int *count, void **changeset)
    __attribute__((weak));
long long sqlite3session_memory_used(sqlite3_session *session) __attribute__((weak));
int sqlite3changeset_invert(int count, const void *changeset, int *inverted_count, void **inverted)
    __attribute__((weak));
int sqlite3changeset_start(sqlite3_changeset_iter **iterator, int count, void *changeset)
    __attribute__((weak));
int sqlite3changeset_next(sqlite3_changeset_iter *iterator) __attribute__((weak));
int sqlite3changeset_op(sqlite3_changeset_iter *iterator, const char **table, int *column_count,
                        int *operation, int *indirect) __attribute__((weak));
int sqlite3changeset_old(sqlite3_changeset_iter *iterator, int column, sqlite3_value **value)
    __attribute__((weak));
int sqlite3changeset_new(sqlite3_changeset_iter *iterator, int column, sqlite3_value **value)
    __attribute__((weak));
int sqlite3changeset_finalize(sqlite3_changeset_iter *iterator) __attribute__((weak));
int sqlite3changeset_apply(sqlite3 *db, int count, void *changeset,
                           int (*filter)(void *context, const char *table),
                           int (*conflict)(void *context, int kind,
                                           sqlite3_changeset_iter *iterator),
                           void *context) __attribute__((weak));

/// Whether the SQLite that the program runs with has the extension.
int dragoman_has_sessions(void);

#endif
