# The tasks of everyday work. Cargo does the building; this only knows the right words.

CARGO  ?= cargo
CC     ?= cc
PREFIX ?= /usr/local

# Where cargo builds; tools and benchmark data live there too.
TARGET := $(or $(CARGO_TARGET_DIR),target)

# Seconds for each fuzz target, and further arguments for the benchmark.
FUZZ_SECONDS ?= 60
BENCH_ARGS   ?=

.PHONY: help setup build demo test soak test-real lint audit bench fuzz install clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## check that what a build needs is there
	@scripts/setup.sh

build: setup ## build release binaries into target/release
	$(CARGO) build --release --locked -p interloper-cli -p interloper-runtime

demo: build ## check a small buggy program: predict, prove, make it happen, replay it
	INTERLOPER=$(TARGET)/release/interloper examples/demo.sh

test: setup ## run all tests
	@scripts/z3.sh
	@scripts/chromium.sh
	@scripts/sarif-schema.sh
	$(CARGO) test --workspace --locked

soak: setup ## replay each recording of the corpus a hundred times, kill 200 times (takes long)
	INTERLOPER_REPLAYS=100 INTERLOPER_KILLS=200 $(CARGO) test --locked -p interloper-cli --test corpus --test killed

test-real: build ## build and record real programs from Debian's sources (needs the network)
	INTERLOPER=$(TARGET)/release/interloper scripts/real.sh

lint: ## check format, lints, documentation, licences and sources of dependencies
	@scripts/setup.sh lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	$(CC) -std=c11 -Wall -Wextra -Werror -fsyntax-only benches/floor.c
	@scripts/setup.sh deny
	$(TARGET)/tools/bin/cargo-deny --locked check licenses bans sources

audit: ## look for known vulnerabilities in dependencies (needs the network)
	@scripts/setup.sh deny
	$(TARGET)/tools/bin/cargo-deny --locked check advisories

bench: build ## measure, side by side with the floor; BENCH_ARGS=--large for the long tables
	@scripts/z3.sh
	$(CARGO) build --release --locked -p interloper-bench
	@mkdir -p $(TARGET)/bench
	$(CC) -std=c11 -O2 -Wall -Wextra -o $(TARGET)/bench/floor benches/floor.c
	INTERLOPER_INCLUDE=$(CURDIR)/include $(TARGET)/release/interloper-bench \
	    --interloper $(TARGET)/release/interloper --floor $(TARGET)/bench/floor --data $(TARGET)/bench \
	    --pbzip2 $(TARGET)/real/src $(BENCH_ARGS)

fuzz: ## run every fuzz target for FUZZ_SECONDS (needs cargo-fuzz, see fuzz/README.md)
	@$(CARGO) fuzz --version >/dev/null 2>&1 || { echo "fuzz: no cargo-fuzz; see fuzz/README.md" >&2; exit 1; }
	@set -e; for target in $$($(CARGO) fuzz list); do \
	    echo "fuzz: $$target for $(FUZZ_SECONDS) s"; \
	    mkdir -p "fuzz/found/$$target"; \
	    RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run "$$target" "fuzz/found/$$target" "fuzz/corpus/$$target" \
	        -- -max_total_time=$(FUZZ_SECONDS); \
	done

install: build ## install under PREFIX (default /usr/local)
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/lib/interloper" "$(DESTDIR)$(PREFIX)/include" \
	    "$(DESTDIR)$(PREFIX)/share/doc/interloper"
	install -m 755 $(TARGET)/release/interloper "$(DESTDIR)$(PREFIX)/bin/interloper"
	install -m 755 $(TARGET)/release/libinterloper_rt.so "$(DESTDIR)$(PREFIX)/lib/interloper/libinterloper_rt.so"
	install -m 644 include/interloper.h "$(DESTDIR)$(PREFIX)/include/interloper.h"
	$(TARGET)/release/interloper man "$(DESTDIR)$(PREFIX)/share/man/man1"
	install -d "$(DESTDIR)$(PREFIX)/share/bash-completion/completions" "$(DESTDIR)$(PREFIX)/share/zsh/site-functions" \
	    "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	$(TARGET)/release/interloper completions bash >"$(DESTDIR)$(PREFIX)/share/bash-completion/completions/interloper"
	$(TARGET)/release/interloper completions zsh >"$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_interloper"
	$(TARGET)/release/interloper completions fish >"$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/interloper.fish"
	install -m 644 LICENSE-MIT LICENSE-APACHE "$(DESTDIR)$(PREFIX)/share/doc/interloper"

clean: ## remove everything that was built
	$(CARGO) clean
