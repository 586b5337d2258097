#ifndef CPOSTGRESQL_H
#define CPOSTGRESQL_H

#include <stddef.h>

/// The functions of libpq that are used, by their names there without PQ
/// (https://www.postgresql.org/docs/current/libpq.html).
typedef struct {
  void *(*connectdbParams)(const char *const *keywords, const char *const *values, int expandsName);
  int (*status)(const void *connection);
  int (*transactionStatus)(const void *connection);
  char *(*errorMessage)(const void *connection);
  const char *(*parameterStatus)(const void *connection, const char *name);
  int (*serverVersion)(const void *connection);
  char *(*db)(const void *connection);
  char *(*host)(const void *connection);
  void (*finish)(void *connection);
  void *(*exec)(void *connection, const char *sql);
  void *(*execParams)(void *connection, const char *sql, int count, const unsigned *types,
                      const char *const *values, const int *lengths, const int *formats, int format);
  int (*sendQueryParams)(void *connection, const char *sql, int count, const unsigned *types,
                         const char *const *values, const int *lengths, const int *formats, int format);
  int (*setSingleRowMode)(void *connection);
  void *(*getResult)(void *connection);
  int (*consumeInput)(void *connection);
  int (*resultStatus)(const void *result);
  char *(*resultErrorField)(const void *result, int field);
  int (*ntuples)(const void *result);
  int (*nfields)(const void *result);
  unsigned (*ftype)(const void *result, int column);
  char *(*getvalue)(const void *result, int row, int column);
  int (*getlength)(const void *result, int row, int column);
  int (*getisnull)(const void *result, int row, int column);
  char *(*cmdTuples)(void *result);
  void (*clear)(void *result);
  int (*putCopyData)(void *connection, const char *bytes, int count);
  int (*putCopyEnd)(void *connection, const char *error);
  int (*getCopyData)(void *connection, char **bytes, int isAsync);
  void (*freemem)(void *memory);
} CPostgreSQL;

/// libpq, loaded by the first call; NULL where there is none. Notices of servers are not printed.
const CPostgreSQL *CPostgreSQLLoad(void);

/// Lets a connection print no notices.
void CPostgreSQLSilence(void *connection);

#endif
