/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/value.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <errno.h>
#include <http_core.h>
#include <signal.h>
#include <string.h>

#include "mod_apppool/config/config_origin.h"
#include "mod_apppool/config/text_check.h"

const char *apppool_value_check(cmd_parms *cmd, void *dir_,
                                const apppool_setting_t *v, const char *arg)
{
    apppool_dir_t *dir = dir_;
    const char *wrong = ap_check_cmd_context(
        cmd, v->scope == APPPOOL_SCOPE_SERVER
                 ? GLOBAL_ONLY
                 : NOT_IN_HTACCESS | NOT_IN_LIMIT | NOT_IN_FILES);

    if (wrong)
        return wrong;
    if (!apppool_text_check_is_text(arg))
        return apr_psprintf(cmd->pool,
                            "%s: the value has to be UTF-8 without control "
                            "characters",
                            cmd->cmd->name);
    if (v->scope != APPPOOL_SCOPE_SERVER)
        apppool_config_origin_note(cmd, &dir->origins);
    if (v->scope >= APPPOOL_SCOPE_GROUP && cmd->path && !dir->misplaced) {
        dir->misplaced = cmd->cmd->name;
        dir->misplaced_place = apppool_config_origin_place(cmd);
        APR_ARRAY_PUSH(apppool_config()->sections, apppool_dir_t *) = dir;
    }
    return NULL;
}

static void *field_of(cmd_parms *cmd, void *dir, const apppool_setting_t *v)
{
    char *base =
        v->scope == APPPOOL_SCOPE_SERVER
            ? ap_get_module_config(cmd->server->module_config, &apppool_module)
            : dir;

    return base + v->at;
}

/* ---- kinds of values ---- */

static const char *parse_number(cmd_parms *cmd, const apppool_setting_t *v,
                                const char *arg, apr_int64_t *to)
{
    char *end;
    apr_int64_t n;

    errno = 0;
    n = apr_strtoi64(arg, &end, 10);
    if (errno || end == arg || *end || n < v->least || n > v->most)
        return apr_psprintf(cmd->pool,
                            "%s: \"%s\" is not a number from %" APR_INT64_T_FMT
                            " to %" APR_INT64_T_FMT "%s%s%s",
                            cmd->cmd->name, arg, v->least, v->most,
                            v->zero ? " (0 means " : "", v->zero ? v->zero : "",
                            v->zero ? ")" : "");
    *to = n;
    return NULL;
}

const char *apppool_value_number(cmd_parms *cmd, void *dir, const char *arg)
{
    const apppool_setting_t *v = cmd->info;
    const char *wrong = apppool_value_check(cmd, dir, v, arg);

    return wrong ? wrong : parse_number(cmd, v, arg, field_of(cmd, dir, v));
}

const char *apppool_value_numbers(cmd_parms *cmd, void *dir, const char *arg,
                                  const char *more)
{
    const apppool_setting_t *v = cmd->info;
    const char *wrong = apppool_value_number(cmd, dir, arg);

    if (wrong || !more)
        return wrong;
    v++;
    wrong = apppool_value_check(cmd, dir, v, more);
    return wrong ? wrong : parse_number(cmd, v, more, field_of(cmd, dir, v));
}

const char *apppool_value_time(cmd_parms *cmd, void *dir, const char *arg)
{
    const apppool_setting_t *v = cmd->info;
    const char *wrong = apppool_value_check(cmd, dir, v, arg);
    apr_interval_time_t t = 0;

    if (wrong)
        return wrong;
    errno = 0;
    if (!apppool_text_check_time(arg) ||
        ap_timeout_parameter_parse(arg, &t, "s") != APR_SUCCESS ||
        t > v->most * APR_USEC_PER_SEC || (t == 0 && !v->zero))
        return apr_psprintf(
            cmd->pool,
            "%s: \"%s\" is not a time from %s to %" APR_INT64_T_FMT
            "s (a number of seconds, or with a unit: ms, s, min, h%s%s)",
            cmd->cmd->name, arg, v->zero ? "0" : "1ms", v->most,
            v->zero ? "; 0 means " : "", v->zero ? v->zero : "");
    *(apr_int64_t *)field_of(cmd, dir, v) = t;
    return NULL;
}

const char *apppool_value_switch(cmd_parms *cmd, void *dir, const char *arg)
{
    const apppool_setting_t *v = cmd->info;
    const char *wrong = apppool_value_check(cmd, dir, v, arg);
    int on = !ap_cstr_casecmp(arg, "On");

    if (wrong)
        return wrong;
    if (!on && ap_cstr_casecmp(arg, "Off"))
        return apr_psprintf(cmd->pool, "%s: \"%s\" is neither On nor Off",
                            cmd->cmd->name, arg);
    *(apr_int64_t *)field_of(cmd, dir, v) = on;
    return NULL;
}

const char *apppool_value_word(cmd_parms *cmd, void *dir, const char *arg)
{
    const apppool_setting_t *v = cmd->info;
    const char *wrong = apppool_value_check(cmd, dir, v, arg);
    char *word, *state, *words = apr_pstrdup(cmd->pool, v->zero);
    apr_int64_t n = 0;

    if (wrong)
        return wrong;
    for (word = apr_strtok(words, " ", &state); word;
         word = apr_strtok(NULL, " ", &state), n++)
        if (!ap_cstr_casecmp(arg, word)) {
            *(apr_int64_t *)field_of(cmd, dir, v) = n;
            return NULL;
        }
    return apr_psprintf(cmd->pool, "%s: \"%s\" is not one of these: %s",
                        cmd->cmd->name, arg, v->zero);
}

