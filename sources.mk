# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# What is built from what: included by Makefile.am and by apxs.mk.
# tests/source holds these lists against the tree.

shm_sources = \
	shm/lock/alive.c \
	shm/recovery/check.c \
	shm/verbs/checkin.c \
	shm/verbs/checkout.c \
	shm/verbs/child.c \
	shm/verbs/configure.c \
	shm/verbs/timeouts.c \
	shm/verbs/enter.c \
	shm/format/error.c \
	shm/slots/event.c \
	shm/slots/connection_room.c \
	shm/slots/connection_state.c \
	shm/slots/group.c \
	shm/format/heap.c \
	shm/format/histogram.c \
	shm/format/timing.c \
	shm/verbs/health.c \
	shm/verbs/history.c \
	shm/verbs/housekeeping.c \
	shm/verbs/app_stderr.c \
	shm/slots/hung.c \
	shm/slots/numbers.c \
	shm/format/list.c \
	shm/lock/lock.c \
	shm/verbs/admin.c \
	shm/slots/process.c \
	shm/slots/queue.c \
	shm/recovery/repair.c \
	shm/view/configured.c \
	shm/view/problems.c \
	shm/view/events_folded.c \
	shm/view/report.c \
	shm/view/report_numbers.c \
	shm/view/report_sentence.c \
	shm/view/report_spark.c \
	shm/view/report_store.c \
	shm/view/report_value.c \
	shm/view/memory_use.c \
	shm/policy/backoff.c \
	shm/policy/restart.c \
	shm/policy/retire.c \
	shm/policy/capacity.c \
	shm/format/segment.c \
	shm/slots/session.c \
	shm/view/snapshot.c \
	shm/verbs/reconcile.c \
	shm/verbs/response.c \
	shm/verbs/step.c \
	shm/verbs/supervise.c \
	shm/verbs/group_start.c \
	shm/verbs/wait_facts.c \
	shm/recovery/tally.c \
	shm/lock/wake.c

# Of apppool-store: libc, pthread, and SipHash of APR-util.
store_memory_sources = \
	store/clock.c \
	store/memory/changes.c \
	store/memory/chunk.c \
	store/memory/evict.c \
	store/memory/item.c \
	store/memory/region.c \
	store/memory/space.c \
	store/memory/sweeper.c \
	store/memory/table.c

# The verbs and the protocols: no socket but that of a reply, no thread.
store_protocol_sources = \
	store/protocol/binary.c \
	store/protocol/delta.c \
	store/protocol/dialogue.c \
	store/protocol/dialogue_state.c \
	store/protocol/dump.c \
	store/protocol/login.c \
	store/protocol/meta.c \
	store/protocol/meta_flags.c \
	store/protocol/reply.c \
	store/protocol/stats.c \
	store/protocol/text.c \
	store/protocol/token.c \
	store/protocol/verbs.c

# Its main() has a file of its own, as the spawner's.
store_main = \
	store/server/store_main.c

# The hosts of a cluster, and lines for the log.
store_cluster_sources = \
	store/cluster/apply.c \
	store/cluster/peers.c \
	store/cluster/store_claim.c \
	store/cluster/confirm.c \
	store/cluster/epoch.c \
	store/cluster/follower.c \
	store/cluster/follower_state.c \
	store/cluster/hello.c \
	store/cluster/limit.c \
	store/cluster/history.c \
	store/cluster/mark.c \
	store/cluster/old_copy.c \
	store/cluster/role.c \
	store/cluster/vip.c \
	store/cluster/cluster.c \
	store/cluster/feeder.c \
	store/cluster/master.c \
	store/cluster/slave_link.c \
	store/cluster/backoff.c \
	store/cluster/promotion.c \
	store/cluster/rivals.c \
	store/cluster/relay.c \
	store/cluster/relay_master.c \
	store/cluster/relay_packet.c \
	store/cluster/sender.c \
	store/cluster/stream.c \
	store/cluster/lru_touches.c \
	store/cluster/wire.c \
	store/event_thread.c \
	store/note.c \
	base/secret.c \
	store/thread.c

