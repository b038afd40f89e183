package kernel

import "math"

// Int8Panels is the right factor of products of bytes: a matrix of K rows and
// N columns in whole steps of a size for each column, and what turns sums into
// results. Four rows of a column lie together, and columns are cut into panels.
type Int8Panels struct {
	set         *Set
	kernel      int8Kernel
	k, n        int
	depth       int       // k in whole groups
	data        []int8    // [panel,depth/4,columns,4]
	scale, bias []float32 // [panel,columns]: of the results; 0 beyond n
}

// NewInt8Panels returns panels for matrices of k rows and n columns.
func (s *Set) NewInt8Panels(k, n int) *Int8Panels {
	if k < 1 || k > Int8MaxDepth || n < 1 {
		panic(badShape)
	}
	p := &Int8Panels{set: s, kernel: s.int8(), k: k, n: n, depth: (k + int8Group - 1) / int8Group * int8Group}
	columns := p.Count() * p.kernel.columns
	p.data = bytesOf[int8](NewFloats(columns * p.depth / 4))
	p.scale, p.bias = NewFloats(columns), NewFloats(columns)
	return p
}

// Count returns the number of panels.
func (p *Int8Panels) Count() int { return (p.n + p.kernel.columns - 1) / p.kernel.columns }

// panel returns panel j.
func (p *Int8Panels) panel(j int) []int8 {
	size := p.depth * p.kernel.columns
	return p.data[j*size : (j+1)*size]
}

// An Int8Layer is what panels are packed from.
type Int8Layer struct {
	Weight, Bias []float32 // [K,N], [N]
	In           []float32 // [K]: what a step of each input is worth

	// [N]: what a step of each result is to be worth; nil for products that
	// give float32.
	Out []float32
}

// Pack sets the panels [lo,hi) to those of a layer. It reports whether they can
// compute it: not if anything isn't finite.
//
// The steps of a column are the smallest for which no weight is more than 127
// of them, and no sum of products that AVX2 keeps in 16 bits overflows. The
// second hardly ever costs much: of the eight weights in a sum, positive and
// negative ones count apart, and few are near the largest.
func (p *Int8Panels) Pack(l *Int8Layer, lo, hi int) bool {
	if len(l.Weight) != p.k*p.n || len(l.Bias) != p.n || len(l.In) != p.k || l.Out != nil && len(l.Out) != p.n {
		panic(badLength)
	}
	finite := true
	for j := lo; j < hi; j++ {
		finite = p.pack(l, j) && finite
	}
	return finite
}

// maxInt8Columns is the most columns of a panel.
const maxInt8Columns = 32

// pack packs one panel.
func (p *Int8Panels) pack(l *Int8Layer, j int) bool {
	first := j * p.kernel.columns
	width := min(p.kernel.columns, p.n-first)
	var steps [maxInt8Columns]float32
	p.measure(steps[:width], l, first)
	finite := true
	for c := range width {
		scale := float32(0)
		if steps[c] > 0 {
			scale = 1 / steps[c]
		}
		bias := l.Bias[first+c]
		if l.Out != nil {
			scale /= l.Out[first+c]
			bias /= l.Out[first+c]
		}
		p.scale[first+c], p.bias[first+c] = scale, bias
		// Any sum times the scale must be finite, too.
		finite = finite && steps[c] >= 0 && isFinite(scale*math.MaxInt32) && isFinite(bias)
	}
	p.round(steps[:width], l, j)
	return finite
}

func isFinite(v float32) bool { return v-v == 0 }

// headroom is the sum of weights, in steps, whose products with inputs fit 16
// bits, less what rounding half a group can add.
const headroom = math.MaxInt16/Int8Steps - int8Group/4

// tiny bounds the weights, times the worth of their inputs, of a column that
// counts as zero: steps of it would not be normal numbers.
const tiny = 1e-30

// measure sets steps to the steps in a unit of weight of each column: 0 for a
// column of zeros, NaN if something isn't finite.
func (p *Int8Panels) measure(steps []float32, l *Int8Layer, first int) {
	var largest [maxInt8Columns]float32
	var sums [2][2][maxInt8Columns]float32 // [of a half of the group][negative]
	var worst [maxInt8Columns]float32
	for k := range p.k {
		half := &sums[k/2%2]
		row := l.Weight[k*p.n+first:][:len(steps)]
		for c, w := range row {
			v := float32(w * l.In[k])
			largest[c] = max(largest[c], v, -v)
			half[0][c] += max(v, 0)
			half[1][c] += max(-v, 0)
		}
		if k%int8Group == int8Group-1 || k == p.k-1 {
			for i := range 4 {
				for c, v := range sums[i/2][i%2][:len(steps)] {
					worst[c] = max(worst[c], v)
				}
			}
			sums = [2][2][maxInt8Columns]float32{}
		}
	}
	for c := range steps {
		switch top := largest[c]; {
		case !isFinite(top) || !isFinite(worst[c]):
			steps[c] = float32(math.NaN())
		case top < tiny:
			steps[c] = 0
		default:
			steps[c] = min(127/top, headroom/worst[c])
		}
	}
}

// round sets the weights of a panel.
func (p *Int8Panels) round(steps []float32, l *Int8Layer, j int) {
	data, columns := p.panel(j), p.kernel.columns
	for k := range p.k {
		row := l.Weight[k*p.n+j*columns:][:len(steps)]
		at := k/int8Quad*columns*int8Quad + k%int8Quad
		for c, w := range row {
			v := float32(w * l.In[k])
			data[at+c*int8Quad] = int8(math.RoundToEven(float64(v * steps[c])))
		}
	}
}
