# Every target takes ENV=dev (the default), ENV=prod or ENV=tokens, as cdk.json describes them, or a stage of
# your own with such settings, ENV=dev-alice; and ARCH=arm64 or ARCH=x86_64.
ENV ?= dev
# What this machine can run without building it once more, unless its system is another.
OWN_ARCH := $(if $(filter x86_64,$(shell uname -m)),x86_64,arm64)
CDK = npx --no-install cdk --app bin/cdk-app -c env=$(ENV) $(if $(ARCH),-c arch=$(ARCH))
# Node.js 20 is at its end of life, which the CDK says at every synth. It works on that, too.
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION = 20
# With the same flag everywhere, Go compiles the CDK and AWS's SDK once.
export GOFLAGS := $(GOFLAGS) -trimpath
.DEFAULT_GOAL := help
# The targets with a dot or an underscore are files.
.PHONY: $(shell sed -n 's,^\([a-z][a-z/-]*\):.*,\1,p' Makefile)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' Makefile
bin/cdk-app:
	@echo "building the CDK app (about a minute the first time)"
	@go build -o $@ .
bin/onesynth:
	@echo "building onesynth"
	@go build -o $@ ./cmd/onesynth
bin/lint:
	@cd lint && go build -o ../bin/ . gotest.tools/gotestsum
node_modules: package-lock.json
	npm ci --no-audit --no-fund
	@touch $@
test/%/node_modules: test/%/package-lock.json
	cd $(@D) && npm ci --no-audit --no-fund
	@touch $@
# Pinned to the byte, for tests alone. An interrupted installation leaves the folder without this file.
bin/python/.installed: test/emulator/requirements.txt
	python3 -m venv --clear $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r $<
	@touch $@

synth: bin/cdk-app ## Write the cloud assembly to cdk.out; without ARCH for this machine's processor
	@echo "synthesising $(ENV) into cdk.out"
	@rm -rf cdk.out
	@CDK_OUTDIR=cdk.out bin/cdk-app -c env=$(ENV) -c arch=$(or $(ARCH),$(OWN_ARCH))
# Checking the template against CloudFormation's rules is four fifths of a synth. The run shows at once what it cannot do.
run: export CDK_VALIDATION = false
run: node_modules synth bin/onesynth ## Run the platforms on this machine, from nothing; WATCH=1 follows the source
	@bin/onesynth local $(if $(WATCH),--watch -c env=$(ENV) -c arch=$(or $(ARCH),$(OWN_ARCH)))
check: bin/cdk-app bin/onesynth node_modules ## Synthesise, and refuse what would fail or lose data in what is deployed
	@rm -rf cdk.out
	$(CDK) synth --quiet
	bin/onesynth check $(CHECK)
# What has been checked is what is deployed: the assembly, not the app again.
deploy: check ## Check, and deploy to the AWS account of the current credentials; CHECK="--accept ID" for what is meant
	npx --no-install cdk --app cdk.out deploy --all
destroy: bin/cdk-app node_modules ## Remove what deploy made; prod has to be unprotected first
	$(CDK) destroy --all