store_server_sources = \
	store/server/accept.c \
	store/server/cluster_host.c \
	store/server/admin_socket.c \
	store/server/store_config.c \
	base/json_reader.c \
	store/server/store_connection.c \
	store/server/waiting_clients.c \
	store/server/handover.c \
	store/server/save.c \
	store/server/store_listener.c \
	store/server/main_loop.c \
	store/server/mailbox.c \
	store/server/password.c \
	store/server/record.c \
	store/server/saver.c \
	store/server/spaces.c \
	store/server/server.c \
	store/server/snapshot.c \
	store/server/snapshot_load.c \
	store/server/stop_signal.c \
	store/server/sweeper_thread.c \
	store/server/takeover.c \
	store/server/tcp_listener.c \
	store/server/vip_clients.c \
	store/server/worker.c \
	system/procfs.c \
	base/heartbeat.c \
	base/privilege.c \
	base/userdb.c

# Style and script of the status page: assets.awk makes C of them, in this order.
page_files = \
	mod_apppool/status/page/page.css \
	mod_apppool/status/page/dom.js \
	mod_apppool/status/page/text.js \
	mod_apppool/status/page/view.js \
	mod_apppool/status/page/chart.js \
	mod_apppool/status/page/summary.js \
	mod_apppool/status/page/list.js \
	mod_apppool/status/page/store.js \
	mod_apppool/status/page/drawer.js \
	mod_apppool/status/page/page.js

