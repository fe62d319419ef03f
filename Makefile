# Every target takes ENV=dev (the default), ENV=prod or ENV=tokens, as cdk.json describes them, or a stage of
# your own with such settings, ENV=dev-alice; and ARCH=arm64 or ARCH=x86_64.
ENV ?= dev
ARCH ?=

# What this machine can run without building it once more, unless its system is another.
OWN_ARCH := $(if $(filter x86_64,$(shell uname -m)),x86_64,arm64)

# Node.js 20 is at its end of life, which the CDK says at every synth. It works
# on that, too.
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION = 20

# Importers' apps are built so in the tests, wherever the CDK comes from: with the
# same flag everywhere, it is compiled once.
export GOFLAGS := $(GOFLAGS) -trimpath

CDK = npx --no-install cdk --app bin/cdk-app -c env=$(ENV) $(if $(ARCH),-c arch=$(ARCH))

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: bin/cdk-app
bin/cdk-app:
	@echo "building the CDK app (about a minute the first time)"
	@go build -o $@ .

.PHONY: synth
synth: bin/cdk-app ## Write the cloud assembly to cdk.out; without ARCH for this machine's processor
	@echo "synthesising $(ENV) into cdk.out"
	@rm -rf cdk.out
	@CDK_OUTDIR=cdk.out bin/cdk-app -c env=$(ENV) -c arch=$(or $(ARCH),$(OWN_ARCH))

.PHONY: check
check: bin/cdk-app bin/onesynth node_modules ## Synthesise, and refuse what would fail or lose data in what is deployed
	@rm -rf cdk.out
	$(CDK) synth --quiet
	bin/onesynth check $(CHECK)

# What has been checked is what is deployed: the assembly, not the app again.
.PHONY: deploy
deploy: check ## Check, and deploy to the AWS account of the current credentials; CHECK="--accept ID" for what is meant
	npx --no-install cdk --app cdk.out deploy --all

.PHONY: destroy
destroy: bin/cdk-app node_modules ## Remove what deploy made; prod has to be unprotected first
	$(CDK) destroy --all

node_modules: package-lock.json
	npm ci --no-audit --no-fund
	@touch $@

# The rules of test/security bring a CDK of their own, which nothing else needs. test/clients has what makes typed clients,
# test/console the rules of accessibility that the page has to meet,
# test/conformance the conformance tests of the Model Context Protocol.
test/%/node_modules: test/%/package-lock.json
	cd $(@D) && npm ci --no-audit --no-fund
	@touch $@

.PHONY: bin/onesynth
bin/onesynth:
	@echo "building onesynth"
	@go build -o $@ ./cmd/onesynth

# Checking the template against CloudFormation's rules is four fifths of a synth.
# The local run shows at once what it cannot do; synth and deploy do check.
run: export CDK_VALIDATION = false

.PHONY: run
run: node_modules synth bin/onesynth ## Run the platforms on this machine: install what is missing, synthesise, start; WATCH=1 follows the source
	@bin/onesynth local $(if $(WATCH),--watch -c env=$(ENV) -c arch=$(or $(ARCH),$(OWN_ARCH)))

# The tests of these folders look at nothing but the module and the release of DynamoDB Local
# (TestKeptResults), so Go takes their results from its cache until one of them changes.
# The others start what Go does not see (the CDK, handlers, commands), so they run each time.
KEPT = check cron finding intrinsic lambdas schema
OTHERS = $$(go list ./... | grep -v -e onesynth/local $(KEPT:%=-e onesynth/%))

# What the end-to-end tests run, for this machine's processor. The folder is named after all files here and
# the tools, and the tests read its name: Go sees when one of these changes, and keeps their results until then.
ASSEMBLIES = $(CURDIR)/bin/assemblies/$(STATE)
STATE = $(eval STATE := $(shell { go version; node --version; java -version; find . \( -name node_modules -o -name .git -o -path ./bin -o -path ./cdk.out \) -prune -o -type f -exec cksum {} + | sort; } 2>&1 | cksum | tr ' ' -))$(STATE)

