// A program that is started once and begins its main as often as it is asked to, by LD_PRELOAD: what the linker and the
// libraries do at every start, and what Swift looks up of types when they are first used, is most of the time of a small command.
// `exit`, called by the main thread, goes back to where the next main begins; everything else ends the process.
//
// Asked are, over the socket 3 (TORTURE_PREPARED says so): the size of what follows, then texts that end with NUL each: a
// folder, files for the standard output and the standard error, and the arguments. Answered are how main ended, and the most
// memory that the process had meanwhile, in kilobytes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ASKED = 3, MOST_TEXTS = 256 };

typedef int (*Main)(int, char **, char **);
static Main begin;
static void (*set_arguments)(int, char **);  // arguments.swift
static jmp_buf next;
static pthread_t main_thread;
static int is_running;
static int status;

static int read_all(void *place, size_t size) {
  for (char *next = place; size > 0;) {
    ssize_t count = read(ASKED, next, size);
    if (count <= 0) return 0;
    next += count;
    size -= (size_t)count;
  }
  return 1;
}

static int stand_at(int stream, const char *path, int flags) {
  int file = open(path, flags | O_CLOEXEC, 0600);
  if (file < 0 || dup2(file, stream) < 0) return 0;
  return close(file) == 0;
}

// The most memory since the last call with `again`, in kilobytes (proc_pid_clear_refs(5), proc_pid_status(5)).
static int64_t peak(int again) {
  if (again) {
    int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "5", 1) != 1) return 0;
    close(file);
    return 0;
  }
  char text[4096];
  int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  ssize_t count = file < 0 ? 0 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  text[count > 0 ? count : 0] = 0;
  char *found = strstr(text, "VmHWM:");
  return found ? strtoll(found + 6, NULL, 10) : 0;
}

void exit(int code) {
  if (is_running && pthread_equal(pthread_self(), main_thread)) {
    status = code;
    longjmp(next, 1);
  }
  void (*end)(int) __attribute__((noreturn));
  *(void **)&end = dlsym(RTLD_NEXT, "exit");
  end(code);
}

static int serve(int count, char **arguments, char **environment) {
  if (!getenv("TORTURE_PREPARED")) return begin(count, arguments, environment);
  *(void **)&set_arguments = dlsym(RTLD_DEFAULT, "torture_set_arguments");
  if (!set_arguments) return 125;
  unsetenv("LD_PRELOAD");
  unsetenv("TORTURE_PREPARED");
  main_thread = pthread_self();
  fcntl(ASKED, F_SETFD, FD_CLOEXEC);
  static uint32_t size;
  static char *asked, *texts[MOST_TEXTS + 1];
  while (read_all(&size, sizeof size)) {
    int found = 0;
    asked = malloc(size + 1);
    if (!asked || !read_all(asked, size)) return 125;
    for (char *text = asked; text < asked + size && found < MOST_TEXTS; text += strlen(text) + 1) texts[found++] = text;
    texts[found] = NULL;
    if (!stand_at(0, "/dev/null", O_RDONLY) || !stand_at(1, texts[1], O_WRONLY | O_CREAT | O_TRUNC)
        || !stand_at(2, texts[2], O_WRONLY | O_CREAT | O_TRUNC) || chdir(texts[0]) != 0) return 125;
    texts[2] = arguments[0];
    set_arguments(found - 2, texts + 2);
    peak(1);
    if (setjmp(next) == 0) {
      is_running = 1;
      exit(begin(found - 2, texts + 2, environ));
    }
    is_running = 0;
    fflush(NULL);
    int64_t answer[2] = {status, peak(0)};
    if (write(ASKED, answer, sizeof answer) != sizeof answer) return 125;
    free(asked);
  }
  return 0;
}

int __libc_start_main(Main first, int count, char **arguments, void (*init)(void), void (*fini)(void), void (*linker)(void), void *end) {
  int (*start)(Main, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
  *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
  begin = first;
  return start(serve, count, arguments, init, fini, linker, end);
}