module_sources = \
	base/secret.c \
	mod_apppool/request/error_response.c \
	mod_apppool/config/app.c \
	mod_apppool/config/app_resolve.c \
	mod_apppool/config/config_report.c \
	mod_apppool/backend/cgi_environment.c \
	mod_apppool/backend/client_cgi.c \
	mod_apppool/backend/app_connection.c \
	mod_apppool/backend/fcgi_parser.c \
	mod_apppool/backend/fcgi_request.c \
	mod_apppool/backend/cgi_response.c \
	mod_apppool/backend/response_parts.c \
	mod_apppool/backend/field_name.c \
	mod_apppool/backend/header_size.c \
	mod_apppool/pump/pump.c \
	mod_apppool/pump/pending.c \
	mod_apppool/pump/room.c \
	mod_apppool/pump/suspend.c \
	mod_apppool/pump/rehearsal.c \
	mod_apppool/pump/wire.c \
	mod_apppool/backend/client_http.c \
	mod_apppool/backend/tunnel.c \
	mod_apppool/backend/http_parser.c \
	mod_apppool/backend/http_request.c \
	mod_apppool/backend/http_response.c \
	mod_apppool/backend/sending.c \
	mod_apppool/backend/bare_packet.c \
	mod_apppool/backend/client_socket.c \
	mod_apppool/backend/stream_client.c \
	mod_apppool/backend/uwsgi_head.c \
	mod_apppool/backend/first_byte.c \
	mod_apppool/body/request_body.c \
	mod_apppool/backend/client_proxy.c \
	mod_apppool/backend/kept.c \
	mod_apppool/backend/in_use.c \
	mod_apppool/backend/parked.c \
	mod_apppool/request/untrusted_headers.c \
	mod_apppool/request/client.c \
	mod_apppool/config/config.c \
	mod_apppool/config/denied_root.c \
	mod_apppool/backend/connect.c \
	mod_apppool/config/directives.c \
	mod_apppool/config/protocol.c \
	mod_apppool/config/php_directives.c \
	mod_apppool/config/php_rule.c \
	mod_apppool/config/php_verdict.c \
	mod_apppool/config/php_report.c \
	mod_apppool/config/setting.c \
	mod_apppool/config/section.c \
	mod_apppool/config/sendfile_dirs.c \
	mod_apppool/body/response_buffer.c \
	mod_apppool/request/error_page.c \
	mod_apppool/request/error_words.c \
	mod_apppool/parent/exec_program.c \
	mod_apppool/backend/websocket_close.c \
	mod_apppool/request/exchange.c \
	mod_apppool/request/app_headers.c \
	mod_apppool/request/handler.c \
	mod_apppool/request/request_head.c \
	mod_apppool/instance/current.c \
	mod_apppool/parent/instance.c \
	mod_apppool/body/streaming.c \
	mod_apppool/parent/instance_list.c \
	mod_apppool/parent/lifecycle.c \
	mod_apppool/mod_apppool.c \
	mod_apppool/body/output_room.c \
	mod_apppool/config/app_user.c \
	mod_apppool/request/raw_path.c \
	mod_apppool/parent/programs.c \
	mod_apppool/backend/proxy_api.c \
	mod_apppool/request/response_count.c \
	mod_apppool/request/response_filter.c \
	mod_apppool/parent/runtime_dir.c \
	mod_apppool/config/config_origin.c \
	mod_apppool/config/config_test.c \
	mod_apppool/config/error_format.c \
	mod_apppool/config/warning.c \
	mod_apppool/request/cgi_variables.c \
	mod_apppool/request/front_controller.c \
	mod_apppool/request/script_handler.c \
	mod_apppool/body/sendfile.c \
	mod_apppool/status/status.c \
	mod_apppool/status/status_action.c \
	mod_apppool/status/status_health.c \
	mod_apppool/status/status_list.c \
	mod_apppool/status/status_metrics.c \
	mod_apppool/status/status_origin.c \
	mod_apppool/status/status_page.c \
	mod_apppool/status/status_server.c \
	mod_apppool/status/status_token.c \
	mod_apppool/body/spool.c \
	mod_apppool/body/spool_file.c \
	mod_apppool/parent/app_table_write.c \
	mod_apppool/parent/store_parts.c \
	mod_apppool/parent/store_takeover.c \
	mod_apppool/parent/store_table_write.c \
	mod_apppool/backend/proxy_filter.c \
	mod_apppool/backend/app_client.c \
	mod_apppool/config/app_source.c \
	mod_apppool/config/value.c \
	mod_apppool/request/app_request.c \
	mod_apppool/parent/watchdogs.c \
	mod_apppool/body/response_check.c \
	mod_apppool/request/document_root.c \
	mod_apppool/request/routing.c \
	mod_apppool/request/source_guard.c \
	mod_apppool/config/app_files.c \
	mod_apppool/config/store.c \
	mod_apppool/config/store_cluster.c \
	mod_apppool/config/store_key.c \
	mod_apppool/config/store_user.c \
	mod_apppool/config/text_check.c \
	mod_apppool/config/workers.c \
	base/parking.c \
	base/heartbeat.c \
	detect/command_inside.c \
	detect/detect.c \
	detect/detect_file.c \
	detect/detect_server.c \
	detect/shell_line.c \
	detect/detect_line.c \
	detect/detect_procfile.c \
	detect/package_script.c \
	detect/number_of.c \
	detect/program_of.c \
	detect/python_line.c \
	detect/detect_venv.c \
	detect/detect_explain.c \
	detect/detect_node.c \
	detect/detect_program.c \
	detect/detect_python.c \
	detect/detect_rule.c \
	detect/detect_ruby.c \
	detect/detect_script.c \
	detect/detect_table.c \
	detect/detect_text.c \
	detect/detect_wsgi.c \
	base/stderr_file.c \
	base/userdb.c \
	base/env_name.c \
	base/url_path.c \
	base/utf8.c

# The watchdog knows no APR and no pool: libc only.
watchdog_sources = \
	base/heartbeat.c \
	system/cgroup.c \
	system/child_reset.c \
	base/stderr_file.c \
	system/log.c \
	system/environ_scan.c \
	system/procfs.c \
	system/reap.c \
	system/beneath.c \
	system/daemonize.c \
	system/kill_instance.c \
	system/clear_runtime_dir.c \
	watchdog/store_watch.c \
	watchdog/ward.c \
	watchdog/watchdog.c

spawner_main = \
	spawner/main.c

