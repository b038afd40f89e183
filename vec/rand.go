package vec

import "math/bits"

// Random numbers are a function of where they are used, not of when: each
// (seed, game, ply) names a stream, and a stream is the SplitMix64 sequence
// (Steele, Lea, Flood 2014) that starts at a hash of those three. So the same
// game draws the same cards whichever batch, order or worker plays it.

const golden = 0x9e3779b97f4a7c15 // 2^64 / golden ratio, SplitMix64's increment

// mix64 is SplitMix64's output function, a bijection of 64-bit words.
func mix64(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Derive returns an independent seed for one purpose of a run, such as the
// deals of iteration 7. Different (seed, purpose, index) give unrelated seeds.
// Without a purpose it would be the Key of game index, so "" panics.
func Derive(seed uint64, purpose string, index uint64) uint64 {
	if purpose == "" {
		panic(noPurpose)
	}
	h := seed
	for i := 0; i < len(purpose); i++ {
		h = mix64(h+golden) ^ uint64(purpose[i])
	}
	return mix64(mix64(h+golden) + index*golden)
}

// Key identifies all streams of one game: a hash of seed and game.
func Key(seed, game uint64) uint64 {
	return mix64(mix64(seed+golden) + game*golden)
}

// A Stream is the random numbers of one (seed, game, ply). It is a value:
// copying it forks the sequence. The zero Stream is valid but belongs to no
// game.
type Stream struct{ state uint64 }

// At returns the stream of one ply of the game with the given Key.
func At(key uint64, ply uint32) Stream {
	return Stream{mix64(key ^ uint64(ply)*0xd1342543de82ef95)}
}

// Uint64 returns the next 64 random bits.
func (s *Stream) Uint64() uint64 {
	s.state += golden
	return mix64(s.state)
}

// Intn returns a uniform integer in [0, n), without modulo bias (Lemire 2019).
// It panics unless 0 < n < 2^32.
func (s *Stream) Intn(n int) int {
	if uint64(n)-1 >= 1<<32-1 {
		panic(badRange)
	}
	hi, lo := bits.Mul64(s.Uint64(), uint64(n))
	if lo < uint64(n) {
		hi = s.reject(hi, lo, uint64(n))
	}
	return int(hi)
}

// reject redraws while the fraction lies in the short interval that would
// favour small results. For the small n of a game it hardly ever runs, so it
// stays out of Intn, which is inlined.
func (s *Stream) reject(hi, lo, n uint64) uint64 {
	for threshold := -n % n; lo < threshold; {
		hi, lo = bits.Mul64(s.Uint64(), n)
	}
	return hi
}

// Float32 returns a uniform multiple of 2^-24 in [0, 1).
func (s *Stream) Float32() float32 {
	return float32(s.Uint64()>>40) * (1.0 / (1 << 24))
}

// Float64 returns a uniform multiple of 2^-53 in [0, 1).
func (s *Stream) Float64() float64 {
	return float64(s.Uint64()>>11) * (1.0 / (1 << 53))
}

// Shuffle permutes n items uniformly (Fisher-Yates).
func (s *Stream) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, s.Intn(i+1))
	}
}