# The tests of the console's page and of Ask-a-Human's need a Chromium. CI installs Debian's where there is none; elsewhere the tests say how to get one, and are skipped.
BROWSER = $(CHROMIUM)$(shell for name in chromium chromium-browser google-chrome google-chrome-stable chrome microsoft-edge; do command -v $$name; done; ls -d /Applications/*Chrom*.app 2>/dev/null)
CI_BROWSER = $(if $(CI),$(if $(BROWSER),,$(shell command -v apt-get >/dev/null && test "$$(id -u)" = 0 && echo browser)))

# What the tests of all packages synthesise and run links each handler once, and again when its packages
# have changed. Those that compare builds have caches of their own.
HANDLERS = $(CURDIR)/bin/handlers

# lint has vetted all. The importers' tests take seven minutes of Go's usual ten where nothing is compiled yet.
GO_TEST = $(BRIEF_JAVA) go test -vet=off -timeout 20m
EACH_TIME = $(GO_TEST) -count=1

PYTHON = $(CURDIR)/bin/python/bin/python

# In CI the published Python client is tested wherever a Python is that can have it; elsewhere once bin/python/installed is made.
CI_PYTHON = $(if $(CI),$(shell python3 -c 'import ensurepip, sys, venv; sys.version_info < (3, 11) or print("bin/python/installed")' 2>/dev/null))

# The modules that the tests need, those of other systems aside.
.PHONY: modules
modules:
	@go list -deps -test ./... >/dev/null
	@cd test && go list -deps -test $$(go list ./... | grep -v /security) tool >/dev/null
	@cd examples/shortener && go list -deps -test ./... >/dev/null

# A DynamoDB Local that ends after some thousand requests, such as one that a test starts for itself, ends before the
# second of Java's compilers would have been worth its time.
BRIEF_JAVA = env JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1

# Packages share one DynamoDB Local. Each command has one of its own: it gets slower with
# each database that tests leave in it.
SHARED = go run github.com/onesynth-cdk/onesynth/local/engine/enginetest/share
SHARED_BRIEFLY = $(BRIEF_JAVA) $(SHARED)

# One package more than there are processors, because tests wait for other processes and for timers.
PACKAGES_AT_ONCE = -p $$(($$(getconf _NPROCESSORS_ONLN) + 1))

.PHONY: browser
browser: ## Install Debian's Chromium, for the tests of the console's page; needs root
	@apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null

# Two commands at the same time would compile the CDK twice.
.PHONY: linted
linted: bin/cdk-app bin/lint
	@$(MAKE) --no-print-directory lint

$(ASSEMBLIES)/%:
	CDK_VALIDATION=false CDK_OUTDIR=$@.unfinished bin/cdk-app -c env=$* -c arch=$(OWN_ARCH)
	mv $@.unfinished $@

.PHONY: test-shortener
test-shortener:
	cd examples/shortener && $(SHARED_BRIEFLY) $(EACH_TIME) ./...

.PHONY: test-security
test-security:
	cd test && $(EACH_TIME) ./security

# Handlers and the local run go under the race detector. The rest starts the CDK, and the
# instrumented build of the CDK alone takes minutes.
# On a fresh machine the CDK is compiled while the rest arrives. The end-to-end tests of
# one platform at a time: they fill the machine, and what they run has time-outs of its
# own. They need no race detector: their handlers are processes of their own, and the
# tests of local have found what it finds in the run.
.PHONY: test
test: export ONESYNTH_CACHE = $(HANDLERS)
test: ## Run every check and test, on this machine alone
	@$(MAKE) --no-print-directory -j 6 node_modules test/security/node_modules test/clients/node_modules test/console/node_modules test/conformance/node_modules modules linted $(CI_PYTHON) $(CI_BROWSER)
	@$(if $(CI)$(BROWSER),,echo "no Chromium found: the tests of pages are skipped (apt-get install chromium, or CHROMIUM=PATH)")
	@mkdir -p $(HANDLERS)/binaries && find $(HANDLERS)/binaries -mindepth 1 -maxdepth 1 -mtime +0 -exec rm -r {} +
	$(SHARED) $(GO_TEST) $(PACKAGES_AT_ONCE) -race $(KEPT:%=./%/...)
	$(SHARED_BRIEFLY) $(EACH_TIME) $(PACKAGES_AT_ONCE) $(OTHERS)
	$(SHARED_BRIEFLY) $(EACH_TIME) $(PACKAGES_AT_ONCE) -race ./local/...
	@test -d $(ASSEMBLIES) || rm -rf $(dir $(ASSEMBLIES))
	@$(MAKE) --no-print-directory -j 3 $(addprefix $(ASSEMBLIES)/,dev prod tokens)
	cd test && $(SHARED) env ONESYNTH_TEST_ASSEMBLIES=$(ASSEMBLIES) $(if $(CI_PYTHON),ONESYNTH_TEST_PYTHON=$(PYTHON)) $(GO_TEST) -p 1 $$(go list ./... | grep -v /security)
	@$(MAKE) --no-print-directory -j 2 test-shortener test-security

.PHONY: test-aws
test-aws: node_modules test/security/node_modules test/conformance/node_modules ## Run the end-to-end tests on AWS: deploys ENV=dev first
	cd test && ONESYNTH_TEST_TARGET=aws ONESYNTH_TEST_ENVIRONMENT=$(ENV) go test -count=1 -timeout 40m ./...

# Python and its packages, pinned to the byte, are for tests alone, and make test does without, but in CI.
# The file says that all are there: an interrupted installation leaves the folder without it.
bin/python/installed: test/emulator/requirements.txt
	python3 -m venv --clear $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r $<
	@touch $@

.PHONY: test-emulator
test-emulator: export ONESYNTH_TEST_TARGET = aws
test-emulator: export ONESYNTH_TEST_PYTHON = $(PYTHON)
test-emulator: export ONESYNTH_TEST_LACKS = $(CURDIR)/test/emulator/ministack.json
test-emulator: export CDK_VALIDATION = false
test-emulator: node_modules test/conformance/node_modules bin/python/installed ## Deploy to an emulator of AWS, and run the end-to-end tests there; needs Python 3.11 or later
	cd test && emulator/run $(EACH_TIME) -p 1 $$(go list ./... | grep -v /security)

.PHONY: test-documents
test-documents: export ONESYNTH_TEST_SCHEMATHESIS = $(dir $(PYTHON))schemathesis
test-documents: export CDK_VALIDATION = false
test-documents: node_modules bin/python/installed ## Hold what the OpenAPI documents say to what the run answers; needs Python 3.11 or later
	cd test && $(SHARED) $(EACH_TIME) -p 1 -run TestDocument $$(go list ./... | grep -v /security)

.PHONY: bin/lint
bin/lint:
	@cd lint && go build -o $(CURDIR)/$@ .

.PHONY: lint
lint: bin/lint ## Check format, and what go vet and staticcheck.conf look for
	@unformatted=$$(gofmt -l *.go bench check cmd constructs cron examples finding gobuild intrinsic lambdas lint local onesynthtest platforms schema test); test -z "$$unformatted" || { echo "run gofmt -w on:"; echo "$$unformatted"; exit 1; }
	for module in . test examples/shortener; do (cd $$module && $(CURDIR)/bin/lint ./...) || exit 1; done

# The browser's run of all platforms, as CONSOLE.md shows it.
.PHONY: screenshots
screenshots: node_modules test/console/node_modules ## Write the pictures of the console and of Ask-a-Human's page into docs
	mkdir -p docs/page
	cd test && go test -count=1 -run TestPictures ./console -pictures $(CURDIR)/docs/console
	cd test && go test -count=1 -run TestPictures ./page -pictures $(CURDIR)/docs/page

.PHONY: bench
bench: node_modules ## Measure, and print figures and ratios
	go test -count=1 -run 'TestEveryAccessPattern|TestHottestKey' -v ./lambdas/*/dynamodb
	go test -run - -bench . ./lambdas/lake ./lambdas/clarity/rubric ./lambdas/lingible/language ./local/lakequery ./local/trace
	go run ./bench -arch $(OWN_ARCH)
	cd test && go test -run - -bench FirstView -benchtime 20x ./page

.PHONY: golden
golden: ## Write the golden files of templates, after a change that is meant or an upgrade of the CDK
	go test ./platforms ./constructs/gofunction ./constructs/lake ./constructs/stream ./constructs/table -run Golden -update

.PHONY: access-patterns
access-patterns: ## Generate docs/ACCESS-PATTERNS.md
	go test . -run TestAccessPatterns -update

.PHONY: calls
calls: node_modules ## Generate docs/CALLS.md
	cd test && go test ./askahuman ./todo ./clarity ./lingible -p 1 -count=1 -run '^TestShared/^Calls$$' -write-calls

.PHONY: cost
cost: node_modules ## Measure what a million requests of each route cost, and write it into docs/COST.md
	go run ./bench -arch $(OWN_ARCH) -only prices -load 500ms -write
