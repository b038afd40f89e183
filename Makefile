# Every target is a plain go command; make only remembers them.

.PHONY: build train test check race invariants generate bench performance clean

build: ## the command, ./vtrain
	CGO_ENABLED=0 go build -o vtrain ./cmd/vtrain

train: ## the main job: train the default agent
	go run ./cmd/vtrain train

test: ## every test
	go test ./...

check: ## what a change must pass besides its tests
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	go vet ./...
	go vet -tags invariants ./...
	go tool staticcheck ./...
	CGO_ENABLED=0 go build ./...
	CGO_ENABLED=0 GOARCH=arm64 go build ./...
	go vet -tags purego ./nets/...
	go test -tags purego ./nets/kernel
	go test -run '^$$' -bench . -benchtime 1x ./...
	go mod verify
	go mod tidy -diff

race: ## tests under the race detector, which also checks what callers promise
	go test -race -short ./...

invariants: ## tests with the checks of the race build, at full speed
	go test -tags invariants ./...

generate: ## what is made from the code: assembly, tables of docs/lost-cities.md
	go generate ./...

bench: ## speed of rules, encodings and networks
	go test -run '^$$' -bench . ./rules/... ./encode/... ./nets/...

# Whose policies docs/performance.md compares in float32 and int8; empty to train an agent for a minute.
RUN ?=

# What `make performance` builds, which has the revision that `go run` lacks, and the agent it trains.
PERFORMANCE = runs/make-performance

performance: ## docs/performance.md: networks on this machine, and others' if OpenBLAS is here; traversals; some twelve minutes
	@test -z "$(RUN)" || test -d "$(RUN)" || { echo "RUN=$(RUN) is no folder"; exit 1; }
	test -n "$(RUN)" || rm -rf $(PERFORMANCE)/agent
	CGO_ENABLED=0 go build -buildvcs=auto -o $(PERFORMANCE)/ ./cmd/vtrain ./bench/peers
	test -n "$(RUN)" || $(PERFORMANCE)/vtrain train --minutes 1 --run $(PERFORMANCE)/agent
	$(PERFORMANCE)/vtrain bench forward --precision float32,int8 --seconds 0.5 --markdown docs/performance.md --plot docs/forward.png
	$(PERFORMANCE)/vtrain bench forward --precision float32,int8 --seconds 0.5 --markdown docs/performance.md --input binary
	$(PERFORMANCE)/vtrain bench train --seconds 0.5 --markdown docs/performance.md
	$(PERFORMANCE)/vtrain bench traverse --repetitions 3 --estimator critic,outcome --batch 256,1024,4096 --markdown docs/performance.md --plot docs/traverse.png
	$(PERFORMANCE)/vtrain bench traverse --repetitions 3 --batch 256,1024,4096 --estimator outcome --layout slots --hidden 512,512,512 --opponent average --markdown docs/performance.md
	$(PERFORMANCE)/vtrain bench precision --agent "run:$(or $(RUN),$(PERFORMANCE)/agent)" --markdown docs/performance.md testdata/games_classic.jsonl.gz
	$(PERFORMANCE)/peers -seconds 0.5 -markdown docs/performance.md || test $$? -eq 3 # no OpenBLAS, which it has said
	@$(PERFORMANCE)/vtrain info | grep -qw avx2 || echo "no AVX2: not compared with OpenBLAS's kernels for Haswell"
	! $(PERFORMANCE)/vtrain info | grep -qw avx2 || VTRAIN_KERNEL=avx2 $(PERFORMANCE)/peers -seconds 0.5 -coretype Haswell -cores 1 -batch 256,1024,4096,16384 -markdown docs/performance.md || test $$? -eq 3

clean:
	rm -f vtrain
	rm -rf $(PERFORMANCE)
