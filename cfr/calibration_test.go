package cfr

import (
	"math"
	"slices"
	"testing"

	"vtrain/cfr/internal/kuhn"
	"vtrain/encode"
	"vtrain/nets"
	"vtrain/rules"
	"vtrain/vec"
)

// TestCalibration: the same seed gives the same rows on any pool, all of them
// observations, of all plies.
func TestCalibration(t *testing.T) {
	cfg := rules.MustPreset("tiny")
	cfg.MaxTurns = 50
	layout := encode.NewCards(cfg)
	pool := vec.NewPool(3)
	defer pool.Close()
	alone, pooled := encode.NewBatch(layout, nil), encode.NewBatch(layout, pool)
	for _, view := range []vec.View{vec.Information, vec.History} {
		x := Calibration(alone, view, nets.Int8, 1)
		if len(x) != calibrationRows*alone.Width(view) {
			t.Fatalf("%d numbers", len(x))
		}
		if !slices.Equal(x, Calibration(pooled, view, nets.Int8, 1)) {
			t.Error("the pool shows")
		}
		if slices.Equal(x, Calibration(alone, view, nets.Int8, 2)) {
			t.Error("another seed gives the same rows")
		}
		for r := range calibrationRows {
			if row := x[r*alone.Width(view) : (r+1)*alone.Width(view)]; !slices.ContainsFunc(row, func(v float32) bool { return v != 0 }) {
				t.Fatalf("row %d observes nothing", r)
			}
		}
	}
	if Calibration(alone, vec.Information, nets.Float32, 1) != nil {
		t.Error("float32 is calibrated")
	}
}

// TestCalibrationIsEven counts the decisions that rows were taken from, in a
// game of two or three plies.
func TestCalibrationIsEven(t *testing.T) {
	b := kuhn.NewBatch()
	x := Calibration(b, vec.Information, nets.Int8, 3)
	w := b.Width(vec.Information)
	counts := make([]float64, w)
	for i, v := range x {
		counts[i%w] += float64(v)
	}
	// The first features tell the four histories, the others the three cards.
	cards := counts[w-3:]
	for i, n := range cards {
		if math.Abs(n-calibrationRows/3.) > 4*math.Sqrt(calibrationRows*2./9) {
			t.Errorf("card %d is held in %v of %d rows", i, n, calibrationRows)
		}
	}
	for i, n := range counts[:w-3] {
		if n < 50 {
			t.Errorf("history %d is that of %v rows", i, n)
		}
	}
}

