// Another time of day for one process, by LD_PRELOAD: TORTURE_CLOCK has the seconds since 1970 at which it begins.
//
// libfaketime sets variables of the environment before main, and Swift looks for its arguments beside them.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long shift(void) {
  static long long found;
  static int is_known;
  if (!is_known) {
    const char *wanted = getenv("TORTURE_CLOCK");
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    found = wanted ? atoll(wanted) - now.tv_sec : 0;
    is_known = 1;
  }
  return found;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int status = (int)syscall(SYS_clock_gettime, clock, time);
  if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += shift();
  return status;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (place) *place = now.tv_sec;
  return now.tv_sec;
}
