// Included last by every file of src/core: the core is built and tested without a server.
#ifdef SIMHASH_HAS_POSTGRES
#error "src/core must not include a PostgreSQL header"
#endif
