#include "CSQLiteSettings.h"

#include <sqlite3.h>

void dragoman_sqlite_counts_no_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
