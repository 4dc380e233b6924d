# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Lines of the error log of level warn or worse, for tests that cause them. A
pattern says what happened, and not only to which app: the name of an
application would also match unrelated lines about it."""

P = r"apppool: [^ ]+\[\d+\] "  # a process
A = r"apppool: [^ ]+"  # an application
R = r"[A-Z]+ /\S*"  # a request

# ---- a process of an application

NOT_STARTED = P + r"could not be started: .*\(error id "
START_ERROR = A + r" (did|does) not start: error "
UNCONFIGURED = "apppool: .* cannot be started: it is not configured"
MODULE_MISSING = A + r": AppProtocol \w+ needs mod_proxy_\w+: add "
NOTIFY_FAILED = A + ": AppNotify failed with "
WRONG_PORT = P + r"listens on TCP ports? [\d, ]+( of [0-9a-f:.]+)?, where httpd " \
    "does not connect"
REPORT_LATE = P + "report: it took too long and was stopped"
DIED = P + r"died: signal 9 \(SIGKILL\)"
DIED_OTHERWISE = P + "(died: (signal|exit code|exit status)|ended by itself)"
NO_RESPONSE = P + "gave no response: " + R
KILLED_NO_RESPONSE = P + "was killed and gave no response: " + R
SILENT = P + "was silent for too long: " + R
UNREACHABLE = P + "cannot be connected to"
REFUSED_ALL = A + ": ten processes in a row refused the connection"
SLOW = P + r"(is hung and is killed|is killed|is slow): " + R
NO_TERM = P + "did not end in time: SIGKILL"
CHILDREN_LEFT = P + "left processes behind: SIGKILL"
SURVIVE = r"apppool: \d+ processes of apps survive SIGKILL"
CHILDREN_STAY = P + "left processes that survive SIGKILL"
UNKILLABLE = P + "survives SIGKILL"
IS_UNKILLABLE = P + "is unkillable: it survives SIGKILL"
UNKILLABLES = A + r" has unkillable processes: \d+, more than AppMaxUnkillable"
TOO_MANY_UNKILLABLE = A + " is not started: more than AppMaxUnkillable"
LOST_PLACE = P + "had lost its place in the pool"
PRINTS_TOO_MUCH = P + r"prints too much: \d+ lines dropped"
DESCRIPTOR_SENT = P + r"sent a descriptor to \$NOTIFY_SOCKET"
NO_RECORD = r"apppool: process \S+ belongs to an app, but has no record: SIGKILL"

APPLOG_SLOW = r"apppool: AppLog .* is not written fast enough: \d+ lines dropped"
APPLOG_ENDED = r"apppool: AppLog \|.*: the command ended: "
LINES_LOST = r"apppool: (AppLog .*|the ErrorLog of a virtual host): \d+ lines " \
    "dropped: "
APPLOG_STAYS = r"apppool: AppLog \|.*: the command still runs \d+ s after the " \
    "end of its input: SIGTERM"
APPLOG_UNREAD = r"apppool: AppLog \|.*: its last \d+ bytes were not read"
LOG_FULL = r"apppool: \d+ lines could not be written to this log: "
APPLOG_CLOSED = "apppool: AppLog .* cannot be opened: "

# ---- a request

QUEUE_FULL = A + r": the queue is full: as many as AppMaxQueue \d+ wait"
STILL_STARTING = A + r" is still starting after \d+ s[:;] "
QUEUE_LATE = A + ": no process was free; the request has left the queue"
DRAINED = A + " is drained: " + R + " is refused"
LONG_LIVED_FULL = A + ": " + R + r" is refused: \d+ upgraded connections and"
NO_ROOM = A + ": no place in the pool: "
TOO_LONG = A + ": (Content-Length of the response is not a number|the response " \
    "is longer than its Content-Length)"

OWN_STATUS = A + ": " + R + r" gets the status 50\d: error "

SCRIPT_OFF = r"apppool: \S+ is neither run by \S+ nor sent: \w+ "
SCRIPT_NOT_SENT = r"apppool: \S+ is a script and is not sent: its handler is "
ALL_DENIED = A + ": all requests below .* get 403, also those of the "
BAD_HTACCESS = r"\[core:alert\] .*/\.htaccess: .* not allowed here"

# ---- the helpers, where the test did not send the signal

SPAWNER_KILLED = r"apppool: spawner \d+ ended: (signal 9|exit status not known)"
STORE_KILLED = r"apppool: store \d+ ended: (signal 9|exit status not known)"
STORE_REFUSES = r"apppool: .*space \S+: a connection of user \d+ is refused"
WATCHDOG_KILLED = r"apppool: watchdog \d+ died of SIGKILL"
HELPER_HANGS = r"apppool: (spawner|watchdog) \d+ (has had no heartbeat " \
    r"for \d+ s|was told to stop and has no heartbeat): SIGKILL"
DIES_OFTEN = "apppool: spawner dies again and again: next start in "
PARENT_GONE = "apppool: httpd's parent process is gone"
UNCLEAN = "apppool: the old processes of .* did not end properly"
LOCK_FREED = r"apppool: the pool's lock named thread \d+, which does not " \
    "hold it: the lock is free again"
REPAIRED = r"apppool: the pool is damaged and is repaired: I\d+: "
DAMAGED = "apppool: the pool was damaged: all sessions are taken back, and "
FORGOTTEN = r"apppool: the pool had \d+ processes that the spawner does not " \
    "have: removed"
RECORDS_DAMAGED = r"apppool: \d+ records of .*/registry are damaged: the " \
    "processes that were in them are ended"
FEW_DESCRIPTORS = r"apppool: MaxPoolSize \d+: the spawner needs \d+ descriptors "
NONE_LEFT = r"apppool: there are no descriptors to watch \d+ processes of apps: "
NO_STATUS = "apppool: the status cannot be shown: "
CANNOT_JOIN = "apppool: this httpd child cannot join the pool"
LEFT_THERE = "apppool: .*: files that an app left could not be removed yet"

# ---- httpd does not start, or not as it should

NO_TABLE = "apppool: cannot write .*/table"
TABLE_REFUSED = "apppool: the app table .* is refused: "
NO_LOCK = "apppool: cannot open .*/lock: "
NO_RUNTIME = "apppool: cannot make the runtime directory "
OTHER_BUILD = "apppool: .* is not of the module's build: asked for --version it "
NO_POOL = A + ": there is no pool; httpd logged why when it started"
ROOT_UNUSABLE = r"apppool: AppRoot \S+ \(.*\) (cannot be used: |is not a " \
    r"directory|may not be entered by )"
CONFIGURATION_FAILED = "AH000(16|20): Configuration Failed, exiting"
PID_FILE = "AH00098: pid file .* overwritten"

# ---- a process that is gone, silent or sends nonsense, also as mod_proxy says it

CUT_OFF = P + "has closed the connection before the end of the response"
STUCK = P + "was silent for too long within its response"
HTTP_WRONG = P + "sends wrong HTTP: "
LONG_HEADER = P[:-1] + "(:| sends wrong HTTP:) the header of the response has " \
    "more than [0-9]+ bytes; its longest field is "

NO_BACKEND = CUT_OFF + "|AH01102: error reading status line from remote server|" \
    "AH00898: Error reading from remote server|" \
    "AH01114: HTTP: failed to make connection to backend|" \
    "AH02454: .* attempt to connect to Unix domain socket|" \
    "AH01110: Network error reading response|" \
    "AH10098: |AH01084: pass request body failed|AH01097: "
TIMED_OUT = STUCK + "|AH01075: Error dispatching request to|" \
    "Script timed out before returning headers|AH01106: error reading response"
ODD_RESPONSE = HTTP_WRONG + "|AH01106: .*rror reading|AH01110: .*rror reading|" \
    "bad HTTP/1.1 header returned by|Error reading headers from backend|" \
    "error reading response headers from |" \
    "End of script output before headers: |Premature end of script headers: |" \
    "malformed header from script '"

# ---- FastCGI

FCGI_WRONG = P + "sends wrong FastCGI: "
FCGI_NO_HEADER = P + "has ended the request without a header|" + P[:-1] + \
    ": the response has no header"
FCGI_REFUSED = P + "refuses the request: "
FCGI_OVERLOADED = P + "is overloaded: "
FCGI_MORE = P[:-1] + r": \d+ more lines of this request are not logged"
FCGI_PRINTED = P[:-1] + "> it is broken"
FCGI = "|".join((FCGI_WRONG, CUT_OFF, FCGI_NO_HEADER))

# ---- uwsgi

NOT_FINAL = A + ": the status of the response is 1?[0-9][0-9]"
UWSGI = P[:-1] + ": the response (does not begin with a status line|" \
    "has two Content-Length)|" + P[:-1] + \
    ": the header of the response has a zero byte"
UWSGI_LARGE = A + ": the request has more than [0-9]+ bytes of variables"