spawner_sources = \
	spawner/end/abandoned.c \
	spawner/adopt.c \
	spawner/report/alert.c \
	spawner/control/status_job.c \
	spawner/output/log_program.c \
	spawner/control/apply_table.c \
	spawner/process/approot_owner.c \
	spawner/control/audit.c \
	base/heartbeat.c \
	spawner/start/boot.c \
	spawner/process/sid_scan.c \
	system/cgroup.c \
	spawner/end/httpd_children.c \
	spawner/control/control.c \
	base/app_word.c \
	detect/command_inside.c \
	detect/detect.c \
	detect/detect_file.c \
	detect/detect_path.c \
	detect/detect_versions.c \
	detect/detect_venv.c \
	detect/detect_server.c \
	detect/detect_explain.c \
	detect/detect_node.c \
	detect/detect_program.c \
	detect/detect_python.c \
	detect/detect_rule.c \
	detect/detect_ruby.c \
	detect/detect_script.c \
	detect/detect_table.c \
	detect/detect_text.c \
	detect/detect_wsgi.c \
	detect/shell_line.c \
	detect/detect_line.c \
	detect/detect_procfile.c \
	detect/package_script.c \
	detect/number_of.c \
	detect/program_of.c \
	detect/python_line.c \
	spawner/process/sock_diag.c \
	spawner/start/env_file.c \
	spawner/start/start_notes.c \
	spawner/process/environment.c \
	spawner/process/job.c \
	spawner/report/start_failure.c \
	spawner/report/port_owner.c \
	spawner/report/start_reason.c \
	system/child_reset.c \
	spawner/control/lock_rescue.c \
	spawner/process/mark_scan.c \
	spawner/process/claim.c \
	spawner/process/fork_order.c \
	spawner/start/fork_start.c \
	spawner/start/launch.c \
	spawner/start/start_parts.c \
	spawner/start/start_reports.c \
	spawner/template/template.c \
	spawner/report/template_failure.c \
	spawner/life.c \
	spawner/process/leftovers.c \
	system/log.c \
	spawner/start/wrong_port.c \
	spawner/report/process_report.c \
	spawner/process/loop.c \
	system/environ_scan.c \
	spawner/end/memory_limit.c \
	spawner/start/sd_notify.c \
	spawner/output/open_as.c \
	spawner/output/last_lines.c \
	spawner/output/output.c \
	spawner/end/overdue.c \
	spawner/end/connection_cut.c \
	spawner/end/phase.c \
	base/privilege.c \
	spawner/process/process.c \
	spawner/process/process_signal.c \
	system/procfs.c \
	system/random.c \
	spawner/control/command.c \
	base/json_reader.c \
	spawner/start/ready.c \
	system/reap.c \
	spawner/output/recent_output.c \
	spawner/process/registry.c \
	system/beneath.c \
	spawner/process/guarded_socket.c \
	spawner/process/process_files.c \
	spawner/output/app_log.c \
	spawner/output/app_stderr.c \
	system/daemonize.c \
	spawner/process/socket_owner.c \
	spawner/spawner.c \
	spawner/report/stuck_report.c \
	spawner/report/usage.c \
	system/kill_instance.c \
	spawner/process/state.c \
	spawner/process/app_table.c \
	spawner/report/notify_command.c \
	spawner/output/to_syslog.c \
	base/parking.c \
	base/userdb.c \
	system/clear_runtime_dir.c \
	base/env_name.c \
	base/url_path.c \
	spawner/control/command_list.c \
	spawner/start/warmup.c \
	spawner/output/log_rules.c \
	spawner/output/log_writer.c \
	spawner/output/store_log.c

ctl_sources = \
	ctl/advice.c \
	ctl/app_find.c \
	ctl/apppoolctl.c \
	ctl/ask_server.c \
	ctl/wait_for.c \
	ctl/detect_print.c \
	ctl/doctor.c \
	ctl/doctor_findings.c \
	ctl/doctor_instance.c \
	ctl/follow.c \
	ctl/httpd_test.c \
	ctl/app_list.c \
	ctl/permission.c \
	ctl/show.c \
	ctl/store_status.c \
	ctl/store_command.c \
	ctl/store_socket.c \
	ctl/top.c \
	ctl/values.c \
	ctl/why.c \
	base/heartbeat.c \
	base/utf8.c

