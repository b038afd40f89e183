package kernel

import (
	"testing"
)

// TestMisuse checks that a caller's mistakes panic before the assembly, which
// checks nothing.
func TestMisuse(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		const m, k, n = 5, 7, 9
		b := s.NewPanels(k, n)
		x, y, bias := make([]float32, m*k), make([]float32, m*n), make([]float32, n)
		product := func(change func(*Product)) func() {
			p := Product{M: m, A: Rows(x, k, m, k), B: b, C: Rows(y, n, m, n)}
			change(&p)
			return func() { s.Multiply(&p, 0, b.Count()) }
		}
		lists := func(depth, elements int) *Lists {
			l := s.NewLists(1, elements)
			l.Reset(depth)
			return l
		}
		other := *s
		foreign := Panels{set: &other, k: k, n: n, most: k, stride: k, data: NewFloats(4 * k * s.columns)}
		narrow := Panels{set: &Set{columns: 2}, k: m, n: n, most: m, stride: m, data: NewFloats(100)}
		for what, f := range map[string]func(){
			"more rows than A": product(func(p *Product) { p.M = m + 1; p.C = Rows(make([]float32, (m+1)*n), n, m+1, n) }),
			"more rows than C": product(func(p *Product) { p.C = Rows(y[n:], n, m-1, n) }),
			"A too narrow":     product(func(p *Product) { p.A = Rows(x, k-1, m, k-1) }),
			"C too narrow":     product(func(p *Product) { p.C = Rows(y, n-1, m, n-1) }),
			"C of ones":        product(func(p *Product) { p.M, p.C = 1, Ones(100) }),
			"C transposed":     product(func(p *Product) { p.C = s.NewPanels(n, m).Transposed(0) }),
			"C of another set": product(func(p *Product) { p.C = narrow.From(0) }),
			"A of another set": product(func(p *Product) {
				p.A = (&Panels{set: narrow.set, k: m, n: k, most: m, stride: m, data: narrow.data}).From(0)
			}),
			"B of another set":      product(func(p *Product) { p.B = &foreign }),
			"bias too short":        product(func(p *Product) { p.Bias = bias[1:] }),
			"bias and add":          product(func(p *Product) { p.Bias, p.Add = bias, true }),
			"negative rows":         product(func(p *Product) { p.M = -1 }),
			"panels beyond":         func() { s.Multiply(&Product{M: m, A: Rows(x, k, m, k), B: b, C: Rows(y, n, m, n)}, 0, b.Count()+1) },
			"short rows":            func() { Rows(x[1:], k, m, k) },
			"negative stride":       func() { Rows(x, -1, m, k) },
			"stride that overflows": func() { Rows(x, 1<<62, 5, 3) },
			"no rows of panels":     func() { s.NewPanels(0, 1) },
			"panels that overflow":  func() { s.NewPanels(1<<40, 1<<40) },
			"rows from beyond":      func() { b.From(k + 1) },
			"columns inside":        func() { b.Transposed(1) },
			"larger resize":         func() { b.Resize(k + 1) },
			"pack short":            func() { b.Pack(make([]float32, k*n-1), n, 0, b.Count()) },
			"pack negative":         func() { b.Pack(make([]float32, k*n), -1, 0, b.Count()) },
			"pack beyond":           func() { b.Pack(make([]float32, k*n), n, 0, b.Count()+1) },
			"transposed short":      func() { b.PackTransposed(make([]float32, k*n-1), k, 0, b.Count()) },
			"transposed negative":   func() { b.PackTransposed(make([]float32, k*n), -1, 0, b.Count()) },
			"transposed beyond":     func() { b.PackTransposed(make([]float32, k*n), k, -1, b.Count()) },
			"rows beyond":           func() { b.PackRows(make([]float32, k*n), n, 1, k) },
			"negative number":       func() { b.PackRows(make([]float32, k*n), n, 1, -1) },
			"gate beyond":           func() { b.Gate(b, 1, k) },
			"gate by another":       func() { b.Gate(s.NewPanels(k+1, n), 0, k) },
			"lists too deep":        func() { l := lists(k+1, k); l.AppendRow(x[:k]); s.Gather(l, &Product{B: b, C: Rows(y, n, m, n)}, 0, 1) },
			"no room in lists":      func() { lists(k, k-1).AppendRow(x[:k]) },
			"row too long":          func() { lists(k, 2*k).AppendRow(x[:k+1]) },
			"more rows than lists":  func() { l := lists(k, 2*k); l.AppendRow(x[:k]); l.AppendRow(x[:k]) },
			"columns too short":     func() { lists(k, 100).AppendColumns(x[:3], 3, 0, 2, 0, 1) },
			"65 columns":            func() { s.NewLists(65, 100).AppendColumns(make([]float32, 65), 65, 0, 1, 0, 65) },
			"no depth":              func() { lists(0, 1) },
			"update of other sizes": func() { s.Update(&AdamW{}, x, x[1:], x, x) },
		} {
			func() {
				defer func() {
					if v := recover(); v != badShape && v != badLength {
						t.Errorf("%s: %v", what, v)
					}
				}()
				f()
			}()
		}
	})
}
