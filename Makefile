# Every target takes ENV=dev (the default), ENV=prod or ENV=tokens, as cdk.json describes them, or a stage of
# your own with such settings, ENV=dev-alice; and ARCH=arm64 or ARCH=x86_64.
ENV ?= dev
# What this machine can run without building it once more, unless its system is another.
OWN_ARCH := $(if $(filter x86_64,$(shell uname -m)),x86_64,arm64)
CDK = npx --no-install cdk --app bin/cdk-app -c env=$(ENV) $(if $(ARCH),-c arch=$(ARCH))
# Node.js 20 is at its end of life, which jsii says at every synth and npm at every installation. The target node says it once.
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION = 20
# Functions are built without cgo and with these flags. What is built likewise is compiled once, the CDK and AWS's SDK too.
export GOFLAGS := $(GOFLAGS) -trimpath -buildvcs=false -tags=lambda.norpc,timetzdata
run synth compiled modules lint bin/cdk-app bin/onesynth bin/lint: export CGO_ENABLED = 0
quoted = '$(subst ','\'',$(1))'
# The targets with a dot or an underscore are files.
.PHONY: $(shell sed -n 's,^\([a-z][a-z/-]*\):.*,\1,p' Makefile)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' Makefile
compiled: node ; @./compile
FIRST := $(if $(wildcard bin/cdk-app),,compiled)
bin/cdk-app: $(FIRST) ; @go build -ldflags="-s -w" -o $@ .
bin/onesynth: $(FIRST) ; @go build -o $@ ./cmd/onesynth
bin/onesynth-lake: ; @CGO_ENABLED=1 go build -o $@ ./cmd/onesynth-lake
TROUBLESHOOTING = https://github.com/onesynth-cdk/onesynth/blob/main/docs/guide/troubleshooting.md
node:
	@command -v node >/dev/null || { printf '%s\n' "Node.js is missing: install version 22 or later" "see $(TROUBLESHOOTING)#no-nodejs" >&2; exit 1; }
	@node -e 'process.exit(parseInt(process.versions.node) < 22 ? 1 : 0)' || printf '%s\n' \
		"Node.js $$(node --version) is older than 22, which the CDK supports: it may fail; install 22 or later" "see $(TROUBLESHOOTING)#old-nodejs"
bin/lint: ; @cd tools/lint && go build -o ../../bin/ . gotest.tools/gotestsum
node_modules: package-lock.json | node
	@echo "installing npm packages (about 10 s)"
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@
%/node_modules: %/package-lock.json
	@cd $(@D) && npm ci --no-audit --no-fund --loglevel=error
	@touch $@
# Pinned to the byte, for tests alone. An interrupted installation leaves the folder without this file.
bin/python/.installed: test/emulator/requirements.txt
	python3 -m venv --clear $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r $<
	@touch $@

synth: bin/cdk-app ## Write the cloud assembly to cdk.out; without ARCH for this machine's processor
	@echo "synthesising $(ENV) into cdk.out (the first time about 30 s: it links all functions)"
	@rm -rf cdk.out
	@CDK_OUTDIR=cdk.out bin/cdk-app -c env=$(ENV) -c arch=$(or $(ARCH),$(OWN_ARCH))
# Checking the template against CloudFormation's rules is four fifths of a synth. The run shows at once what it cannot do.
run: export CDK_VALIDATION = false
PORTS = $(if $(filter command,$(origin PORT)),--port=$(call quoted,$(PORT)) --console-port=$(if $(filter auto,$(PORT)),auto,$$(($(PORT) - 1))))
run: ## Run the platforms on this machine; WATCH=1 follows the source; PORT=9080 is the first port, for a second run
	@$(MAKE) --no-print-directory -j 3 node_modules synth bin/onesynth
	@bin/onesynth local $(PORTS) $(if $(WATCH),--watch -c env=$(ENV) -c arch=$(or $(ARCH),$(OWN_ARCH)))
init: bin/onesynth ## Write a platform of your own, NAME=links, or one taken over, FROM=todo, into DIR, by default beside this checkout
	@bin/onesynth init --dir=$(call quoted,$(or $(DIR),../$(NAME))) $(if $(FROM),--from=$(call quoted,$(FROM))) \
		-- $(call quoted,$(or $(NAME),$(error name the platform: make init NAME=links)))
publish-as: ## Write this module as MODULE=example.com/team/onesynth into the branch upstream of the repository DIR=../ours; DOCS=https://… begins its documents' addresses
	@go run ./tools/release/publish -module=$(call quoted,$(MODULE)) -dir=$(call quoted,$(DIR)) -docs=$(call quoted,$(DOCS))
binaries: ## Build both commands for this system as a release has them, into bin/release; in a checkout of a tag, of its version
	@tools/release/binaries
release: ## Prepare the tag of VERSION=0.1.0 in this checkout, and print what is promised then and what is left to do
	@go run ./tools/release/prepare -version=$(call quoted,$(VERSION))
check: bin/cdk-app bin/onesynth node_modules ## Synthesise, and refuse what would fail or lose data in what is deployed
	@rm -rf cdk.out
	$(CDK) synth --quiet
	bin/onesynth check $(CHECK)
