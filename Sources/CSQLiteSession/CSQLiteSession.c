#include "CSQLiteSession.h"

int dragoman_has_sessions(void) {
  return sqlite3session_create && sqlite3session_delete && sqlite3session_attach
      && sqlite3session_changeset && sqlite3session_memory_used && sqlite3changeset_invert
      && sqlite3changeset_start && sqlite3changeset_next && sqlite3changeset_op
      && sqlite3changeset_old && sqlite3changeset_new && sqlite3changeset_finalize
      && sqlite3changeset_apply;
}
