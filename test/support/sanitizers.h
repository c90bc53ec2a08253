#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#endif

namespace calque::test {

/// Sanitizers of the library that the program is linked to; under AddressSanitizer the tests also instrument generated
/// code. Not constant expressions: objects of tests serve builds with and without sanitizers (CALQUE_TEST_OBJECTS).
extern const bool kAddressSanitizer, kThreadSanitizer;

}  // namespace calque::test