# What apppoolctl shares with the spawner.
detect_sources = \
	base/app_word.c \
	detect/command_inside.c \
	detect/detect.c \
	detect/detect_file.c \
	detect/detect_path.c \
	detect/detect_versions.c \
	detect/detect_venv.c \
	detect/detect_server.c \
	detect/detect_explain.c \
	detect/detect_node.c \
	detect/detect_program.c \
	detect/detect_python.c \
	detect/detect_rule.c \
	detect/detect_ruby.c \
	detect/detect_script.c \
	detect/detect_table.c \
	detect/detect_text.c \
	detect/detect_wsgi.c \
	detect/shell_line.c \
	detect/detect_line.c \
	detect/detect_procfile.c \
	detect/package_script.c \
	detect/number_of.c \
	detect/program_of.c \
	detect/python_line.c \
	base/privilege.c \
	base/userdb.c

# What runs apps in their own language, as it is. They are installed below the
# directory of the programs.
man_pages = \
	doc/apppool-spawner.8 \
	doc/apppool-store.8 \
	doc/apppool-watchdog.8 \
	doc/apppoolctl.8

language_helpers = \
	helpers/node/listen.cjs \
	helpers/python/daphne_fd.py \
	helpers/python/listen.py \
	helpers/python/preload.py \
	helpers/python/waitress_fd.py \
	helpers/python/wsgi.py \
	helpers/python/apppool_wsgi/connection.py \
	helpers/python/apppool_wsgi/load.py \
	helpers/python/apppool_wsgi/request.py \
	helpers/python/apppool_wsgi/response.py \
	helpers/python/apppool_wsgi/server.py \
	helpers/python/apppool_wsgi/servers.py \
	helpers/python/apppool_wsgi/shared.py \
	helpers/python/apppool_wsgi/template.py \
	helpers/perl/psgi.pl \
	helpers/ruby/app.ru \
	helpers/ruby/preload.rb \
	helpers/ruby/stop.rb \
	helpers/ruby/thin_fd.rb \
	helpers/ruby/inert/puma/plugin/tmp_restart.rb \
	helpers/ruby/apppool/command.rb \
	helpers/ruby/apppool/prepare.rb \
	helpers/ruby/apppool/server.rb \
	helpers/ruby/apppool/settings.rb \
	helpers/ruby/apppool/shared.rb \
	helpers/ruby/apppool/template.rb \
	helpers/ruby/apppool/title.rb \
	helpers/ruby/apppool/trial.rb \
	helpers/ruby/apppool/trial_config.rb

# One program a file; the others are what they share.
scene_sources = \
	tests/unit/support/breaks.c \
	tests/unit/support/callers.c \
	tests/unit/support/early.c \
	tests/unit/support/family.c \
	tests/unit/support/ledger.c \
	tests/unit/support/marked.c \
	tests/unit/support/memory.c \
	tests/unit/support/model.c \
	tests/unit/support/model_timeouts.c \
	tests/unit/support/model_repair.c \
	tests/unit/support/model_capacity.c \
	tests/unit/support/model_spawner.c \
	tests/unit/support/model_backoff.c \
	tests/unit/support/model_starts.c \
	tests/unit/support/model_turns.c \
	tests/unit/support/model_victim.c \
	tests/unit/support/play.c \
	tests/unit/support/same.c \
	tests/unit/support/scene.c \
	tests/unit/support/sleeps.c \
	tests/unit/support/steps.c \
	tests/unit/support/steps_timeouts.c \
	tests/unit/support/steps_death.c \
	tests/unit/support/steps_spawner.c \
	tests/unit/support/touch.c

# A store of items without a server.
shelf_sources = \
	tests/unit/support/shelf.c

# A space that a store loads and saves.
keeper_sources = \
	tests/unit/support/keeper.c