// TestInt8Learns trains in int8: the policies are those of the same networks in
// float32, nearly.
func TestInt8Learns(t *testing.T) {
	l, err := NewLearner(kuhn.NewBatch(), Nets{Hidden: []int{64, 64}, Precision: nets.Int8}, DefaultMemory(), kuhnOptions(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	iterate(t, l, 10)
	exact := newKuhn(t, kuhnOptions(), nil)
	if err := exact.Restore(l.State()); err != nil {
		t.Fatal(err)
	}
	same := true
	for _, k := range [][2]func(int, uint64) (*Policy, error){{l.Average, exact.Average}, {l.Current, exact.Current}} {
		got, want := strategyOf(t, k[0]), strategyOf(t, k[1])
		for h := range got {
			for card := range got[h] {
				if math.Abs(got[h][card]-want[h][card]) > 0.03 {
					t.Errorf("history %d, card %d: bets with %.3f, in float32 %.3f", h, card, got[h][card], want[h][card])
				}
				same = same && got[h][card] == want[h][card]
			}
		}
	}
	if same {
		t.Error("the policies are not in int8")
	}
}

// menu is a game to watch players by: they take turns for 20 plies, or for 80
// in every other game, with all dishes to choose from, or the first half of
// them in every other turn. A row observes its number and its ply.
type menu struct {
	vec.Batch // nil: nothing else is asked for
	finished  []uint8
	plies     []uint32
	keys      []uint64
	taken     [][]int32 // [B][plies]
}

const dishes = 10

func (m *menu) New() vec.Batch     { return m }
func (m *menu) Rows() int          { return len(m.keys) }
func (m *menu) Actions() int       { return dishes }
func (m *menu) Width(vec.View) int { return 2 }
func (m *menu) Finished() []uint8  { return m.finished }
func (m *menu) Plies() []uint32    { return m.plies }
func (m *menu) GameKeys() []uint64 { return m.keys }

func (m *menu) Deal(n int, seed, first uint64) {
	m.finished, m.plies, m.keys, m.taken = make([]uint8, n), make([]uint32, n), make([]uint64, n), make([][]int32, n)
	for b := range m.keys {
		m.keys[b] = vec.Key(seed, first+uint64(b))
	}
}

func (m *menu) ToMove(dst []uint8, rows []int32) {
	for i, b := range rows {
		dst[i] = uint8(m.plies[b] % 2)
	}
}

func (m *menu) Legal(dst []uint64, rows []int32) {
	for i, b := range rows {
		dst[i] = 1<<dishes - 1
		if m.plies[b]/2%2 == 1 {
			dst[i] = 1<<(dishes/2) - 1
		}
	}
}

func (m *menu) Observe(dst []float32, _ vec.View, rows []int32) {
	for i, b := range rows {
		dst[2*i], dst[2*i+1] = float32(b), float32(m.plies[b])
	}
}

func (m *menu) Step(rows, actions []int32) {
	for i, b := range rows {
		m.taken[b] = append(m.taken[b], actions[i])
		if m.plies[b]++; int(m.plies[b]) == m.length(int(b)) {
			m.finished[b] = 1
		}
	}
}

func (m *menu) length(game int) int { return 20 + 60*(game%2) }

// favourite returns what a player took most often, of all dishes or of the
// first half, and in which share of his turns.
func (m *menu) favourite(game, player int, half bool) (dish int, share float64) {
	var counts [dishes]float64
	turns := 0.0
	for ply, a := range m.taken[game] {
		if ply%2 == player && ply/2%2 == 1 == half {
			counts[a]++
			turns++
		}
	}
	for a, n := range counts {
		if n > counts[dish] {
			dish = a
		}
	}
	return dish, counts[dish] / turns
}

// chiSquare returns the statistic of counts that should be equal.
func chiSquare(counts []int) float64 {
	sum, stat := 0, 0.0
	for _, n := range counts {
		sum += n
	}
	want := float64(sum) / float64(len(counts))
	for _, n := range counts {
		stat += (float64(n) - want) * (float64(n) - want) / want
	}
	return stat
}

// unlikely is the chi-square of ten counts that chance exceeds once in 10000.
const unlikely = 33.7

// TestCalibrationTastes: a player takes the same favourite throughout a game,
// one of the whole menu that remains his if it is cut; players have their own,
// in each game, and all dishes are favoured alike.
func TestCalibrationTastes(t *testing.T) {
	m := &menu{}
	Calibration(m, vec.Information, nets.Int8, 4)
	favoured := make([]int, dishes)
	games, cuts, agree, kept := 0., 0., 0., 0.
	shares := [2]float64{}
	for b := 1; b < calibrationRows; b += 2 { // the long games
		var first [2]int
		for player := range first {
			dish, share := m.favourite(b, player, false)
			again, halfShare := m.favourite(b, player, true)
			first[player] = dish
			favoured[dish]++
			shares[0] += share / calibrationRows
			shares[1] += halfShare / calibrationRows
			if dish < dishes/2 {
				cuts++
				if again == dish {
					kept++
				}
			}
		}
		games++
		if first[0] == first[1] {
			agree++
		}
	}
	for i, want := range []float64{0.5 + 0.5/dishes, 0.5 + 1./dishes} {
		if math.Abs(shares[i]-want) > 0.02 {
			t.Errorf("menu %d: favourites are %.3f of what is taken, want %.3f", i, shares[i], want)
		}
	}
	if share := agree / games; math.Abs(share-1./dishes) > 0.05 {
		t.Errorf("both players have the same favourite in %.3f of the games", share)
	}
	if share := kept / cuts; share < 0.98 {
		t.Errorf("%.3f of the favourites stay so when the menu is cut", share)
	}
	if stat := chiSquare(favoured); stat > unlikely {
		t.Errorf("favourites are %v, chi-square %.1f", favoured, stat)
	}
}

// TestCalibrationTakesOneOfEachGame: any decision, whatever the length.
func TestCalibrationTakesOneOfEachGame(t *testing.T) {
	m := &menu{}
	x := Calibration(m, vec.Information, nets.Int8, 5)
	var counts [2][]int
	for i := range counts {
		counts[i] = make([]int, 10)
	}
	for b := range calibrationRows {
		if x[2*b] != float32(b) {
			t.Fatalf("row %d is of game %v", b, x[2*b])
		}
		counts[b%2][int(x[2*b+1])*10/m.length(b)]++
	}
	for i, c := range counts {
		if stat := chiSquare(c); stat > unlikely {
			t.Errorf("games of %d plies give their tenths %v times, chi-square %.1f", m.length(i), c, stat)
		}
	}
}
