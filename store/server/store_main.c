/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* main() has a file of its own, because the unit tests link all the others. */

#include "store/server/server.h"

int main(int argc, char **argv)
{
    return store_server_main(argc, argv);
}
