package encode

import (
	"math/bits"

	"vtrain/rules"
)

// slotTables are what rows of a slots layout are put together from. Each
// quotient is computed once, as the oracle does, and rows look it up without a
// branch: what games hold is hard to predict.
type slotTables struct {
	wagerSet  uint16           // the wagers of a colour
	numberSet uint16           // its numbers
	sets      []slotSet        // [2^K] of one colour
	slotCards []slotCard       // [C·K] by colour and bit of its set
	aware     [16]awareness    // by slotSet.state + slotCard.wager + whether the card fits
	tops      [][18]pileTop    // [C] by 1 + the rank of the pile's top, 0 if it is empty
	fitting   [17][2]float32   // the derived features of a top that fits, by rank, 0 for others
	cardsOf   []float32        // [K+1] scaled cards of a colour
	deckOf    []deckSize       // [cards+1]
	eight     *[256][8]float32 // the features that a byte stands for

	size   int // K, the cards of a colour
	inWord int // colours whose sets fit a word side by side
}

type (
	awareness [perAware]float32
	pileTop   [perPile]float32 // the first is left for the pile's size
	deckSize  struct{ whole, half float32 }
)

// A slotSet is what is looked up of a set of cards of one colour; it fills a
// line of the cache.
type slotSet struct {
	exp     [perExp]float32 // features of an expedition of these cards
	played  [6]float32      // derived ones
	held    [2]float32      // derived ones of a hand: its cards and wagers
	numbers float32         // scaled count
	faces   float32         // scaled sum
	points  int32           // of the expedition
	fits    uint16          // the cards that the expedition can take
	state   uint8           // of the expedition: 0 unopened, 4 only wagers, 8 numbers
}

// A slotCard is a card of a hand.
type slotCard struct {
	features [perSlot]float32
	color    uint8
	wager    uint8 // 2 for a wager, else 0
}

// ratio is a feature of the form x out of most.
func ratio(x, most int) float32 { return float32(x) / float32(most) }

func (s *Slots) setTables() {
	t, size := rules.NewTables(s.cfg), s.cfg.PerColor()
	s.size, s.inWord = size, 64/size
	s.wagerSet = uint16(1<<s.cfg.Wagers - 1)
	s.numberSet = uint16(1<<size-1) &^ s.wagerSet
	s.sets = make([]slotSet, 1<<size)
	for i := range s.sets {
		s.sets[i] = s.newSet(t, uint16(i))
	}
	for n := range size + 1 {
		s.cardsOf = append(s.cardsOf, ratio(n, size))
	}
	for n := range s.cfg.Cards() + 1 {
		s.deckOf = append(s.deckOf, deckSize{whole: ratio(n, s.cfg.Cards()), half: ratio(n, 2*s.cfg.Cards())})
	}
	s.eight = newEight()
	s.setCards()
	s.setAware()
	s.setTops()
}

func (s *Slots) newSet(t *rules.Tables, set uint16) slotSet {
	cards, wagers, faces, top := bits.OnesCount16(set), t.WagerCount(set), t.FaceSum(set), t.TopRank(set)
	size, numbers := s.size, bits.OnesCount16(t.Numbers(set))
	ofWagers := ratio(wagers, max(1, s.cfg.Wagers))
	return slotSet{
		exp: [...]float32{ratio(cards, size), ratio(top, s.cfg.Ranks), ofWagers, ratio(int(t.SetScore(set)), s.points)},
		played: [...]float32{float32(flag(cards == 0)), float32(flag(cards > 0 && numbers == 0)),
			ratio(faces, s.faceSum), ofWagers, ratio(cards, size), ratio(top, s.faceSum)},
		held:    [...]float32{ratio(cards, size), ofWagers},
		numbers: ratio(numbers, size),
		faces:   ratio(faces, s.faceSum),
		points:  t.SetScore(set),
		fits:    t.Fits(s.wagerSet|s.numberSet, set),
		state:   uint8(4 * (flag(cards > 0) + flag(numbers > 0))),
	}
}

func (s *Slots) setCards() {
	for color := range s.cfg.Colors {
		for bit := range s.size {
			rank := max(0, bit-s.cfg.Wagers+1)
			s.slotCards = append(s.slotCards, slotCard{
				features: [...]float32{1, ratio(color+1, s.cfg.Colors), ratio(rank, s.cfg.Ranks)},
				color:    uint8(color),
				wager:    uint8(2 * flag(rank == 0)),
			})
		}
	}
}

func (s *Slots) setAware() {
	for i := range s.aware {
		unopened, opened := i>>2 == 0, i>>2 == 2
		wager, fits := i&2 != 0, i&1 != 0
		for k, set := range []bool{
			fits && !opened,
			fits && !opened && !wager,
			fits && unopened && wager,
			fits && opened,
			!fits && !wager,
			fits && wager,
		} {
			s.aware[i][k] = float32(flag(set))
		}
	}
}

func (s *Slots) setTops() {
	s.tops = make([][18]pileTop, s.cfg.Colors)
	for rank := range s.cfg.Ranks + 1 {
		for color := range s.tops {
			s.tops[color][1+rank] = pileTop{0, 1, ratio(color+1, s.cfg.Colors), ratio(rank, s.cfg.Ranks)}
		}
		if rank > 0 {
			s.fitting[rank] = [...]float32{1, ratio(s.cfg.Face(rank), s.faceSum)}
		}
	}
}
