#include "support/sanitizers.h"

namespace calque::test {

#ifdef __SANITIZE_ADDRESS__
extern const bool kAddressSanitizer = true;
#else
extern const bool kAddressSanitizer = false;
#endif
#ifdef __SANITIZE_THREAD__
extern const bool kThreadSanitizer = true;
#else
extern const bool kThreadSanitizer = false;
#endif

}  // namespace calque::test
