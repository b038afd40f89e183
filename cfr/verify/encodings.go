package verify

import (
	"fmt"
	"math"

	"vtrain/encode"
	"vtrain/rules/record"
)

// variants are the recorded layouts.
var variants = []struct {
	options  encode.SlotOptions
	recorded func(record.Layouts) []float32
}{
	{encode.SlotOptions{}, func(l record.Layouts) []float32 { return l.D0S0 }},
	{encode.SlotOptions{SlotAware: true}, func(l record.Layouts) []float32 { return l.D0S1 }},
	{encode.SlotOptions{Derived: true}, func(l record.Layouts) []float32 { return l.D1S0 }},
	{encode.SlotOptions{Derived: true, SlotAware: true}, func(l record.Layouts) []float32 { return l.D1S1 }},
}

// encodings compares the player to move, and the observation through each
// layout: the same float32 values throughout.
func (c *checker) encodings(r *Report, rows []*record.Encoding) error {
	lines := make([]line, len(rows))
	for i, e := range rows {
		lines[i] = line{e.Line, e.Games, e.Game, e.Ply}
	}
	states, err := c.states(r, lines)
	if err != nil {
		return err
	}
	for _, b := range batches(r, states, c.pool) {
		checkMovers(r, b, rows)
		for _, v := range variants {
			o := &observations{Report: r, layout: encode.NewSlots(b.cfg, v.options), rows: rows, recorded: v.recorded}
			o.labels = encode.Labels(o.layout.Fields())
			o.scalar(b)
			o.lockstep(b)
		}
	}
	return nil
}

func checkMovers(r *Report, b *batch, rows []*record.Encoding) {
	for i, s := range b.states {
		recorded := rows[s.index].CurrentPlayer
		r.count(s.at, record.Scalar, record.Differs("the player to move", s.game().Player(), recorded))
		if b.games != nil {
			r.count(s.at, record.Lockstep, record.Differs("the player to move", b.games.Player(int32(i)), recorded))
		}
	}
}

// observations compares the observations through one layout.
type observations struct {
	*Report
	layout   *encode.Slots
	labels   []string // [D]
	rows     []*record.Encoding
	recorded func(record.Layouts) []float32
}

func (o *observations) scalar(b *batch) {
	for _, s := range b.states {
		ours := poisoned(o.layout.Width())
		o.layout.ObserveGame(ours, s.game(), o.rows[s.index].Player)
		o.count(s.at, record.Scalar, o.compare(s, ours))
	}
}

// lockstep observes all rows of each player in one call.
func (o *observations) lockstep(b *batch) {
	if b.games == nil {
		return
	}
	d := o.layout.Width()
	for player := range 2 {
		rows := b.rowsOf(func(s *state) bool { return o.rows[s.index].Player == player })
		ours := poisoned(len(rows) * d)
		o.layout.ObserveAs(ours, b.games, player, rows)
		for i, row := range rows {
			s := b.states[row]
			o.count(s.at, record.Lockstep, o.compare(s, ours[i*d:(i+1)*d]))
		}
	}
}

// poisoned returns NaNs: what an encoder leaves unwritten shows as a mismatch.
func poisoned(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(math.NaN())
	}
	return v
}

// compare describes the first feature of an observation that differs.
func (o *observations) compare(s *state, ours []float32) string {
	e := o.rows[s.index]
	recorded := o.recorded(e.Enc)
	own := encode.SlotOrder(s.replay.Hand(e.Player))
	mover := encode.SlotOrder(s.replay.Hand(s.game().Player()))
	at := o.layout.CompareRecorded(ours, recorded, own, mover)
	switch {
	case at < 0:
		return ""
	case at >= min(len(ours), len(recorded)):
		return record.Differs(o.layout.Name()+": number of features", len(ours), len(recorded))
	}
	from := o.layout.RecordedIndex(own, mover)[at]
	what := fmt.Sprintf("%s of player %d: feature %d (%s)", o.layout.Name(), e.Player, at, o.labels[at])
	return record.Differs(what, ours[from], recorded[at])
}
