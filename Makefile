# The verbs of this project. What each does stands in package.json; this file makes sure that what it needs is there.

.DEFAULT_GOAL := help
.PHONY: help run run-distributed package demo check test test-slow test-long pages chaos scale mutants bench docs docs-site keep-sdk release-dry-run

help: ## Say what there is
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

run: node_modules ## Start the service with an example website on this machine
	@npm run -s build
	@npm run -s example

run-distributed: node_modules ## The same as many processes on a real Kafka, a real Redis and ClickHouse over HTTP
	@sh test/install-tools.sh java mvn redis-server openssl
	@npm run -s build
	@npm run -s example-distributed

package: node_modules ## Make the npm package of the service, whence-server, in dist/
	@npm run -s build
	@npm run -s package

demo: node_modules ## Show the whole way by itself: a visit in a real browser becomes a matched install; pictures of the dashboard go to data/demo
	@npm run -s build
	@npm run -s demo

check: node_modules ## Formatting, lint, types and the tidy tests
	@npm run -s check

test: node_modules ## Every test that takes less than ten seconds, with real parts; installs what they need if it can
	@sh test/install-tools.sh
	@npm run -s build
	@npm run -s test

test-slow: node_modules ## The tests of ten seconds to a minute: every shell, every page, whole distributed services, a real API server
	@sh test/install-tools.sh
	@npm run -s build
	@npm run -s test-slow

test-long: node_modules ## What is too long for every day: kills and silent brokers, real Vite and Next.js projects, images, the docs site, a release rehearsed
	@sh test/install-tools.sh
	@sh test/install-tools.sh soffice
	@npm run -s build
	@npm run -s test-long

pages: node_modules ## Every page in Chromium and Firefox, wide and narrow, light and dark
	@sh test/install-tools.sh chromium firefox-esr
	@npm run -s build
	@npm run -s pages

chaos: node_modules ## The long fault runs: kills, silent brokers, lost Redis, cut links, dead brokers; WHENCE_CHAOS rounds (5 take an hour)
	@sh test/install-tools.sh
	@npm run -s build
	@npm run -s chaos

scale: node_modules ## The read side with 20 million visits, or WHENCE_SCALE: each statement of each page measured, numbers compared with a count of all rows
	@npm run -s scale

mutants: node_modules ## Break the code in known ways, one at a time, and see that a test notices each
	@sh test/install-tools.sh redis-server
	@npm run -s build
	@npm run -s mutants

bench: node_modules ## Measure the figures of docs/performance.md
	@sh test/install-tools.sh wrk java mvn redis-server openssl etcd
	@npm run -s build
	@npm run -s bench

docs: node_modules ## Write the pages that are made from tables
	@npm run -s docs

docs-site: node_modules ## The documentation as a static site with search, in dist/site; follows every link
	@npm run -s docs-site

keep-sdk: node_modules ## Before a version is tagged: add the SDK's files to those that every later release serves; commit sdk/earlier
	@npm run -s keep-sdk

release-dry-run: node_modules ## Everything of a release that needs no network, in dist/release; needs helm. DIGEST names the published image
	@npm run -s build
	@npm run -s release-dry-run -- $(DIGEST)

# npm writes its own lockfile there last: older than ours means that something is not installed yet. Its warnings about
# an older Node would mislead: the right one is among what is installed.
node_modules: node_modules/.package-lock.json
node_modules/.package-lock.json: package-lock.json
	@echo 'Installing what is needed into node_modules; this takes a minute or two ...'
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@
