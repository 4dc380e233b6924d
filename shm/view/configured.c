/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/view.h"

#define KEY "configured"

json_t *apl_configured_begin(json_t *report)
{
    const json_t *groups = json_object_get(report, "groups"), *g;
    json_t *used = json_object();
    size_t i;

    for (i = 0; (g = json_array_get(groups, i)) != NULL; i++) {
        const char *name = json_string_value(json_object_get(g, "name"));

        if (name)
            json_object_set(used, name, json_array_get(groups, i));
    }
    json_object_set_new(report, KEY, json_array());
    return used;
}

void apl_configured_add(json_t *report, const json_t *used,
                        const apl_configured_t *app)
{
    json_t *o = json_object(), *name = apl_report_text(app->name);
    const char *key = json_string_value(name);
    json_t *group = key ? json_object_get(used, key) : NULL;
    json_t *user = app->user ? apl_report_text(app->user) : json_null();

    json_object_set_new(o, "name", name);
    json_object_set_new(o, "label", apl_report_text(app->label));
    json_object_set_new(o, "app_root", apl_report_text(app->root));
    json_object_set(o, "user", user);
    apl_report_set_known(o, "group",
                         app->group ? apl_report_text(app->group) : NULL);
    json_object_set_new(o, "used", json_boolean(group != NULL));
    if (group)
        json_object_set(group, "tenant", user);
    json_decref(user);
    json_array_append_new(json_object_get(report, KEY), o);
}
