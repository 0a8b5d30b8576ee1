// Points at which tests can stop a backend. Compiled in with -DSIMHASH_TEST_PAUSES only (make
// build/testing/simhash.so); costs nothing otherwise.
#pragma once

namespace simhash {

#ifdef SIMHASH_TEST_PAUSES
// Waits for advisory lock n where the session has set simhash_test.pause_at to 'POINT/n'. The
// setting may name several points, with commas between them. No page should be locked: a wait under
// a page lock cannot be interrupted. insert-before-last-leaf is for a test that ends the wait in
// any case. Where simhash_test.longest_nap is set, one in 20 visits to a point takes a random time
// up to that many microseconds, so that other sessions come between.
void pause_for_test(const char* point);
// Raises an error where the session has set simhash_test.fail_at to 'POINT'.
void fail_for_test(const char* point);
#else
inline void pause_for_test(const char*) {}
inline void fail_for_test(const char*) {}
#endif

} // namespace simhash
