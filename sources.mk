# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# What is built from what: included by Makefile.am and by apxs.mk.
# tests/source holds these lists against the tree.

shm_sources = \
	shm/alive.c \
	shm/check.c \
	shm/checkin.c \
	shm/checkout.c \
	shm/child.c \
	shm/children.c \
	shm/clock.c \
	shm/enter.c \
	shm/error.c \
	shm/event.c \
	shm/glance.c \
	shm/group.c \
	shm/heap.c \
	shm/histogram.c \
	shm/history.c \
	shm/housekeeping.c \
	shm/hung.c \
	shm/list.c \
	shm/lock.c \
	shm/maintenance.c \
	shm/process.c \
	shm/proof.c \
	shm/queue.c \
	shm/repair.c \
	shm/report.c \
	shm/report_times.c \
	shm/resident.c \
	shm/restart.c \
	shm/retire.c \
	shm/room.c \
	shm/segment.c \
	shm/session.c \
	shm/snapshot.c \
	shm/supervise.c \
	shm/tally.c \
	shm/trail.c \
	shm/wake.c

module_sources = \
	mod_apppool/answer.c \
	mod_apppool/app.c \
	mod_apppool/await.c \
	mod_apppool/body.c \
	mod_apppool/channel.c \
	mod_apppool/clean.c \
	mod_apppool/client.c \
	mod_apppool/config.c \
	mod_apppool/denied.c \
	mod_apppool/dial.c \
	mod_apppool/directives.c \
	mod_apppool/drain.c \
	mod_apppool/errorpage.c \
	mod_apppool/exec.c \
	mod_apppool/farewell.c \
	mod_apppool/forward.c \
	mod_apppool/handler.c \
	mod_apppool/helper.c \
	mod_apppool/instance.c \
	mod_apppool/label.c \
	mod_apppool/lasting.c \
	mod_apppool/legacy.c \
	mod_apppool/lifecycle.c \
	mod_apppool/mod_apppool.c \
	mod_apppool/outlet.c \
	mod_apppool/owner.c \
	mod_apppool/path.c \
	mod_apppool/program.c \
	mod_apppool/proxy_api.c \
	mod_apppool/reply.c \
	mod_apppool/rlimits.c \
	mod_apppool/route.c \
	mod_apppool/runtime.c \
	mod_apppool/said.c \
	mod_apppool/same.c \
	mod_apppool/script.c \
	mod_apppool/sendfile.c \
	mod_apppool/stale.c \
	mod_apppool/status.c \
	mod_apppool/status_action.c \
	mod_apppool/status_assets.c \
	mod_apppool/status_chart.c \
	mod_apppool/status_group.c \
	mod_apppool/status_metrics.c \
	mod_apppool/status_page.c \
	mod_apppool/status_text.c \
	mod_apppool/status_token.c \
	mod_apppool/store.c \
	mod_apppool/table.c \
	mod_apppool/tap.c \
	mod_apppool/trace.c \
	mod_apppool/unsaid.c \
	mod_apppool/vain.c \
	mod_apppool/value.c \
	mod_apppool/visit.c \
	mod_apppool/watch.c \
	mod_apppool/whole.c \
	mod_apppool/whose.c \
	mod_apppool/words.c \
	mod_apppool/workers.c \
	spawner/beat.c \
	spawner/detect.c \
	spawner/lastwords.c \
	spawner/userdb.c \
	spawner/variable.c

# The watchdog knows no APR and no pool: libc only.
watchdog_sources = \
	spawner/beat.c \
	spawner/beneath.c \
	spawner/cause.c \
	spawner/cgroup.c \
	spawner/fresh.c \
	spawner/lastwords.c \
	spawner/log.c \
	spawner/marks.c \
	spawner/procfs.c \
	spawner/reap.c \
	spawner/remove.c \
	spawner/settle.c \
	spawner/sweep.c \
	spawner/throttle.c \
	spawner/vacate.c \
	spawner/ward.c \
	spawner/watchdog.c

spawner_main = \
	spawner/main.c

spawner_sources = \
	spawner/abandoned.c \
	spawner/adopt.c \
	spawner/alert.c \
	spawner/answer.c \
	spawner/applog.c \
	spawner/apply.c \
	spawner/approot.c \
	spawner/audit.c \
	spawner/beneath.c \
	spawner/beat.c \
	spawner/boot.c \
	spawner/cause.c \
	spawner/census.c \
	spawner/cgroup.c \
	spawner/children.c \
	spawner/control.c \
	spawner/descriptors.c \
	spawner/detect.c \
	spawner/diag.c \
	spawner/envfile.c \
	spawner/environment.c \
	spawner/errand.c \
	spawner/failure.c \
	spawner/fresh.c \
	spawner/guard.c \
	spawner/hunt.c \
	spawner/instance.c \
	spawner/launch.c \
	spawner/life.c \
	spawner/limits.c \
	spawner/litter.c \
	spawner/log.c \
	spawner/look.c \
	spawner/loop.c \
	spawner/marks.c \
	spawner/memory.c \
	spawner/notify.c \
	spawner/obey.c \
	spawner/openas.c \
	spawner/output.c \
	spawner/overdue.c \
	spawner/piped.c \
	spawner/privilege.c \
	spawner/process.c \
	spawner/procfs.c \
	spawner/question.c \
	spawner/reader.c \
	spawner/ready.c \
	spawner/reap.c \
	spawner/recent.c \
	spawner/registry.c \
	spawner/remove.c \
	spawner/rights.c \
	spawner/runtime.c \
	spawner/say.c \
	spawner/settle.c \
	spawner/slow.c \
	spawner/sockfile.c \
	spawner/spawner.c \
	spawner/stay.c \
	spawner/stray.c \
	spawner/stuck.c \
	spawner/sweep.c \
	spawner/syscalls.c \
	spawner/table.c \
	spawner/tell.c \
	spawner/tosyslog.c \
	spawner/userdb.c \
	spawner/usersock.c \
	spawner/vacate.c \
	spawner/variable.c \
	spawner/verbs.c \
	spawner/verbs_app.c \
	spawner/verbs_look.c \
	spawner/verbs_process.c \
	spawner/warmup.c \
	spawner/writer.c

