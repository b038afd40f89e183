package verify

import (
	"fmt"
	"math"

	"vtrain/cfr"
	"vtrain/rules/record"
)

// tolerance is the largest relative difference of probabilities: the recorded
// implementations sum and divide in another order, and differ among themselves
// by the last bits of float32.
const tolerance = 1e-6

// smallestNormal is where float32 begins to lose relative precision.
const smallestNormal = 0x1p-126

// exploration is the share of the uniform policy in the recorded sampling.
const exploration = .05

// policies are those that our code makes of a recorded row, each [A] with 0
// where nothing is legal; nil where the code has no such policy.
type policies struct {
	uniform []float32 // regret matching, uniform fallback
	argmax  []float32 // regret matching, best action as fallback
	softmax []float32
}

// regrets compares the policies of each row, computed for the row's legal
// actions alone, and by cfr.Policy for many rows at once.
func (c *checker) regrets(r *Report, rows []*record.Regret) error {
	r.Lines, r.Tolerance = len(rows), tolerance
	var tables []*table
	of := make(map[int]*table)
	for _, row := range rows {
		t := of[len(row.Advantages)]
		if t == nil {
			t = &table{actions: len(row.Advantages)}
			of[t.actions] = t
			tables = append(tables, t)
		}
		legal := legalOf(row)
		t.rows = append(t.rows, tableRow{row, legal})
		checkFacts(r, row, legal)
		checkPolicies(r, row, legal, record.Scalar, scalarPolicies(row, legal))
	}
	for _, t := range tables {
		if err := t.check(r, c.pool); err != nil {
			return fmt.Errorf("verify: %s, line %d: %w", r.Path, t.rows[0].Line, err)
		}
	}
	return nil
}

func whereOf(row *record.Regret) record.Where { return record.Where{Line: row.Line, Row: row.Kind} }

// legalOf lists the legal actions, ascending.
func legalOf(row *record.Regret) []int32 {
	var legal []int32
	for a, flag := range row.Legal {
		if flag != 0 {
			legal = append(legal, int32(a))
		}
	}
	return legal
}

// compact returns the advantages of the legal actions.
func compact(row *record.Regret, legal []int32) []float32 {
	v := make([]float32, len(legal))
	for i, a := range legal {
		v[i] = row.Advantages[a]
	}
	return v
}

// spread is the inverse of compact, with 0 for other actions.
func spread(policy []float32, legal []int32, actions int) []float32 {
	v := make([]float32, actions)
	for i, a := range legal {
		v[a] = policy[i]
	}
	return v
}

func scalarPolicies(row *record.Regret, legal []int32) policies {
	in, out := compact(row, legal), make([]float32, len(legal))
	match := func(f cfr.Fallback) []float32 {
		cfr.MatchRegrets(out, in, float32(row.Epsilon), f)
		return spread(out, legal, len(row.Advantages))
	}
	p := policies{uniform: match(cfr.Uniform), argmax: match(cfr.Argmax)}
	cfr.Softmax(out, in)
	p.softmax = spread(out, legal, len(row.Advantages))
	return p
}

// checkFacts compares what the recording says of the row itself.
func checkFacts(r *Report, row *record.Regret, legal []int32) {
	at, tied := whereOf(row), 0
	fallback := fallsBack(row, legal, row.Epsilon)
	if fallback {
		tied = tieSize(compact(row, legal))
	}
	r.count(at, record.Scalar, record.Differs("fallback", fallback, row.Fallback))
	r.count(at, record.Scalar, record.Differs("tie size", tied, row.TieSize))
	if row.FullTie { // not every row says so
		r.count(at, record.Scalar, record.Differs("tie size of a full tie", tied, len(legal)))
	}
}

// fallsBack reports whether regret matching leaves a row to the fallback. One
// more action without regret changes no sum, and gets a share of the uniform
// fallback only.
func fallsBack(row *record.Regret, legal []int32, epsilon float64) bool {
	in := append(compact(row, legal), -1)
	out := make([]float32, len(in))
	cfr.MatchRegrets(out, in, float32(epsilon), cfr.Uniform)
	return out[len(legal)] > 0
}

// tieSize returns how many values equal the largest.
func tieSize(v []float32) int {
	top, n := float32(math.Inf(-1)), 0
	for _, x := range v {
		if x > top {
			top, n = x, 0
		}
		if x == top {
			n++
		}
	}
	return n
}

// checkPolicies compares the policies that the code has.
func checkPolicies(r *Report, row *record.Regret, legal []int32, code string, ours policies) {
	for _, p := range []struct {
		name           string
		ours, recorded []float32
	}{
		{"cython_uniform", ours.uniform, row.CythonUniform},
		{"py_uniform", ours.uniform, row.PyUniform},
		{"py_argmax", ours.argmax, row.PyArgmax},
		{"sampling_eps005_of_uniform", mix(ours.uniform, legal), row.Sampling},
		{"masked_softmax", ours.softmax, row.Softmax},
	} {
		if p.ours != nil {
			r.count(whereOf(row), code, comparePolicy(p.name, p.ours, p.recorded))
		}
	}
}

// mix returns the policy that explores: ε/|legal| + (1-ε)·σ.
func mix(sigma []float32, legal []int32) []float32 {
	if sigma == nil {
		return nil
	}
	v := make([]float32, len(sigma))
	for _, a := range legal {
		v[a] = cfr.Explore(sigma[a], exploration, len(legal))
	}
	return v
}

// comparePolicy describes the first probability that differs. The comparison
// is written so that NaN differs from everything.
func comparePolicy(name string, ours, recorded []float32) string {
	for a, want := range recorded {
		got := ours[a]
		if !(math.Abs(float64(got)-float64(want)) <= tolerance*max(math.Abs(float64(want)), smallestNormal)) {
			return record.Differs(fmt.Sprintf("%s of action %d", name, a), got, want)
		}
	}
	return ""
}