# A space that is saved to a file.
saved_sources = \
	tests/unit/support/saved.c

# The lines that a store notes.
notes_sources = \
	tests/unit/support/notes.c

# Clocks that a slow machine does not disturb.
test_clock_sources = \
	tests/unit/support/test_clock.c

# A relay, its clients and a master.
relay_scene_sources = \
	$(test_clock_sources) \
	tests/unit/support/relay_bytes.c \
	tests/unit/support/relay_echo.c \
	tests/unit/support/relay_scene.c

# The virtual address, and peers.
vip_scene_sources = \
	$(test_clock_sources) \
	tests/unit/support/vip_scene.c

# A master of that store, and slaves.
slave_sources = \
	tests/unit/support/master.c \
	tests/unit/support/slave.c

# And a client of it, without a socket of the server.
wire_sources = \
	tests/unit/support/conversations.c \
	tests/unit/support/wire.c

# Clients of a worker that waits for a slave.
held_sources = \
	$(test_clock_sources) \
	tests/unit/support/held.c

# A client that stops reading.
reader_sources = \
	tests/unit/support/reader.c

# The parser of HTTP, and what comes out of it.
http_reader_sources = \
	mod_apppool/backend/header_size.c \
	mod_apppool/backend/http_parser.c \
	tests/unit/support/http_reader.c

# What a master sends, by hand.
fake_master_sources = \
	tests/unit/support/fake_master.c

# The files of an app, for tests of detect/.
files_sources = \
	tests/unit/support/files.c

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
	tests/bench/lines \
	tests/bench/parking/echo \
	tests/bench/parking/visitors \
	tests/bench/peer/hello \
	tests/bench/scale \
	tests/bench/steps \
	tests/bench/store_memory \
	tests/bench/store_load

load_sources = \
	tests/bench/store_keys.c

# What only the load for a server has.
client_sources = \
	tests/bench/store_connect.c \
	tests/bench/store_redis.c

crash_sources = \
	tests/crash/images.c \
	tests/crash/scenes.c \
	tests/crash/stage.c \
	tests/crash/stage_early.c \
	tests/crash/stepper.c \
	tests/crash/stranger.c

store_crash_sources = \
	tests/crash/store_images.c \
	tests/crash/store_scenes.c

history_crash_sources = \
	tests/crash/history_images.c

holder_sources = \
	tests/crash/holder.c

# The sample app of tests/integration.
sample_sources = \
	tests/integration/apps/sample/broken.c \
	tests/integration/apps/sample/bulk.c \
	tests/integration/apps/sample/http.c \
	tests/integration/apps/sample/listen.c \
	tests/integration/apps/sample/main.c \
	tests/integration/apps/sample/memory.c \
	tests/integration/apps/sample/output.c \
	tests/integration/apps/sample/plain.c \
	tests/integration/apps/sample/process.c \
	tests/integration/apps/sample/serve.c \
	tests/integration/apps/sample/stuck.c \
	tests/integration/apps/sample/wait.c

# Other apps of tests/integration, which compiles them as their users would.
web_sources = \
	tests/integration/apps/mod_php.c \
	tests/integration/apps/nameless.c \
	tests/integration/apps/quiet.c \
	tests/integration/apps/strange.c \
	tests/integration/apps/template.c \
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
	tests/fuzz/fcgi \
	tests/fuzz/fork_order \
	tests/fuzz/http \
	tests/fuzz/pool \
	tests/fuzz/segment \
	tests/fuzz/store \
	tests/fuzz/store_apply \
	tests/fuzz/store_memory \
	tests/fuzz/store_peer \
	tests/fuzz/store_reply \
	tests/fuzz/store_wire \
	tests/fuzz/table

