#include "CSwiftRuntime.h"

// Of Swift's runtime; see include/swift/Runtime/HeapObject.h of the compiler.
extern void *swift_tryRetain(void *object);

void *dragoman_retain_if_alive(void *object) { return swift_tryRetain(object); }
