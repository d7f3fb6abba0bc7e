# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The front door. `make help` explains every target.
#
# The kernel build reads the file Kbuild beside this one, never this Makefile.

BUILD        ?= build
JOBS         ?= $(shell nproc)
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 600
PREFIX       ?= /usr/local

cmake_stamp = $(BUILD)/build.ninja
configure = cmake -S . -B $(BUILD) -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
compile = ninja -C $(BUILD) --quiet
check = scripts/check --build $(BUILD) --jobs $(JOBS)

.DEFAULT_GOAL := help
.PHONY: help setup build lab-root demo check lint format unit valgrind asan fuzz lab lab-long soak bench \
        bench-doc install uninstall clean

## help: this list
help:
	@echo "anynic: one verbs interface over many brands of RDMA NIC"
	@echo
	@sed -n 's/^## \([a-z-]*\): \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | \
		while IFS="$$(printf '\t')" read -r name text; do \
			printf '  make %-10s %s\n' "$$name" "$$text"; done
	@echo
	@echo "Variables: BUILD=$(BUILD) JOBS=$(JOBS) PREFIX=$(PREFIX) FUZZ_SECONDS=$(FUZZ_SECONDS) SOAK_SECONDS=$(SOAK_SECONDS)"
	@echo "           ANYNIC_CACHE (default ~/.cache/anynic), ANYNIC_MIRROR (default: this host's own)"

## setup: install what is needed (Debian 12 and 13; elsewhere: say what to install)
setup:
	@scripts/setup

$(cmake_stamp): | setup
	@$(configure)

## build: simulator, provider, unit tests
build: $(cmake_stamp)
	@$(compile)

## lab-root: make the pinned root folder of the virtual machines (about 2 minutes, cached)
lab-root: setup
	@scripts/lab-root

## demo: set-up, build, lab root; then two brands talk to each other through anynic
demo: build lab-root
	@scripts/demo --build $(BUILD)

## check: everything that must pass: gates, unit tests (plain, valgrind, sanitizers), fuzz, lab
check: build lab-root
	@$(check) --fuzz-seconds $(FUZZ_SECONDS) all

## lint: structure gates and formatting
lint: setup
	@$(check) lint

## format: let clang-format rewrite the C files
format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

## unit: unit tests
unit: build
	@$(check) unit

## valgrind: unit tests under valgrind
valgrind: build
	@$(check) valgrind

## asan: unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
asan: setup
	@$(check) asan

## fuzz: each fuzz target for FUZZ_SECONDS, from the corpus kept in tests/fuzz
fuzz: setup
	@$(check) --fuzz-seconds $(FUZZ_SECONDS) fuzz

## lab: the scenarios in virtual machines
lab: build lab-root
	@$(check) lab

## lab-long: all of them, with the whole tool matrix under every fault (an hour)
lab-long: build lab-root
	@ANYNIC_LAB_LONG=1 $(check) lab

## soak: long random runs of the transport model and the fuzz targets (not part of check)
soak: build
	@ANYNIC_SOAK=$(SOAK_SECONDS) $(check) --timeout $$(($(SOAK_SECONDS) * 2 + 600)) unit
	@$(check) --fuzz-seconds $(SOAK_SECONDS) fuzz

## bench: instructions against the vendor's provider, bandwidth and latency against rxe
bench: build lab-root
	@scripts/bench --build $(BUILD)

## bench-doc: make bench, and write the result into docs/performance.md
bench-doc: build lab-root
	@scripts/bench --build $(BUILD) --write-doc

## install: simulator and provider under PREFIX (DESTDIR is honoured)
install: setup
	@$(configure)
	@$(compile)
	@cmake --install $(BUILD)

## uninstall: remove what install put there
uninstall:
	@sed 's|^|$(DESTDIR)|' $(BUILD)/install_manifest.txt | xargs -r rm -fv

## clean: remove the build folder (the lab root stays in the cache)
clean:
	rm -rf $(BUILD)
