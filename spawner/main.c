/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Apart from all else, which the unit tests link as it is. */

#include "spawner/spawner.h"

int main(int argc, char **argv)
{
    return spawner_main(argc, argv);
}
