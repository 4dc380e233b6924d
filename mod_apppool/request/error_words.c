/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/error_words.h"

#include <httpd.h>

#define LATER "Wait a minute, and then load the page again."
#define NOT_DONE                                                               \
    "Nothing was done with what you may have sent, so you can send it again."
#define LOOK                                                                   \
    "If you have sent something, such as an order, look whether it has "       \
    "arrived before you send it again."
#define SEARCH "Search the error log of httpd for the number of the error."

static const apppool_error_words_t words[] = {
    [APPPOOL_ERROR_START_FAILED] =
        {"This site does not work at the moment",
         "It could not be started. You have done nothing wrong, and can do "
         "nothing about it. Try again in some minutes.",
         SEARCH},
    [APPPOOL_ERROR_STARTING] =
        {"This site is still starting",
         "It will be there soon. Wait a moment, and then load the page "
         "again. " NOT_DONE,
         "The start began a moment ago. A request waits for it as long as "
         "AppQueueTimeout says."},
    [APPPOOL_ERROR_QUEUE_FULL] =
        {"Too many visitors at the moment",
         "Very many people want something from this site, and there is no "
         "place left to wait for it. " LATER " " NOT_DONE,
         "More requests wait than AppMaxQueue allows. If the processes are "
         "busy with work that has to be done, raise MaxInstances and "
         "MaxPoolSize. If they wait for something, such as a database, find "
         "that: apppoolctl status shows the oldest requests, and apppoolctl "
         "report shows what a process is doing."},
    [APPPOOL_ERROR_QUEUE_TIMEOUT] =
        {"This site is very busy",
         "Your turn did not come in time. " LATER " " NOT_DONE,
         "The request has waited as long as AppQueueTimeout says. apppoolctl "
         "status shows the oldest requests, and apppoolctl report shows what a "
         "process is doing. If the processes are busy with work that has to be "
         "done, raise MaxInstances and MaxPoolSize."},
    [APPPOOL_ERROR_DRAINED] =
        {"This site is closed for a while",
         "Somebody works on it. Come back later. " NOT_DONE,
         "Somebody has taken it out of service. apppoolctl restart brings it "
         "back."},
    [APPPOOL_ERROR_STOPPING] = {"The server is being restarted",
                                "Load the page again. " LOOK,
                                "Nothing has to be done."},
    [APPPOOL_ERROR_NO_PROCESS] =
        {"This site does not work at the moment",
         "It cannot be reached. You have done nothing wrong. " LATER
         " " NOT_DONE,
         SEARCH},
    [APPPOOL_ERROR_NO_RESPONSE] =
        {"This page could not be made",
         "Something went wrong while the site worked on it. Load the page "
         "again. " LOOK,
         "The process has died, or has closed the connection, or what it has "
         "sent is no response. " SEARCH " The lines before it say more, and so "
         "does apppoolctl logs."},
    [APPPOOL_ERROR_TIMEOUT] =
        {"This takes too long",
         "The site has not answered in time. " LATER " " LOOK,
         "The limits are AppTimeout and AppKillAfter. " SEARCH},
    [APPPOOL_ERROR_LONG_LIVED] =
        {"Too many visitors at the moment",
         "Very many people are connected to this site, and there is no place "
         "left. " LATER,
         "More WebSockets and event streams are open than AppMaxLongLived "
         "allows."},
    [APPPOOL_ERROR_TOO_LARGE] =
        {"What you have sent is too large",
         "This site does not take so much at a time, and has taken nothing of "
         "it. Send less, or a smaller file.",
         "The limit is LimitRequestBody."},
    [APPPOOL_ERROR_NO_ROOM] =
        {"What you have sent could not be stored",
         "The server has no room for it at the moment, and has taken nothing "
         "of it. Try again in some minutes, or send less.",
         "The disk with the directory for request bodies is full, or cannot "
         "be written. " SEARCH},
    [APPPOOL_ERROR_REQUEST] =
        {"The server has not understood what was sent",
         "It has not arrived as a whole, or in another form than expected. "
         "Load the page again, and send it once more.",
         "The request of the client was not complete, or has a form that "
         "httpd or the protocol of the application cannot pass on. " SEARCH},
    [APPPOOL_ERROR_OTHER] = {"This site does not work at the moment",
                             "You have done nothing wrong. " LATER " " LOOK,
                             SEARCH},
};

const apppool_error_words_t *apppool_error_words(apppool_error_kind_t kind)
{
    return &words[kind];
}

int apppool_error_words_kind(int status)
{
    switch (status) {
    case HTTP_BAD_REQUEST:
    case HTTP_REQUEST_TIME_OUT:
    case HTTP_LENGTH_REQUIRED:
    case HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE:
    case HTTP_NOT_IMPLEMENTED:
        return APPPOOL_ERROR_REQUEST;
    case HTTP_REQUEST_ENTITY_TOO_LARGE:
        return APPPOOL_ERROR_TOO_LARGE;
    case HTTP_INSUFFICIENT_STORAGE:
        return APPPOOL_ERROR_NO_ROOM;
    case HTTP_BAD_GATEWAY:
        return APPPOOL_ERROR_NO_RESPONSE;
    case HTTP_GATEWAY_TIME_OUT:
        return APPPOOL_ERROR_TIMEOUT;
    case HTTP_INTERNAL_SERVER_ERROR:
    case HTTP_SERVICE_UNAVAILABLE:
        return APPPOOL_ERROR_OTHER;
    default:
        return -1;
    }
}
