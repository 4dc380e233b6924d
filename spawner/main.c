/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* main() has a file of its own, because the unit tests link all the others. */

#include "spawner/spawner.h"

int main(int argc, char **argv)
{
    return spawner_main(argc, argv);
}
