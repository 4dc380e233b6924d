# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# The same module and programs as by configure and make, with nothing but
# apxs, a compiler and make:
#
#     make -f apxs.mk
#     make -f apxs.mk install        (DESTDIR=/somewhere)
#     make -f apxs.mk uninstall
#
# APXS=/path/of/apxs, CC, prefix, libexecdir, bindir, moduledir and runtimedir
# (where apppoolctl looks for runtime directories) may be given. Objects go to
# build-apxs/.

APXS ?= apxs
prefix ?= /usr/local
libexecdir ?= $(prefix)/libexec
localstatedir ?= $(prefix)/var
bindir ?= $(prefix)/bin
sbindir ?= $(prefix)/sbin
mandir ?= $(prefix)/share/man
completiondir ?= $(prefix)/share/bash-completion/completions
zshdir ?= $(prefix)/share/zsh/site-functions
moduledir ?= $(shell $(APXS) -q LIBEXECDIR)
runtimedir ?= $(or $(shell $(APXS) -q exp_runtimedir),/run/httpd)
modsdir ?= $(shell $(APXS) -q SYSCONFDIR)/mods-available
O ?= build-apxs

all:

ifeq ($(moduledir),)
$(error apxs cannot be run: install apache2-dev, or say APXS=/path/of/apxs)
endif

include sources.mk

apppoollibexecdir = $(libexecdir)/apppool
version := $(shell sed -n 's/^AC_INIT(.*\[\(.*\)\])/\1/p' configure.ac)
apr_config := $(shell $(APXS) -q APR_CONFIG)
apu_config := $(shell $(APXS) -q APU_CONFIG)

openssl := $(shell printf '%s\n' '\#include <openssl/ssl.h>' | \
	$(CC) -E -o /dev/null - 2>/dev/null && echo yes)
ssl := $(if $(openssl),-lssl -lcrypto)
system = $(addprefix -isystem ,$(filter-out /usr/include,$(1)))
cflags := -std=gnu11 -O2 -g -Wall -Wextra -Wshadow -Wconversion \
	-fstack-protector-strong -fno-strict-aliasing -fwrapv -fPIC
cppflags := -I. -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 \
	-DAPPPOOL_VERSION='"$(version)"' \
	-DAPPPOOL_LIBEXECDIR='"$(apppoollibexecdir)"' \
	-DAPPPOOL_STATEDIR='"$(localstatedir)/lib/apppool"' \
	-DAPPPOOL_RUNTIME_DIR='"$(runtimedir)"' \
	$(if $(openssl),-DAPPPOOL_OPENSSL)
apr := $(shell $(apr_config) --cppflags) \
	$(call system,$(shell $(apr_config) --includedir))
httpd := $(call system,$(shell $(APXS) -q INCLUDEDIR) \
	$(shell $(apu_config) --includedir))
jansson := $(shell pkg-config --libs jansson 2>/dev/null || echo -ljansson)
aprlibs := $(shell $(apr_config) --link-ld --libs)
aprulibs := $(shell $(apu_config) --link-ld)
ldflags := -Wl,-z,relro -Wl,-z,now

objects = $(patsubst %.c,$(O)/$(1)/%.o,$(2))
pool := $(call objects,pool,$(shm_sources))
module := $(call objects,module,$(module_sources)) $(O)/module/assets.o
watchdog := $(call objects,watchdog,$(watchdog_sources))
spawner := $(call objects,spawner,$(spawner_main) $(spawner_sources))
store := $(call objects,store,$(store_main) $(store_server_sources) \
	$(store_cluster_sources) $(store_protocol_sources) \
	$(store_memory_sources))
ctl := $(call objects,ctl,$(ctl_sources) $(detect_sources))

all: $(O)/mod_apppool.so $(O)/apppool-watchdog $(O)/apppool-spawner \
	$(O)/apppool-store $(O)/apppoolctl $(O)/apppool.load

$(pool): cflags += -fvisibility=hidden
$(pool) $(spawner) $(ctl): cppflags += $(apr)
$(store): cppflags += $(apr) $(call system,$(shell $(apu_config) --includedir))
$(store): cflags += -pthread
$(module): cppflags += $(apr) $(httpd)
$(watchdog): cppflags += -D_GNU_SOURCE
$(watchdog): cflags += -ffunction-sections -fdata-sections

define compile
@mkdir -p $(@D)
$(CC) $(cppflags) $(CPPFLAGS) $(cflags) $(CFLAGS) -MMD -c -o $@ $<
endef

$(O)/pool/%.o: %.c
	$(compile)
$(O)/module/%.o: %.c
	$(compile)
$(O)/watchdog/%.o: %.c
	$(compile)
$(O)/spawner/%.o: %.c
	$(compile)
