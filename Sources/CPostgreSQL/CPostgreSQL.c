// libpq is loaded when the first server is connected to: it brings twenty libraries (TLS, Kerberos, LDAP) and 3 ms,
// which no command on a file pays for. Its functions and numbers are its ABI, the same since PostgreSQL 9.2.
#include "CPostgreSQL.h"

#include <dlfcn.h>
#include <pthread.h>

static CPostgreSQL pq;
static void *(*setNoticeReceiver)(void *, void (*)(void *, const void *), void *);
static int isLoaded = 0;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  const char *names[] = {
    "libpq.so.5", "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib",
    "/usr/local/opt/libpq/lib/libpq.5.dylib",
  };
  void *library = NULL;
  for (size_t index = 0; index < sizeof names / sizeof *names && !library; index++) {
    library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) return;
  isLoaded = 1;
  struct {
    void *place;
    const char *name;
  } functions[] = {
    {&pq.connectdbParams, "PQconnectdbParams"},
    {&pq.status, "PQstatus"},
    {&pq.transactionStatus, "PQtransactionStatus"},
    {&pq.errorMessage, "PQerrorMessage"},
    {&pq.parameterStatus, "PQparameterStatus"},
    {&pq.serverVersion, "PQserverVersion"},
    {&pq.db, "PQdb"},
    {&pq.host, "PQhost"},
    {&pq.finish, "PQfinish"},
    {&pq.exec, "PQexec"},
    {&pq.execParams, "PQexecParams"},
    {&pq.sendQueryParams, "PQsendQueryParams"},
    {&pq.setSingleRowMode, "PQsetSingleRowMode"},
    {&pq.getResult, "PQgetResult"},
    {&pq.consumeInput, "PQconsumeInput"},
    {&pq.resultStatus, "PQresultStatus"},
    {&pq.resultErrorField, "PQresultErrorField"},
    {&pq.ntuples, "PQntuples"},
    {&pq.nfields, "PQnfields"},
    {&pq.ftype, "PQftype"},
    {&pq.getvalue, "PQgetvalue"},
    {&pq.getlength, "PQgetlength"},
    {&pq.getisnull, "PQgetisnull"},
    {&pq.cmdTuples, "PQcmdTuples"},
    {&pq.clear, "PQclear"},
    {&pq.putCopyData, "PQputCopyData"},
    {&pq.putCopyEnd, "PQputCopyEnd"},
    {&pq.getCopyData, "PQgetCopyData"},
    {&pq.freemem, "PQfreemem"},
    {&setNoticeReceiver, "PQsetNoticeReceiver"},
  };
  for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
    void *function = dlsym(library, functions[index].name);
    if (!function) isLoaded = 0;
    *(void **)functions[index].place = function;
  }
}

const CPostgreSQL *CPostgreSQLLoad(void) {
  pthread_once(&once, load);
  return isLoaded ? &pq : NULL;
}

static void ignore(void *context, const void *result) {}

void CPostgreSQLSilence(void *connection) { setNoticeReceiver(connection, ignore, NULL); }
