package vec

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"vtrain/vec/vectest/chance"
)

// TestSplitMix compares with the published outputs of SplitMix64 from state 0.
func TestSplitMix(t *testing.T) {
	var s Stream
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec} {
		if got := s.Uint64(); got != want {
			t.Errorf("output %d is %#x, expected %#x", i, got, want)
		}
	}
}

// TestFrozenStreams pins the numbers that runs are made of. A change here
// invalidates every saved run: games would deal other cards, and a resumed run
// would no longer equal an uninterrupted one.
func TestFrozenStreams(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"Key(0, 0)", Key(0, 0), 0x48218226ff3cd4bf},
		{"Key(1, 2)", Key(1, 2), 0xf18d6ce93d6cf1ee},
		{"Derive(1, deal, 7)", Derive(1, "deal", 7), 0xe0fe012af01da328},
	} {
		if c.got != c.want {
			t.Errorf("%s is %#x, expected %#x", c.name, c.got, c.want)
		}
	}
	s := At(Key(1, 2), 3)
	got := []uint64{s.Uint64(), s.Uint64(), uint64(s.Intn(60)), uint64(s.Intn(1 << 31)), uint64(s.Intn(3)),
		uint64(math.Float32bits(s.Float32())), math.Float64bits(s.Float64())}
	want := []uint64{0xfd4eb1e0db1fc3fb, 0xc2aae08c0bcbb06a, 0x36, 0x183a70bf, 0x2, 0x3f63f3ef, 0x3fa776e85c7d92d0}
	if !slices.Equal(got, want) {
		t.Errorf("the stream is %#x, expected %#x", got, want)
	}
	items := []int{0, 1, 2, 3, 4, 5, 6, 7}
	s.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	if want := []int{5, 3, 0, 2, 7, 4, 1, 6}; !slices.Equal(items, want) {
		t.Errorf("the shuffle is %v, expected %v", items, want)
	}
}

func TestIntnIsUniform(t *testing.T) {
	for _, n := range []int{2, 3, 5, 6, 7, 10, 16, 44, 60, 100, 1000} {
		counts := make([]int, n)
		s := At(Key(uint64(n), 1), 0)
		for range 100 * max(n, 200) {
			counts[s.Intn(n)]++
		}
		chance.Fair(t, fmt.Sprintf("Intn(%d)", n), counts, nil)
	}
}

// TestIntnOverLargeRanges sorts draws from ranges near 2^32 into 12 parts.
func TestIntnOverLargeRanges(t *testing.T) {
	for _, n := range []int{3 << 30, 1<<32 - 1, 1<<32 - 1<<20} {
		counts := make([]int, 12)
		weights := make([]float64, 12)
		for i := range weights {
			weights[i] = float64((i+1)*n/12 - i*n/12)
		}
		s := At(Key(5, uint64(n)), 0)
		for range 60000 {
			x := s.Intn(n)
			counts[min(11, x*12/n)]++
		}
		chance.Fair(t, fmt.Sprintf("Intn(%d)", n), counts, weights)
	}
}

// TestRejectRedraws: a draw whose fraction lies below 2^64 mod n is not used.
func TestRejectRedraws(t *testing.T) {
	const n = 3 // 2^64 mod 3 = 1, so only the fraction 0 is refused
	s, next := At(1, 1), At(1, 1)
	if got := s.reject(2, 1, n); got != 2 || s != next {
		t.Errorf("the fraction 1 was refused: %d", got)
	}
	hi, _ := bits.Mul64(next.Uint64(), n)
	if got := s.reject(2, 0, n); got != hi || s != next {
		t.Errorf("the fraction 0 gave %d, expected the next draw %d", got, hi)
	}
}

func TestIntnPanics(t *testing.T) {
	for _, n := range []int{0, -1, math.MinInt, 1 << 32} {
		mustPanic(t, fmt.Sprintf("Intn(%d)", n), badRange, func() {
			var s Stream
			s.Intn(n)
		})
	}
	var s Stream
	if s.Intn(1) != 0 || s.Intn(1<<32-1) < 0 {
		t.Error("Intn is out of range at its limits")
	}
}

// mustPanic calls f and expects it to panic with a value.
func mustPanic(t *testing.T, what string, want any, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("%s: panic %v, expected %v", what, got, want)
		}
	}()
	f()
}

func TestFloatsAreUniform(t *testing.T) {
	const parts, n = 64, 100000
	counts32, counts64 := make([]int, parts), make([]int, parts)
	s := At(Key(3, 3), 3)
	for range n {
		x, y := s.Float32(), s.Float64()
		if x < 0 || x >= 1 || y < 0 || y >= 1 {
			t.Fatalf("%v or %v is not in [0, 1)", x, y)
		}
		counts32[int(x*parts)]++
		counts64[int(y*parts)]++
	}
	chance.Fair(t, "Float32", counts32, nil)
	chance.Fair(t, "Float64", counts64, nil)
	top := Stream{state: unmix(^uint64(0)) - golden} // whose next output is all ones
	if x := top.Float32(); x != 1-1.0/(1<<24) {
		t.Errorf("the largest Float32 is %v", x)
	}
}

