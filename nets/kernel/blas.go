package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// BLAS is gonum's BLAS with the products of float32 matrices on a Set. Hand it
// to blas32.Use, gorgonia.Use or tensor.Use, and whoever calls them has these
// kernels. Large products run on all cores; their bits don't depend on how many.
type BLAS struct {
	gonum.Implementation
	set   *Set
	spare *sync.Pool // of *workspace
}

// workspace is what a call packs its factors into.
type workspace struct{ left, right *Panels }

// BLAS returns the implementation on this set.
func (s *Set) BLAS() BLAS {
	return BLAS{set: s, spare: &sync.Pool{New: func() any { return new(workspace) }}}
}

// The parts that B and A are packed in: they bound the memory of a call.
const (
	blasDepth   = 512
	blasColumns = 1024
	blasRows    = 256
)

// Sgemm computes C = beta·C + alpha·op(A)·op(B), for op(A) [m,k], op(B) [k,n]
// and C [m,n]. Its arguments and panics are those of gonum.
func (b BLAS) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, bm []float32, ldb int, beta float32, c []float32, ldc int) {
	// Gonum checks the arguments, and returns from a product that adds nothing.
	b.Implementation.Sgemm(tA, tB, m, n, k, 0, a, lda, bm, ldb, 1, c, ldc)
	if m == 0 || n == 0 {
		return
	}
	for i := range m {
		scale(c[i*ldc:i*ldc+n], beta)
	}
	if k == 0 || alpha == 0 {
		return
	}
	w := b.spare.Get().(*workspace)
	defer b.spare.Put(w)
	left := factor{a, lda, 1}
	if tA != blas.NoTrans {
		left = factor{a, 1, lda}
	}
	right := factor{bm, ldb, 1}
	if tB != blas.NoTrans {
		right = factor{bm, 1, ldb}
	}
	for j := 0; j < n; j += blasColumns {
		columns := min(blasColumns, n-j)
		for l := 0; l < k; l += blasDepth {
			depth := min(blasDepth, k-l)
			panels := w.packRight(b.set, right.from(l, j), depth, columns, alpha)
			b.multiply(panels, left.from(0, l), m, c[j:], ldc)
		}
	}
}

// worthSharing is the multiplications of a product above which other cores
// help.
const worthSharing = 1 << 20

// multiply adds A·B to C for a packed B, in blocks of rows.
func (b BLAS) multiply(panels *Panels, left factor, m int, c []float32, ldc int) {
	workers, rows := 1, blasRows
	if m*panels.n*panels.k > worthSharing {
		workers = runtime.GOMAXPROCS(0)
		share := (m + workers - 1) / workers
		rows = min(blasRows, (share+b.set.rows-1)/b.set.rows*b.set.rows)
	}
	var next atomic.Int64
	work := func() {
		w := b.spare.Get().(*workspace)
		defer b.spare.Put(w)
		for i := int(next.Add(1)-1) * rows; i < m; i = int(next.Add(1)-1) * rows {
			n := min(rows, m-i)
			p := Product{M: n, A: w.packLeft(b.set, left.from(i, 0), n, panels.k), B: panels, C: Rows(c[i*ldc:], ldc, n, panels.n), Add: true}
			b.set.Multiply(&p, 0, panels.Count())
		}
	}
	var others sync.WaitGroup
	for range min(workers, (m+rows-1)/rows) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

// scale multiplies by beta, where zero overwrites what isn't finite.
func scale(row []float32, beta float32) {
	switch beta {
	case 1:
	case 0:
		clear(row)
	default:
		for i := range row {
			row[i] *= beta
		}
	}
}

// A factor is a matrix by the distances between its rows and its columns.
type factor struct {
	data        []float32
	row, column int
}

// from returns the part that starts at an element.
func (f factor) from(i, j int) factor {
	return factor{f.data[i*f.row+j*f.column:], f.row, f.column}
}

// packRight packs the right factor times alpha.
func (w *workspace) packRight(s *Set, f factor, k, n int, alpha float32) *Panels {
	w.right = s.reuse(w.right, k, n)
	if f.column == 1 {
		w.right.Pack(f.data, f.row, 0, w.right.Count())
	} else {
		w.right.PackTransposed(f.data, f.column, 0, w.right.Count())
	}
	for j := range w.right.Count() {
		scale(w.right.panel(j)[:k*s.columns], alpha)
	}
	return w.right
}

// packLeft returns the left factor, packed if its rows lie across memory.
func (w *workspace) packLeft(s *Set, f factor, m, k int) Matrix {
	if f.column == 1 {
		return Rows(f.data, f.row, m, k)
	}
	w.left = s.reuse(w.left, k, m)
	w.left.PackRows(f.data, f.column, 0, k)
	return w.left.Transposed(0)
}

// reuse returns panels of another size, in the same memory if it is enough.
func (s *Set) reuse(p *Panels, k, n int) *Panels {
	stride := s.spread(k)
	size := s.panels(n) * s.columns * stride
	if p == nil || cap(p.data) < size {
		return s.NewPanels(k, n)
	}
	p.k, p.n, p.most, p.stride, p.data = k, n, k, stride, p.data[:size]
	return p
}

var _ blas.Float32 = BLAS{}
