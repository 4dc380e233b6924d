/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#ifndef APPPOOL_STORE_SERVER_SERVER_H
#define APPPOOL_STORE_SERVER_SERVER_H

/** The program apppool-store. @return its exit code */
int store_server_main(int argc, char **argv);

#endif
