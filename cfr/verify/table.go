package verify

import (
	"vtrain/cfr"
	"vtrain/nets"
	"vtrain/rules/record"
	"vtrain/vec"
)

// A table shows recorded rows to a cfr.Policy as if they were information
// states: a row is observed as its advantages. Only what a policy asks for is
// there; it never steps a game.
type table struct {
	vec.Batch
	rows    []tableRow
	actions int
}

type tableRow struct {
	*record.Regret
	legal []int32
}

// Actions implements vec.Batch.
func (t *table) Actions() int { return t.actions }

// Width implements vec.Batch.
func (t *table) Width(vec.View) int { return t.actions }

// Legal implements vec.Batch.
func (t *table) Legal(dst []uint64, rows []int32) {
	clear(dst)
	w := vec.MaskWords(t.actions)
	for i, b := range rows {
		for _, a := range t.rows[b].legal {
			vec.MaskSet(dst[i*w:(i+1)*w], int(a))
		}
	}
}

// Observe implements vec.Batch.
func (t *table) Observe(dst []float32, _ vec.View, rows []int32) {
	for i, b := range rows {
		copy(dst[i*t.actions:(i+1)*t.actions], t.rows[b].Advantages)
	}
}

// check compares the policies of all rows.
func (t *table) check(r *Report, pool *vec.Pool) error {
	if t.actions == 0 {
		return nil // a network without outputs can't be made
	}
	uniform, err := t.probabilities(cfr.Matching, cfr.Uniform, pool)
	if err != nil {
		return err
	}
	argmax, err := t.probabilities(cfr.Matching, cfr.Argmax, pool)
	if err != nil {
		return err
	}
	softmax, err := t.probabilities(cfr.Logits, cfr.Uniform, pool)
	if err != nil {
		return err
	}
	for i, row := range t.rows {
		lo, hi := i*t.actions, (i+1)*t.actions
		p := policies{softmax: softmax[lo:hi]}
		if matchable(row) {
			p.uniform, p.argmax = uniform[lo:hi], argmax[lo:hi]
		}
		checkPolicies(r, row.Regret, row.legal, record.Lockstep, p)
	}
	return nil
}

// matchable reports whether regret matching by a policy, whose epsilon is 0,
// must agree with the row's: whether the fallback decides in both or neither.
func matchable(row tableRow) bool {
	return fallsBack(row.Regret, row.legal, row.Epsilon) == fallsBack(row.Regret, row.legal, 0)
}

// probabilities returns the policy of each row, [len(rows),A], by a network
// that returns its input unchanged: each sum has one term that is not 0.
func (t *table) probabilities(head cfr.Head, fallback cfr.Fallback, pool *vec.Pool) ([]float32, error) {
	shape := nets.MLP{t.actions, t.actions}
	if err := shape.Validate(); err != nil {
		return nil, err
	}
	params := shape.NewParams()
	weight, _ := shape.Layer(params, 0)
	for a := range t.actions {
		weight[a*t.actions+a] = 1
	}
	p, err := cfr.NewPolicy(shape, params, nets.Float32, nil, head, fallback, len(t.rows), 0, pool)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	policy := poisoned(len(t.rows) * t.actions)
	p.Probabilities(policy, t, vec.AllRows(nil, len(t.rows)))
	return policy, nil
}