# What has been checked is what is deployed: the assembly, not the app again.
deploy: check ## Check, deploy to the current AWS account, and load initial data; CHECK="--accept ID" for what is meant
	npx --no-install cdk --app cdk.out deploy --all
	bin/onesynth seed --assembly cdk.out
destroy: bin/cdk-app node_modules ## Remove what deploy made; prod has to be unprotected first
	$(CDK) destroy --all

# The tests of pages need a Chromium. CI installs Debian's where there is none; elsewhere these tests are skipped.
CI_BROWSER = $(if $(CI),$(if $(CHROMIUM)$(shell command -v chromium || command -v google-chrome || command -v chromium-browser),,browser))
# In CI the published Python client is tested where a Python is that can have it.
CI_PYTHON = $(if $(CI),$(shell python3 -c 'import ensurepip, sys, venv; sys.version_info < (3, 11) or print("bin/python/.installed")' 2>/dev/null))
PYTHON = "$(CURDIR)/bin/python/bin/python"
LOCKED = $(patsubst %/package-lock.json,%/node_modules,$(wildcard test/*/package-lock.json))
needs: node_modules modules bin/cdk-app bin/onesynth bin/lint
needs-all: needs bin/onesynth-lake $(LOCKED) $(CI_PYTHON) $(CI_BROWSER)

test: ## Find most mistakes, in minutes: what has not changed since the last time does not run again
	@$(MAKE) --no-print-directory -j 4 needs
	@test/tier quick
test-all: ## Run what every change has to pass
	@$(MAKE) --no-print-directory -j 4 needs bin/onesynth-lake
	-@$(MAKE) --no-print-directory -k -j 4 needs-all # a test fails without what it needs of these
	@$(if $(CI_PYTHON),ONESYNTH_TEST_PYTHON=$(PYTHON)) test/tier all
test-release: ## Run everything, before a tag and each night; needs Python 3.11 or later and a Chromium, without which it fails
	@failed=0; make -s CI=true test-all || failed=1; CI=true test/tier release && exit $$failed
test-repeat: ## Repeat make test from fresh clones, on busy processors, on one core and so on; FOR=1h bounds it
	@test/repeat $(if $(FOR),--for $(FOR))
test-aws: node_modules test/security/node_modules test/conformance/node_modules ## Run the end-to-end tests on AWS: deploys ENV=dev first
	cd test && ONESYNTH_TEST_TARGET=aws ONESYNTH_TEST_ENVIRONMENT=$(ENV) go test -count=1 -timeout 40m ./...
test-emulator: node_modules $(LOCKED) bin/python/.installed ## Deploy to an emulator of AWS, and run the end-to-end tests there
	cd test && ONESYNTH_TEST_TARGET=aws ONESYNTH_TEST_PYTHON=$(PYTHON) ONESYNTH_TEST_LACKS="$(CURDIR)"/test/emulator/ministack.json \
		CDK_VALIDATION=false emulator/run go test -vet=off -count=1 -timeout 20m -p 1 $$(go list ./... | grep -v /security)
test-documents: node_modules bin/cdk-app bin/onesynth bin/lint bin/python/.installed ## Compare the OpenAPI documents with what the run answers
	ONESYNTH_TEST_SCHEMATHESIS="$(CURDIR)/bin/python/bin/schemathesis" test/tier documents
modules: ; @test/tier parts modules
browser: ## Install Debian's Chromium, for the tests of pages; needs root
	@apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null
lint: bin/lint ## Check what go vet and staticcheck.conf look for, and the length of lines
	@test/tier parts lint_all

site: site/node_modules ## Build the documents as a site, into bin/site
	@cd site && npx --no-install vitepress build
screenshots: node_modules test/console/node_modules ## Write the pictures of the console and of the platforms' pages into docs
	@test/browser/pictures
bench: node_modules ## Measure, and print figures and ratios
	@tools/bench/all $(OWN_ARCH)
golden: ## Write the golden files of templates, and the figures of documents, after a change that is meant or an upgrade of the CDK
	go test ./internal/platforms ./constructs/edge ./constructs/gofunction ./constructs/lake ./constructs/platform ./constructs/stream ./constructs/table -run Golden -update
reference: bin/onesynth node_modules ## Generate what docs/reference has of code and schemas
	ONESYNTH_COMMAND="$(CURDIR)"/bin/onesynth go test . ./check ./run/command ./constructs ./run/internal/console ./run/internal/cloud/assembly ./lambdas/kit -run Reference -update
calls: node_modules ## Generate the calls of DynamoDB in docs/reference/routes
	cd test && go test ./askahuman ./todo ./clarity ./lingible -p 1 -count=1 -run '^TestShared/^Calls$$' -write-calls
cost: node_modules ## Measure what a million requests of each route cost, and write it into docs/reference/routes
	go run ./tools/bench -arch $(OWN_ARCH) -only prices -load 500ms -write
growth: node_modules ## Measure what each route costs with more items, and write it into docs/reference/routes
	go run ./tools/bench -arch $(OWN_ARCH) -only growth -write
