/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_explain.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/detect_advice.h"
#include "detect/detect_rule.h"

/* ---- candidates ---- */

static void list(detect_found_t *found, const char *file, int won,
                 const char *why)
{
    detect_candidate_t *one = found->candidates;
    detect_candidate_t *end = one + found->n_candidates;

    while (one < end && strncmp(one->file, file, sizeof one->file - 1) != 0)
        one++;
    if (one < end && !won)
        return; /* an earlier rule has said it */
    if (one == found->candidates + DETECT_CANDIDATES) {
        if (!won)
            return;
        one--; /* one that has lost makes room */
    }
    else
        found->n_candidates += one == end;
    snprintf(one->file, sizeof one->file, "%s", file);
    snprintf(one->why, sizeof one->why, "%s", why);
    one->won = won;
}

/* Why does a file not decide, of which the rule is, or is not, true?
 * @param winner a file of an earlier rule; "": none has won yet */
static void list_loser(const detect_rule_t *rule, detect_found_t *found,
                       const char *winner, const detect_config_t *config)
{
    char(*files)[DETECT_PATH_MAX] = malloc(DETECT_RULE_FILES * sizeof *files);
    char clause[DETECT_WHY], why[sizeof found->candidates->why];
    size_t i, n = files ? detect_text_list(AT_FDCWD, rule->file, files,
                                           DETECT_RULE_FILES)
                        : 0;

    for (i = 0; i < n && i < DETECT_RULE_FILES; i++) {
        int is_true = detect_rule_holds(rule, AT_FDCWD, files[i], clause);

        if (!is_true && !rule->lacks && !*clause)
            continue;
        if (rule->read)
            detect_text_is_closed(AT_FDCWD, files[i], clause);
        snprintf(why, sizeof why, "%s",
                 *clause    ? clause
                 : !is_true ? rule->lacks
                 : !detect_rule_fits(rule, config)
                     ? "is for another AppProtocol"
                 : rule->is_single && n > 1 ? "is not the only file of its kind"
                 : *winner                  ? ""
                 : rule->lacks              ? rule->lacks
                                            : "gives no command");
        if (!*why)
            snprintf(why, sizeof why, "%.60s comes first", winner);
        list(found, files[i], 0, why);
    }
    free(files);
}

/* Why it won, behind the name of its file. */
static const char *without_name(const detect_found_t *found)
{
    size_t n = strlen(found->file);

    return strncmp(found->why, found->file, n) == 0 && found->why[n] == ' '
               ? found->why + n + 1
               : found->why;
}

void detect_explain_all(detect_found_t *found, const detect_config_t *config,
                        const detect_rule_t *winner)
{
    const detect_rule_t *rule;
    const char *first = "";

    for (rule = detect_rules; rule->file; rule++)
        if (rule == winner) {
            first = found->file;
            list(found, first, 1, without_name(found));
        }
        else
            list_loser(rule, found, first, config);
}

/* ---- there is no command ---- */

/* The first file of a rule, and why it gives no command. "": there is none */
static void useless(const detect_rule_t *rule, char file[DETECT_PATH_MAX],
                    char why[DETECT_WHY])
{
    char(*files)[DETECT_PATH_MAX] = malloc(DETECT_RULE_FILES * sizeof *files);
    size_t n = 0;

    *why = *file = 0;
    if (files &&
        detect_text_list(AT_FDCWD, rule->file, files, DETECT_RULE_FILES) > 0) {
        snprintf(file, DETECT_PATH_MAX, "%s", files[0]);
        detect_rule_files(rule, AT_FDCWD, files, &n, why);
        if (rule->read)
            detect_text_is_closed(AT_FDCWD, file, why);
        if (!*why && rule->lacks)
            snprintf(why, DETECT_WHY, "%s", rule->lacks);
        if (rule->is_single && n > 1)
            snprintf(
                why, DETECT_WHY,
                "and %.60s both have an application: AppCommand has to name "
                "one",
                files[1]);
        else if (strchr(rule->file, '*') && detect_rule_is_aside(file))
            *why = 0;
    }
    free(files);
}

/* Files that are there, and give no command. */
static size_t explain_useless(detect_found_t *found,
                              const detect_config_t *config)
{
    const detect_rule_t *rule;
    char file[DETECT_PATH_MAX], why[DETECT_WHY], part[DETECT_WHY + 70];
    size_t n = 0;

    found->why[0] = 0;
    for (rule = detect_rules; rule->file; rule++) {
        if (!detect_rule_fits(rule, config))
            continue;
        useless(rule, file, why);
        snprintf(part, sizeof part, "%.60s ", file);
        if (*why && n + sizeof part < DETECT_MAX / 2 &&
            !strstr(found->why, part))
            n += (size_t)snprintf(found->why + n, DETECT_MAX - n, "%s%s; ",
                                  part, why);
    }
    return n;
}

void detect_explain_none(detect_found_t *found, const detect_config_t *config,
                         const char *other)
{
    const char *between = "none of these files exists: ";
    const detect_rule_t *rule;
    size_t n = explain_useless(found, config);

    for (rule = detect_rules; rule->file; rule++)
        if (detect_rule_fits(rule, config) && rule->is_usual &&
            detect_text_list(AT_FDCWD, rule->file, NULL, 0) == 0) {
            n += (size_t)snprintf(found->why + n, DETECT_MAX - n, "%s%s",
                                  between, rule->file);
            between = ", ";
        }
    if (n > 1 && found->why[n - 2] == ';')
        found->why[n -= 2] = 0; /* all of them are there */
    if (*other)
        snprintf(found->why + n, DETECT_MAX - n,
                 "; %.60s is for another "
                 "AppProtocol",
                 other);
    else
        detect_advice_add(found);
    found->command[0] = found->file[0] = 0;
}