$(O)/store/%.o: %.c
	$(compile)
$(O)/ctl/%.o: %.c
	$(compile)

$(O)/assets.c: mod_apppool/status/assets.awk $(page_files)
	@mkdir -p $(@D)
	awk -f mod_apppool/status/assets.awk $(page_files) > $@.new
	mv $@.new $@
$(O)/module/assets.o: $(O)/assets.c
	$(compile)

$(O)/exports:
	@mkdir -p $(@D)
	echo '{ global: apppool_module; local: *; };' > $@

$(O)/mod_apppool.so: $(module) $(pool) $(O)/exports
	$(CC) -shared $(ldflags) $(LDFLAGS) -Wl,--version-script=$(O)/exports \
		-o $@ $(module) $(pool) $(jansson) $(ssl) -pthread
$(O)/apppool-watchdog: $(watchdog)
	$(CC) $(ldflags) $(LDFLAGS) -Wl,--gc-sections -o $@ $^
$(O)/apppool-spawner: $(spawner) $(pool)
	$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(jansson) $(aprlibs)
$(O)/apppool-store: $(store)
	$(CC) $(ldflags) $(LDFLAGS) -pthread -o $@ $^ $(jansson) $(aprulibs) \
		$(aprlibs) $(ssl)
$(O)/apppoolctl: $(ctl) $(pool)
	$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(jansson) $(aprlibs)
$(O)/apppool.load: mod_apppool/apppool.load.in
	@mkdir -p $(@D)
	sed 's|@moduledir@|$(moduledir)|' $< > $@

install: all
	install -d '$(DESTDIR)$(moduledir)' '$(DESTDIR)$(apppoollibexecdir)' \
		'$(DESTDIR)$(bindir)' '$(DESTDIR)$(mandir)/man8' \
		'$(DESTDIR)$(completiondir)' '$(DESTDIR)$(zshdir)'
	install -m 644 $(O)/mod_apppool.so '$(DESTDIR)$(moduledir)'
	install $(O)/apppool-watchdog $(O)/apppool-spawner $(O)/apppool-store \
		'$(DESTDIR)$(apppoollibexecdir)'
	for file in $(language_helpers); do \
		install -D -m 644 $$file \
			"$(DESTDIR)$(apppoollibexecdir)/$$file" || exit; \
	done
	install $(O)/apppoolctl '$(DESTDIR)$(bindir)'
	@old='$(DESTDIR)$(sbindir)/apppoolctl'; test ! -f "$$old" || \
		test "$$old" -ef '$(DESTDIR)$(bindir)/apppoolctl' || \
		{ set -x; ln -sf '$(bindir)/apppoolctl' "$$old"; }
	install -m 644 $(man_pages) '$(DESTDIR)$(mandir)/man8'
	install -m 644 ctl/completion/apppoolctl '$(DESTDIR)$(completiondir)'
	install -m 644 ctl/completion/_apppoolctl '$(DESTDIR)$(zshdir)'
	@if test -d '$(modsdir)' || test -d '$(DESTDIR)$(modsdir)'; then \
		set -x; \
		install -d '$(DESTDIR)$(modsdir)' && \
		install -m 644 $(O)/apppool.load '$(DESTDIR)$(modsdir)' && \
		{ test -e '$(DESTDIR)$(modsdir)/apppool.conf' || \
		install -m 644 mod_apppool/apppool.conf '$(DESTDIR)$(modsdir)'; }; \
	fi
	@test -n '$(DESTDIR)' || sh mod_apppool/after-install '$(moduledir)' \
		'$(modsdir)' '$(bindir)'

# An apppool.conf that was changed since is the administrator's: it stays.
uninstall:
	rm -f '$(DESTDIR)$(moduledir)/mod_apppool.so' \
		'$(DESTDIR)$(bindir)/apppoolctl' \
		$(patsubst doc/%,'$(DESTDIR)$(mandir)/man8/%',$(man_pages)) \
		'$(DESTDIR)$(completiondir)/apppoolctl' \
		'$(DESTDIR)$(zshdir)/_apppoolctl' \
		'$(DESTDIR)$(modsdir)/apppool.load'
	test ! -h '$(DESTDIR)$(sbindir)/apppoolctl' || \
		rm -f '$(DESTDIR)$(sbindir)/apppoolctl'
	rm -rf '$(DESTDIR)$(apppoollibexecdir)'
	cmp -s mod_apppool/apppool.conf '$(DESTDIR)$(modsdir)/apppool.conf' && \
		rm -f '$(DESTDIR)$(modsdir)/apppool.conf' || true

clean:
	rm -rf $(O)

.PHONY: all install uninstall clean

-include $(patsubst %.o,%.d,$(pool) $(module) $(watchdog) $(spawner) $(store) $(ctl))
