/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_node.h
 * @brief Questions about the files of a Node app, for the table of rules. Each
 *        function is a detect_test_t (detect_text.h).
 */
#ifndef APPPOOL_DETECT_DETECT_NODE_H
#define APPPOOL_DETECT_DETECT_NODE_H

#include "detect/detect_file.h"
#include "detect/detect_text.h"

/** The start script of package.json runs a server. It does not only make files
 * for a browser (webpack --watch), and is no tool for development that is not
 * installed or stands beside an index.php. */
detect_test_t detect_node_starts;

/** There is a start script. */
detect_test_t detect_node_has_start;

/** What was built decides: package.json has no start script, or one that serves
 * the project for its developers (astro dev, ng serve, nuxt preview), or one whose
 * program is not installed, as in an image that has no node_modules/.bin. */
detect_test_t detect_node_is_built;

/** The same for Nest, whose start script builds and runs a second process. */
detect_test_t detect_node_is_nest;

/** A standalone server of Next.js below the project: Next is not installed, or
 * its static files were copied there, as its manual says. */
detect_test_t detect_node_is_standalone;

/** It does not look like a script for a browser. */
detect_test_t detect_node_no_browser;

/** "main" of package.json names a file that is there. */
detect_test_t detect_node_has_main;

/** tsx is installed in node_modules. */
detect_test_t detect_node_has_tsx;

/** That file, or the file of the rule, as the program of node. */
detect_file_t detect_node_read_main, detect_node_read_file;

#endif