unit_tests = \
	tests/unit/abandoned \
	tests/unit/place_above_limit \
	tests/unit/alert \
	tests/unit/alive \
	tests/unit/control_sockets \
	tests/unit/status_job \
	tests/unit/approot_owner \
	tests/unit/audit \
	tests/unit/wake \
	tests/unit/sid_scan \
	tests/unit/client_proxy \
	tests/unit/pump \
	tests/unit/kept \
	tests/unit/in_use \
	tests/unit/document_root \
	tests/unit/http_parser \
	tests/unit/http_sizes \
	tests/unit/checkout \
	tests/unit/hung_credit \
	tests/unit/hostile_random \
	tests/unit/damage \
	tests/unit/detect \
	tests/unit/detect_none \
	tests/unit/detect_nvm \
	tests/unit/detect_path \
	tests/unit/detect_program \
	tests/unit/detect_versions \
	tests/unit/detect_venv \
	tests/unit/detect_template \
	tests/unit/detect_text \
	tests/unit/shell_line \
	tests/unit/detect_line \
	tests/unit/enter \
	tests/unit/app_drained \
	tests/unit/app_stderr \
	tests/unit/env_file \
	tests/unit/fork_cleared \
	tests/unit/fork_order \
	tests/unit/fork_start \
	tests/unit/forks_at_once \
	tests/unit/job \
	tests/unit/hung_extra \
	tests/unit/websocket_close \
	tests/unit/process_find \
	tests/unit/connection_state \
	tests/unit/connection_cut \
	tests/unit/parent_takeover \
	tests/unit/parking \
	tests/unit/parked \
	tests/unit/session_peek \
	tests/unit/lock_rescue \
	tests/unit/health \
	tests/unit/histogram \
	tests/unit/numbers \
	tests/unit/usage \
	tests/unit/timing \
	tests/unit/history \
	tests/unit/hostile \
	tests/unit/hung \
	tests/unit/long_lived \
	tests/unit/launch \
	tests/unit/mark_scan \
	tests/unit/no_system_calls \
	tests/unit/invariants \
	tests/unit/ledger \
	tests/unit/kill_instance \
	tests/unit/killed \
	tests/unit/limits \
	tests/unit/list \
	tests/unit/invariant_lists \
	tests/unit/lock \
	tests/unit/log \
	tests/unit/process_report \
	tests/unit/procfs_dead \
	tests/unit/wrong_port \
	tests/unit/abandoned_check \
	tests/unit/concurrency_auto \
	tests/unit/environ_scan \
	tests/unit/fcgi_parser \
	tests/unit/fcgi_request \
	tests/unit/bare_packet \
	tests/unit/sending \
	tests/unit/uwsgi_head \
	tests/unit/slot_state \
	tests/unit/repair_order \
	tests/unit/abandoned_by_death \
	tests/unit/child_death \
	tests/unit/invariants_over_time \
	tests/unit/reap \
	tests/unit/recent_output \
	tests/unit/start_reason \
	tests/unit/registry \
	tests/unit/privilege \
	tests/unit/remove_tree \
	tests/unit/app_removed \
	tests/unit/repair \
	tests/unit/launch_reports \
	tests/unit/restart \
	tests/unit/restart_stamp \
	tests/unit/guarded_socket \
	tests/unit/roll_call \
	tests/unit/rolling \
	tests/unit/scenarios \
	tests/unit/scenarios_restart \
	tests/unit/segment \
	tests/unit/shared_process \
	tests/unit/slot_reuse \
	tests/unit/snapshot \
	tests/unit/sock_diag \
	tests/unit/max_requests \
	tests/unit/app_started \
	tests/unit/early_ends \
	tests/unit/early_rows \
	tests/unit/early_trials \
	tests/unit/starting \
	tests/unit/problems \
	tests/unit/events_folded \
	tests/unit/wait_facts \
	tests/unit/report_states \
	tests/unit/report_cluster \
	tests/unit/report_store \
	tests/unit/store_apply \
	tests/unit/store_admin \
	tests/unit/store_ask \
	tests/unit/store_rivals \
	tests/unit/store_chunk \
	tests/unit/store_claim \
	tests/unit/store_follower \
	tests/unit/store_vip \
	tests/unit/store_vip_relay \
	tests/unit/store_role \
	tests/unit/ctl_store \
	tests/unit/permission \
	tests/unit/store_config \
	tests/unit/store_confirm \
	tests/unit/store_connection \
	tests/unit/store_config_cluster \
	tests/unit/store_epoch \
	tests/unit/store_hold \
	tests/unit/store_item \
	tests/unit/store_waiting \
	tests/unit/store_save \
	tests/unit/store_save_files \
	tests/unit/store_kept \
	tests/unit/store_saver \
	tests/unit/store_large \
	tests/unit/store_keepers \
	tests/unit/store_history \
	tests/unit/store_lock \
	tests/unit/store_lock_binary \
	tests/unit/store_lock_threads \
	tests/unit/store_login \
	tests/unit/store_mailbox \
	tests/unit/store_move \
	tests/unit/store_note \
	tests/unit/store_slave_link \
	tests/unit/store_push \
	tests/unit/store_recover \
	tests/unit/store_refuse \
	tests/unit/store_rescue \
	tests/unit/store_snapshot \
	tests/unit/store_stop_signal \
	tests/unit/store_threads \
	tests/unit/store_balance \
	tests/unit/store_binary \
	tests/unit/store_meta \
	tests/unit/store_relay \
	tests/unit/store_relay_end \
	tests/unit/store_relay_kinds \
	tests/unit/store_reply \
	tests/unit/store_dialogue \
	tests/unit/store_stream \
	tests/unit/store_text \
	tests/unit/store_verbs \
	tests/unit/store_walk \
	tests/unit/store_changes \
	tests/unit/store_join \
	tests/unit/store_master \
	tests/unit/store_peers \
	tests/unit/store_plain \
	tests/unit/store_times \
	tests/unit/store_old_copy \
	tests/unit/store_promotion \
	tests/unit/store_echo \
	tests/unit/store_change_sender \
	tests/unit/store_lru_touches \
	tests/unit/store_slaves \
	tests/unit/store_slow_slaves \
	tests/unit/store_saver_copy \
	tests/unit/store_served \
	tests/unit/store_takeover \
	tests/unit/store_spaces \
	tests/unit/store_wire \
	tests/unit/storm \
	tests/unit/stuck_report \
	tests/unit/ready \
	tests/unit/app_table \
	tests/unit/template \
	tests/unit/notify_command \
	tests/unit/number_of \
	tests/unit/status_token \
	tests/unit/rehearsal \
	tests/unit/turns \
	tests/unit/undone_writes \
	tests/unit/checkout_wait \
	tests/unit/walk \
	tests/unit/store_watch \
	tests/unit/ward \
	tests/unit/warmup \
	tests/unit/log_writer