// unmix is the inverse of mix64.
func unmix(z uint64) uint64 {
	z ^= z>>31 ^ z>>62
	z *= 0x319642b2d24d8ec3 // inverse of 0x94d049bb133111eb modulo 2^64
	z ^= z>>27 ^ z>>54
	z *= 0x96de1b173f119089 // inverse of 0xbf58476d1ce4e5b9
	return z ^ z>>30 ^ z>>60
}

func TestShuffleIsUniform(t *testing.T) {
	counts := make(map[[4]int]int)
	for i := range uint64(24000) {
		p := [4]int{0, 1, 2, 3}
		s := At(Key(9, i), 0)
		s.Shuffle(4, func(i, j int) { p[i], p[j] = p[j], p[i] })
		counts[p]++
	}
	var list []int
	for _, n := range counts {
		list = append(list, n)
	}
	if len(list) != 24 {
		t.Fatalf("%d permutations, expected 24", len(list))
	}
	chance.Fair(t, "permutations", list, nil)
}

// firsts returns the first output of neighbouring streams: those of small
// seeds, games and plies, which a run is made of.
func firsts(seeds, games, plies int) []uint64 {
	var all []uint64
	for seed := range seeds {
		for game := range games {
			for ply := range plies {
				s := At(Key(uint64(seed), uint64(game)), uint32(ply))
				all = append(all, s.Uint64())
			}
		}
	}
	return all
}

// TestStreamsDiffer: no two keys share their first number, and no two games a
// key.
func TestStreamsDiffer(t *testing.T) {
	all := firsts(32, 64, 64)
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 32*64*64 {
		t.Errorf("%d different first numbers of %d streams", n, 32*64*64)
	}
	seen := make(map[uint64]bool)
	for seed := range uint64(50) {
		for _, purpose := range []string{"deal", "deals", "lead", "play"} {
			for index := range uint64(50) {
				seen[Derive(seed, purpose, index)] = true
			}
		}
	}
	if len(seen) != 50*4*50 {
		t.Errorf("%d different derived seeds of %d", len(seen), 50*4*50)
	}
}

// TestDeriveNeedsAPurpose: without one a derived seed would be a game's key.
func TestDeriveNeedsAPurpose(t *testing.T) {
	mustPanic(t, "no purpose", noPurpose, func() { Derive(1, "", 2) })
}

// TestStreamsAreBalanced: over neighbouring streams each bit is set half the
// time, and differs half the time from the same bit one seed, game or ply on.
func TestStreamsAreBalanced(t *testing.T) {
	const seeds, games, plies = 32, 64, 64
	all := firsts(seeds, games, plies)
	checkBits(t, "first numbers", all)
	for name, step := range map[string]int{"ply": 1, "game": plies, "seed": games * plies} {
		var changed []uint64
		for i := step; i < len(all); i++ {
			changed = append(changed, all[i]^all[i-step])
		}
		checkBits(t, "differences to the next "+name, changed)
	}
}

func checkBits(t *testing.T, what string, words []uint64) {
	t.Helper()
	n := float64(len(words))
	for bit := range 64 {
		set := 0
		for _, w := range words {
			set += int(w >> bit & 1)
		}
		if sigmas := (float64(set) - n/2) / (math.Sqrt(n) / 2); math.Abs(sigmas) > 5.5 {
			t.Errorf("%s: bit %d is set %d times of %d, %.1f standard deviations off", what, bit, set, len(words), sigmas)
		}
	}
}

// TestNeighboursAreIndependent draws from streams that follow each other in
// ply or in game, and looks for a pattern in the pairs.
func TestNeighboursAreIndependent(t *testing.T) {
	const n = 7
	plies, games := make([]int, n*n), make([]int, n*n)
	for i := range uint64(60000) {
		key := Key(4, i)
		a, b, c := At(key, 5), At(key, 6), At(Key(4, i+1), 5)
		x := a.Intn(n)
		plies[x*n+b.Intn(n)]++
		games[x*n+c.Intn(n)]++
	}
	chance.Fair(t, "pairs of plies", plies, nil)
	chance.Fair(t, "pairs of games", games, nil)
}

func BenchmarkIntn(b *testing.B) {
	s := At(1, 1)
	sum := 0
	for b.Loop() {
		sum += s.Intn(60)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/draw")
	_ = sum
}
