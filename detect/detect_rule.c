/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_rule.h"

#include <string.h>

int detect_rule_fits(const detect_rule_t *rule, const detect_config_t *config)
{
    return rule->protocol == APL_AUTO || config->protocol == APL_AUTO ||
           rule->protocol == config->protocol;
}

int detect_rule_is_aside(const char *file)
{
    static const char *const places[] = {
        "tests",        "test",   "docs", "examples", "migrations",
        "node_modules", "vendor", "venv", "env",      "scripts",
        "tools",        "bin",    "tmp",  NULL};
    size_t i, n = strcspn(file, "/");

    for (i = 0; places[i] && file[n]; i++)
        if (strlen(places[i]) == n && memcmp(file, places[i], n) == 0)
            return 1;
    return !file[n] &&
           (strncmp(file, "test_", 5) == 0 ||
            strcmp(file, "conftest.py") == 0 || strcmp(file, "setup.py") == 0);
}

int detect_rule_holds(const detect_rule_t *rule, int dir, const char *file,
                      char why[DETECT_WHY])
{
    *why = 0;
    return strlen(file) < sizeof((detect_found_t *)NULL)->file &&
           (!rule->beside || detect_text_exists(dir, rule->beside)) &&
           (!rule->content || detect_text_has(dir, file, rule->content)) &&
           (!rule->test || rule->test(dir, file, why));
}

size_t detect_rule_files(const detect_rule_t *rule, int dir,
                         char (*files)[DETECT_PATH_MAX], size_t *n,
                         char why[DETECT_WHY])
{
    size_t i, all = detect_text_list(dir, rule->file, files, DETECT_RULE_FILES);
    char clause[DETECT_WHY];

    *n = 0;
    *why = 0;
    for (i = 0; i < all && i < DETECT_RULE_FILES; i++) {
        if (rule->is_single && strchr(rule->file, '*') &&
            detect_rule_is_aside(files[i]))
            continue;
        if (detect_rule_holds(rule, dir, files[i], clause))
            memmove(files[(*n)++], files[i], DETECT_PATH_MAX);
        else if (*clause)
            memcpy(why, clause, DETECT_WHY);
    }
    return all;
}
