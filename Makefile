# For people: the few commands of a fresh checkout. CMakeLists.txt is the build; CONTRIBUTING.md says more.
PREFIX ?= /usr/local
DESTDIR ?=
SECONDS ?= 60
DEMO ?= examples/before.json.gz
SHAPES = examples/serve/shapes

help:
	@echo 'make demo      builds fullwarp and prints the report of a bundled trace'
	@echo 'make demo-serve  builds fullwarp-serve, labels bundled pictures on the CPU and says where the time goes'
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

demo-serve: packages-serve
	@cmake --preset release -DBUILD_TESTING=OFF >/dev/null
	@cmake --build --preset release --target fullwarp_serve
	build/release/fullwarp-serve classify $(SHAPES).onnx examples/serve/pictures --labels $(SHAPES).txt --top 2 \
		--engine onednn --quiet
	build/release/fullwarp-serve bench $(SHAPES).onnx examples/serve/pictures --engine onednn --seconds 3 --repeats 1 --quiet

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

.PHONY: help build demo demo-serve test install dist fuzz clean
