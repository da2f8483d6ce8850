# For people: the few commands of a fresh checkout. CMakeLists.txt is the build; CONTRIBUTING.md says more.
PREFIX ?= /usr/local
DESTDIR ?=
SECONDS ?= 60
DEMO ?= examples/before.json.gz

help:
	@echo 'make demo      builds fullwarp and prints the report of a bundled trace'
	@echo 'make test      builds with sanitizers and runs every test'
	@echo 'make install   installs below PREFIX ($(PREFIX)); DESTDIR is honoured'
	@echo 'make dist      makes a tarball that runs on other distributions, from any folder'
	@echo 'make fuzz      TARGET=kineto SECONDS=60: feeds a reader with bytes that libFuzzer invents'
	@echo 'make clean     removes build/'

build: packages-build
	@cmake --preset release -DBUILD_TESTING=OFF >/dev/null
	@cmake --build --preset release

demo: packages-build
	@cmake --preset release -DBUILD_TESTING=OFF >/dev/null
	@cmake --build --preset release --target fullwarp_cli
	build/release/fullwarp report $(DEMO)

test: packages-test
	@scripts/run_tests.sh dev

install: build
	DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX)

dist: build packages-dist
	@scripts/make_dist.sh build/release build

fuzz: packages-fuzz
	@scripts/fuzz.sh '$(TARGET)' '$(SECONDS)'

packages-%:
	@scripts/packages.sh $*

clean:
	rm -rf build

.PHONY: help build demo test install dist fuzz clean