const char *apppool_value_text(cmd_parms *cmd, void *dir, const char *arg)
{
    const apppool_setting_t *v = cmd->info;
    const char *wrong = apppool_value_check(cmd, dir, v, arg);
    apr_int64_t n = (apr_int64_t)strlen(arg);

    if (wrong)
        return wrong;
    if (n < v->least || n > v->most)
        return apr_psprintf(cmd->pool,
                            "%s: \"%s\" is %s; allowed are %" APR_INT64_T_FMT
                            " to %" APR_INT64_T_FMT " bytes",
                            cmd->cmd->name, arg, n ? "too long" : "empty",
                            v->least, v->most);
    *(const char **)field_of(cmd, dir, v) = arg;
    return NULL;
}

const char *apppool_value_path(cmd_parms *cmd, void *dir, const char *arg)
{
    const apppool_setting_t *v = cmd->info;
    const char *wrong = apppool_value_check(cmd, dir, v, arg), *path = NULL;

    if (wrong)
        return wrong;
    if (*arg && *arg != '|')
        path = ap_server_root_relative(cmd->pool, arg);
    if (!path)
        return apr_psprintf(cmd->pool, "%s: \"%s\" is not a path",
                            cmd->cmd->name, arg);
    if (!apppool_text_check_is_text(path))
        return apr_psprintf(cmd->pool,
                            "%s: the path of ServerRoot has to be UTF-8 "
                            "without control characters",
                            cmd->cmd->name);
    *(const char **)field_of(cmd, dir, v) = path;
    return NULL;
}

int apppool_value_parse_size(const char *arg, apr_int64_t max, apr_int64_t *n)
{
    static const char units[] = "KMG";
    const char *unit;
    int shift = 0;
    char *end;

    errno = 0;
    *n = apr_strtoi64(arg, &end, 10);
    unit = *end ? strchr(units, apr_toupper(*end)) : NULL;
    if (unit && !end[1]) {
        shift = 10 * (int)(unit - units + 1);
        end++;
    }
    if (errno || !apr_isdigit(*arg) || *end || *n > max >> shift)
        return 0;
    *n <<= shift;
    return 1;
}

const char *apppool_value_write_size(apr_pool_t *p, apr_int64_t n)
{
    static const char *const units[] = {"", "K", "M", "G"};
    int i = 0;

    for (; n != 0 && n % 1024 == 0 && i < 3; i++)
        n /= 1024;
    return apr_psprintf(p, "%" APR_INT64_T_FMT "%s", n, units[i]);
}

const char *apppool_value_size(cmd_parms *cmd, void *dir, const char *arg)
{
    const apppool_setting_t *v = cmd->info;
    const char *wrong = apppool_value_check(cmd, dir, v, arg);
    apr_int64_t n;

    if (wrong)
        return wrong;
    if (!apppool_value_parse_size(arg, v->most, &n) || n < v->least ||
        (n == 0 && !v->zero))
        return apr_psprintf(
            cmd->pool,
            "%s: \"%s\" is not a size %s to %s (a number of bytes, or with a "
            "unit: K, M, G%s%s)",
            cmd->cmd->name, arg,
            v->least ? apr_pstrcat(
                           cmd->pool, "from ",
                           apppool_value_write_size(cmd->pool, v->least), NULL)
                     : "of up",
            apppool_value_write_size(cmd->pool, v->most),
            v->zero ? "; 0 means " : "", v->zero ? v->zero : "");
    *(apr_int64_t *)field_of(cmd, dir, v) = n;
    return NULL;
}

/* @return 0: no signal has this name or number */
static int find_signal(const char *arg)
{
    apr_int64_t n;
    char *end;
    int i;

    if (apr_isdigit(*arg)) {
        errno = 0;
        n = apr_strtoi64(arg, &end, 10);
        return !errno && !*end && n <= SIGRTMAX && (n < 32 || n >= SIGRTMIN)
                   ? (int)n
                   : 0;
    }
    if (!ap_cstr_casecmpn(arg, "SIG", 3))
        arg += 3;
    for (i = 1; i < 32; i++) {
        const char *name = sigabbrev_np(i);

        if (name && !ap_cstr_casecmp(arg, name))
            return i;
    }
    return 0;
}

const char *apppool_value_signal(cmd_parms *cmd, void *dir, const char *arg)
{
    const apppool_setting_t *v = cmd->info;
    const char *wrong = apppool_value_check(cmd, dir, v, arg);
    int n = 0, none = v->least == 0 && !ap_cstr_casecmp(arg, "none");

    if (wrong)
        return wrong;
    if (!none)
        n = find_signal(arg);
    if (!none && (n == 0 || n == SIGKILL || n == SIGSTOP))
        return apr_psprintf(cmd->pool,
                            "%s: \"%s\" is not a signal that a process can "
                            "handle: a name such as USR2 or SIGQUIT, or a "
                            "number from 1 to %d%s",
                            cmd->cmd->name, arg, SIGRTMAX,
                            v->least == 0 ? "; or none" : "");
    *(apr_int64_t *)field_of(cmd, dir, v) = n;
    return NULL;
}