ctl_sources = \
	ctl/apppoolctl.c \
	ctl/ask.c \
	ctl/await.c \
	ctl/detect.c \
	ctl/events.c \
	ctl/logs.c \
	ctl/show.c \
	ctl/table.c \
	ctl/terminal.c \
	ctl/top.c

# What apppoolctl shares with the spawner.
detect_sources = \
	spawner/detect.c \
	spawner/privilege.c \
	spawner/userdb.c

# One program a file; the others are what they share.
scene_sources = \
	tests/unit/support/breaks.c \
	tests/unit/support/callers.c \
	tests/unit/support/family.c \
	tests/unit/support/ledger.c \
	tests/unit/support/marked.c \
	tests/unit/support/memory.c \
	tests/unit/support/model.c \
	tests/unit/support/model_clock.c \
	tests/unit/support/model_repair.c \
	tests/unit/support/model_room.c \
	tests/unit/support/model_spawner.c \
	tests/unit/support/model_turns.c \
	tests/unit/support/model_victim.c \
	tests/unit/support/play.c \
	tests/unit/support/same.c \
	tests/unit/support/scene.c \
	tests/unit/support/sleeps.c \
	tests/unit/support/steps.c \
	tests/unit/support/steps_clock.c \
	tests/unit/support/steps_death.c \
	tests/unit/support/steps_spawner.c \
	tests/unit/support/touch.c

# With a spawner, not only with a scripted one.
scratch_sources = \
	tests/unit/support/forks.c \
	tests/unit/support/scratch.c

bench_sources = \
	tests/bench/pool.c \
	tests/bench/yard.c

bench_programs = \
	tests/bench/checkout \
	tests/bench/contend \
	tests/bench/held \
	tests/bench/scale \
	tests/bench/steps

crash_sources = \
	tests/crash/images.c \
	tests/crash/scenes.c \
	tests/crash/stage.c \
	tests/crash/stepper.c \
	tests/crash/stranger.c

holder_sources = \
	tests/crash/holder.c

# Apps of tests/integration, which compiles them as their users would.
web_sources = \
	tests/integration/apps/quiet.c \
	tests/integration/apps/web/fcgi.c \
	tests/integration/apps/web/static.c

fuzz_sources = \
	tests/fuzz/play.c \
	tests/fuzz/state.c \
	tests/fuzz/verbs.c

fuzz_seeds = \
	tests/fuzz/image

fuzz_programs = \
	tests/fuzz/app \
	tests/fuzz/control \
	tests/fuzz/pool \
	tests/fuzz/segment \
	tests/fuzz/table

unit_tests = \
	tests/unit/abandoned \
	tests/unit/above \
	tests/unit/alert \
	tests/unit/alive \
	tests/unit/answer \
	tests/unit/approot \
	tests/unit/audit \
	tests/unit/bells \
	tests/unit/census \
	tests/unit/channel \
	tests/unit/checkout \
	tests/unit/credit \
	tests/unit/crossfire \
	tests/unit/damage \
	tests/unit/detect \
	tests/unit/door \
	tests/unit/drained \
	tests/unit/envfile \
	tests/unit/errand \
	tests/unit/extra \
	tests/unit/farewell \
	tests/unit/found \
	tests/unit/glance \
	tests/unit/guard \
	tests/unit/histogram \
	tests/unit/history \
	tests/unit/hostile \
	tests/unit/hung \
	tests/unit/lasting \
	tests/unit/launch \
	tests/unit/hunt \
	tests/unit/inside \
	tests/unit/invariants \
	tests/unit/judge \
	tests/unit/killed \
	tests/unit/limits \
	tests/unit/list \
	tests/unit/lists \
	tests/unit/lock \
	tests/unit/log \
	tests/unit/look \
	tests/unit/looks \
	tests/unit/made \
	tests/unit/marks \
	tests/unit/obey \
	tests/unit/order \
	tests/unit/orphan \
	tests/unit/owner \
	tests/unit/past \
	tests/unit/reap \
	tests/unit/recent \
	tests/unit/registry \
	tests/unit/privilege \
	tests/unit/remove \
	tests/unit/removed \
	tests/unit/repair \
	tests/unit/reports \
	tests/unit/restart \
	tests/unit/rights \
	tests/unit/roll \
	tests/unit/rolling \
	tests/unit/scenarios \
	tests/unit/scenarios_restart \
	tests/unit/segment \
	tests/unit/share \
	tests/unit/slots \
	tests/unit/snapshot \
	tests/unit/spent \
	tests/unit/started \
	tests/unit/starting \
	tests/unit/states \
	tests/unit/storm \
	tests/unit/table \
	tests/unit/tell \
	tests/unit/token \
	tests/unit/turns \
	tests/unit/undone \
	tests/unit/wait \
	tests/unit/walk \
	tests/unit/ward \
	tests/unit/warmup \
	tests/unit/writer

# Those of them that have threads: ThreadSanitizer looks at them, too. Not at
# unit/hostile, whose thread is one that writes where it must not.
threaded_tests = \
	tests/unit/bells \
	tests/unit/channel \
	tests/unit/glance \
	tests/unit/lock \
	tests/unit/scenarios \
	tests/unit/scenarios_restart \
	tests/unit/snapshot \
	tests/unit/wait