# The tests of pages need a Chromium. CI installs Debian's where there is none; elsewhere these tests are skipped.
CI_BROWSER = $(if $(CI),$(if $(CHROMIUM)$(shell command -v chromium || command -v google-chrome || command -v chromium-browser),,browser))
# In CI the published Python client is tested where a Python is that can have it.
CI_PYTHON = $(if $(CI),$(shell python3 -c 'import ensurepip, sys, venv; sys.version_info < (3, 11) or print("bin/python/.installed")' 2>/dev/null))
PYTHON = $(CURDIR)/bin/python/bin/python
FRESH = $(MAKE) --no-print-directory -j 4 node_modules modules bin/cdk-app bin/lint
LOCKED = $(patsubst %/package-lock.json,%/node_modules,$(wildcard test/*/package-lock.json))

test: ## Find most mistakes, in minutes: what has not changed since the last time does not run again
	@$(FRESH)
	@test/tier quick
test-all: ## Run what every change has to pass
	@$(FRESH) bin/onesynth $(LOCKED) $(CI_PYTHON) $(CI_BROWSER)
	@$(if $(CI_PYTHON),ONESYNTH_TEST_PYTHON=$(PYTHON)) test/tier all
test-release: test-all ## Run everything, before a tag and each night; needs Python 3.11 or later
	@test/tier release
	@$(MAKE) -k test-documents test-emulator bench
test-aws: node_modules test/security/node_modules test/conformance/node_modules ## Run the end-to-end tests on AWS: deploys ENV=dev first
	cd test && ONESYNTH_TEST_TARGET=aws ONESYNTH_TEST_ENVIRONMENT=$(ENV) go test -count=1 -timeout 40m ./...
test-emulator: export ONESYNTH_TEST_TARGET = aws
test-emulator: export ONESYNTH_TEST_PYTHON = $(PYTHON)
test-emulator: export ONESYNTH_TEST_LACKS = $(CURDIR)/test/emulator/ministack.json
test-emulator: export CDK_VALIDATION = false
test-emulator: node_modules $(LOCKED) bin/python/.installed ## Deploy to an emulator of AWS, and run the end-to-end tests there
	cd test && emulator/run go test -vet=off -count=1 -timeout 20m -p 1 $$(go list ./... | grep -v /security)
test-documents: export ONESYNTH_TEST_SCHEMATHESIS = $(dir $(PYTHON))schemathesis
test-documents: export CDK_VALIDATION = false
test-documents: node_modules bin/python/.installed ## Compare the OpenAPI documents with what the run answers
	cd test && $(SHARED) go test -vet=off -count=1 -timeout 20m -p 1 -run TestDocument $$(go list ./... | grep -v /security)
SHARED = go run github.com/onesynth-cdk/onesynth/local/engine/enginetest/share
# What is downloaded once, but for what other systems need.
modules:
	@go list -deps -test ./... >/dev/null
	@cd test && go list -deps -test $$(go list ./... | grep -v /security) tool >/dev/null
	@cd examples/shortener && go list -deps -test ./... >/dev/null
browser: ## Install Debian's Chromium, for the tests of pages; needs root
	@apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null
lint: bin/lint ## Check what go vet and staticcheck.conf look for
	@for module in . test examples/shortener; do (cd $$module && $(CURDIR)/bin/lint ./...) || exit 1; done

# The browser's run of all platforms, as CONSOLE.md shows it.
screenshots: node_modules test/console/node_modules ## Write the pictures of the console and of Ask-a-Human's page into docs
	mkdir -p docs/page
	cd test && go test -count=1 -run TestPictures ./console -pictures $(CURDIR)/docs/console
	cd test && go test -count=1 -run TestPictures ./page -pictures $(CURDIR)/docs/page
bench: node_modules ## Measure, and print figures and ratios
	go test -count=1 -run 'TestEveryAccessPattern|TestHottestKey' -v ./lambdas/*/dynamodb
	go test -run - -bench . ./lambdas/lake ./lambdas/clarity/rubric ./lambdas/lingible/language ./local/lakequery ./local/trace
	go run ./bench -arch $(OWN_ARCH)
	cd test && go test -run - -bench FirstView -benchtime 20x ./page
golden: ## Write the golden files of templates, after a change that is meant or an upgrade of the CDK
	go test ./platforms ./constructs/gofunction ./constructs/lake ./constructs/stream ./constructs/table -run Golden -update
access-patterns: ## Generate docs/ACCESS-PATTERNS.md
	go test . -run TestAccessPatterns -update
calls: node_modules ## Generate docs/CALLS.md
	cd test && go test ./askahuman ./todo ./clarity ./lingible -p 1 -count=1 -run '^TestShared/^Calls$$' -write-calls
cost: node_modules ## Measure what a million requests of each route cost, and write it into docs/COST.md
	go run ./bench -arch $(OWN_ARCH) -only prices -load 500ms -write
