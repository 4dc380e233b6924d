/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/command_view.h"

#include <apr_strings.h>
#include <stdio.h>
#include <string.h>

#include "shm/recovery/check.h"
#include "shm/view/report.h"
#include "shm/view/report_store.h"
#include "shm/view/report_value.h"
#include "shm/view/snapshot.h"
#include "spawner/report/process_report.h"
#include "base/privilege.h"
#include "spawner/process/process.h"

/* ---- status ---- */

static int is_shown(const spawner_t *s, const status_job_order_t *order,
                    const json_t *group)
{
    const char *name = json_string_value(json_object_get(group, "name"));
    const app_entry_t *a = name ? app_table_find(s->table, name) : NULL;

    return a && (!order->app[0] || strcmp(order->app, name) == 0) &&
           (order->only == USERDB_NOBODY || order->only == a->uid);
}

/* Remove everything except the groups that this user may see. */
static json_t *narrowed(const spawner_t *s, const status_job_order_t *order,
                        json_t *report)
{
    json_t *groups = json_array(), *group;
    size_t i;

    json_array_foreach(json_object_get(report, "groups"), i, group)
    {
        if (is_shown(s, order, group))
            json_array_append(groups, group);
    }
    json_decref(report);
    return json_pack("{s:i, s:o}", "version", 1, "groups", groups);
}

static json_t *make_status(spawner_t *s, const status_job_order_t *order)
{
    apl_pool_t *copy;
    json_t *report;

    if (apl_snapshot_take(&copy, &s->shm, s->pool) != APR_SUCCESS)
        return command_error("the pool could not be read");
    report = apl_report_json(copy, 1);
    if (order->app[0] || order->only != USERDB_NOBODY)
        return narrowed(s, order, report);
    json_object_set_new(report, "store", apl_report_store(s->figures));
    return report;
}

json_t *command_view_status(command_t *q)
{
    const app_entry_t *a;
    json_t *refusal;

    q->user.is_root |= q->user.is_httpd; /* httpd may see what root sees */
    if (q->n > 1) {
        a = command_find_app(q, &refusal);
        if (!a)
            return refusal;
        apr_cpystrn(q->order.app, a->app.name, sizeof q->order.app);
    }
    q->order.only = q->user.is_root ? USERDB_NOBODY : q->user.uid;
    q->order.make = make_status;
    return NULL;
}

/* ---- check ---- */

static json_t *make_check(spawner_t *s, const status_job_order_t *order)
{
    apl_pool_t *copy;
    apl_finding_t finding;
    char name[16];

    (void)order;
    if (apl_snapshot_take(&copy, &s->shm, s->pool) != APR_SUCCESS)
        return command_error("the pool could not be read");
    if (apl_check(copy, &finding))
        return json_pack("{s:b}", "ok", 1);
    if (finding.number == 0)
        return command_error(finding.text);
    snprintf(name, sizeof name, "I%d", finding.number);
    return json_pack("{s:b, s:s, s:s}", "ok", 0, "invariant", name, "text",
                     finding.text);
}

json_t *command_view_check(command_t *q)
{
    q->order.make = make_check;
    return NULL;
}

/* ---- report ---- */

#define REPORT_LIMIT (2 * SECOND) /* its reader may have to wait */

static void add_line(void *lines, const char *line)
{
    json_array_append_new(lines, apl_report_text(line));
}

static json_t *make_report(spawner_t *s, const status_job_order_t *order)
{
    const process_t *p = process_find(s, order->process);
    json_t *lines = json_array();
    char name[96];
    process_report_t asked = {.name = name,
                              .only = order->only,
                              .write_line = add_line,
                              .ctx = lines};

    if (p) {
        snprintf(name, sizeof name, PROCESS_FMT, PROCESS_NAME(p));
        asked.leader = p->is.pid;
        asked.start = p->is.start;
        process_report_write(&asked);
    }
    if (json_array_size(lines) == 0) {
        json_decref(lines);
        return command_error("the process has ended");
    }
    return json_pack("{s:s, s:i, s:o}", "app", p->is.name, "pid",
                     (int)p->is.pid, "lines", lines);
}

json_t *command_view_report(command_t *q)
{
    json_t *refusal;
    const process_t *p = command_find_process(q, &refusal);

    if (!p)
        return refusal;
    if (p->is.pid <= 0)
        return command_refuse(q, "%s has no process yet", p->label);
    q->order.process = p->is.id;
    q->order.limit = REPORT_LIMIT;
    q->order.only = q->user.is_root ? USERDB_NOBODY : q->user.uid;
    q->order.make = make_report;
    return NULL;
}
