#ifndef C_SWIFT_RUNTIME_H
#define C_SWIFT_RUNTIME_H

/// Retains an object of Swift unless its last reference is gone already; NULL then.
///
/// The object's memory must not have been given back: whoever asks holds the lock that the object's
/// deinitialiser waits for.
void *dragoman_retain_if_alive(void *object);

#endif