# Those of them that have threads: ThreadSanitizer looks at them, too. Not at
# unit/hostile, whose thread is one that writes where it must not.
threaded_tests = \
	tests/unit/store_saver \
	tests/unit/store_ask \
	tests/unit/store_rivals \
	tests/unit/store_changes \
	tests/unit/store_connection \
	tests/unit/store_follower \
	tests/unit/store_relay \
	tests/unit/store_relay_end \
	tests/unit/store_relay_kinds \
	tests/unit/store_lock_threads \
	tests/unit/store_verbs \
	tests/unit/store_vip_relay \
	tests/unit/wake \
	tests/unit/client_proxy \
	tests/unit/pump \
	tests/unit/kept \
	tests/unit/in_use \
	tests/unit/document_root \
	tests/unit/session_peek \
	tests/unit/lock \
	tests/unit/scenarios \
	tests/unit/scenarios_restart \
	tests/unit/snapshot \
	tests/unit/store_stream \
	tests/unit/store_threads \
	tests/unit/store_join \
	tests/unit/store_master \
	tests/unit/store_peers \
	tests/unit/store_plain \
	tests/unit/store_push \
	tests/unit/store_slaves \
	tests/unit/store_slow_slaves \
	tests/unit/store_saver_copy \
	tests/unit/store_served \
	tests/unit/store_snapshot \
	tests/unit/store_spaces \
	tests/unit/checkout_wait
