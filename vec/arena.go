package vec

import (
	"fmt"
	"reflect"
	"unsafe"

	"gorgonia.org/tensor"
)

// A Column is one field of many rows: Data is [B,W], row-major, so that a row
// is contiguous and copying it touches one or two cache lines.
// docs/decisions/0001-row-major-columns.md has the measurement behind it.
type Column[T Element] struct {
	Data []T // [B,W]
	W    int // values a row
}

// Element is what a column may hold.
type Element interface {
	~uint8 | ~int8 | ~uint16 | ~int16 | ~uint32 | ~int32 | ~uint64 | ~int64 | ~float32 | ~float64
}

// Row returns row b. It shares the column's memory.
func (c *Column[T]) Row(b int32) []T {
	i := int(b) * c.W
	return c.Data[i : i+c.W : i+c.W]
}

// Tensor returns the column as a tensor of shape [B,W], or [B] where W is 1.
// It shares the column's memory, and stays valid until the arena grows. The
// element type must be one of Go's own, not a named one.
func (c *Column[T]) Tensor() *tensor.Dense {
	rows := len(c.Data) / c.W
	shape := tensor.WithShape(rows, c.W)
	if c.W == 1 {
		shape = tensor.WithShape(rows)
	}
	return tensor.New(shape, tensor.WithBacking(c.Data))
}

func (c *Column[T]) resize(rows, limit int) { c.Data = growWithin(c.Data, rows*c.W, limit*c.W) }

func (c *Column[T]) data() (values any, w int) { return c.Data, c.W }

func (c *Column[T]) bytes() int {
	var zero T
	return c.W * int(unsafe.Sizeof(zero))
}

func (c *Column[T]) copyRun(to int, from column, row, n int) {
	src := c.like(from)
	copy(c.Data[to*c.W:(to+n)*c.W], src.Data[row*c.W:(row+n)*c.W])
}

func (c *Column[T]) copyRows(to places, from column, rows []int32) {
	src := c.like(from)
	if c.W == 1 {
		for i, r := range rows {
			c.Data[to.of(i)] = src.Data[r]
		}
		return
	}
	for i, r := range rows {
		copy(c.Row(int32(to.of(i))), src.Row(r))
	}
}

func (c *Column[T]) mustMatch(from column) { c.like(from) }

// like returns the other column, which must be of the same type and width.
func (c *Column[T]) like(from column) *Column[T] {
	src, ok := from.(*Column[T])
	if !ok || src.W != c.W {
		panic(badColumn)
	}
	return src
}

// places are the rows that copies go to: at, or without it first, first+1, ….
type places struct {
	first int
	at    []int32
}

func (p places) of(i int) int {
	if p.at != nil {
		return int(p.at[i])
	}
	return p.first + i
}

// from returns the places from the i-th on.
func (p places) from(i int) places {
	if p.at != nil {
		return places{at: p.at[i:]}
	}
	return places{first: p.first + i}
}

// run returns how many of the first rows are consecutive, and go to places that
// are.
func (p places) run(rows []int32) int {
	n := 1
	for n < len(rows) && rows[n] == rows[n-1]+1 && (p.at == nil || p.at[n] == p.at[n-1]+1) {
		n++
	}
	return n
}

// A Field is a column as a value: what is needed to store it elsewhere.
type Field struct {
	Name string
	W    int
	Data any // []uint8, []uint16, …: [B,W], sharing the column's memory
}

// Set copies the values of another field of the same name, type and shape.
func (f Field) Set(src Field) error {
	if f.Name != src.Name || f.W != src.W {
		return fmt.Errorf("column is %s of width %d, expected %s of width %d", src.Name, src.W, f.Name, f.W)
	}
	from, to := reflect.ValueOf(src.Data), reflect.ValueOf(f.Data)
	if from.Type() != to.Type() || from.Len() != to.Len() {
		return fmt.Errorf("column %s is %d values of type %v, expected %d of %v", f.Name, from.Len(), from.Type(), to.Len(), to.Type())
	}
	reflect.Copy(to, from)
	return nil
}

// column is a Column of any element type.
type column interface {
	data() (values any, w int)
	resize(rows, limit int)
	bytes() int
	mustMatch(from column)
	copyRun(to int, from column, row, n int)
	copyRows(to places, from column, rows []int32)
}

// An Arena keeps columns of equal length. Its memory only ever grows, at least
// twofold unless a limit is set: shrinking the rows and growing them again
// allocates nothing.
type Arena struct {
	rows    int
	limit   int // most rows, 0 for any number
	columns []column
	names   []string

	pool     *Pool
	gathered struct { // arguments of the Gather that is running
		src  *Arena
		rows []int32
	}
	gatherIn func(lo, hi int)
}

// Share makes Gather run on a pool; nil is the caller alone.
func (a *Arena) Share(pool *Pool) {
	a.pool, a.gatherIn = pool, a.gatherRange
}

// Attach adds a column of width w to the arena. The column must outlive it and
// may not be copied.
func Attach[T Element](a *Arena, name string, c *Column[T], w int) {
	c.W = w
	c.resize(a.rows, a.limit)
	a.columns = append(a.columns, c)
	a.names = append(a.names, name)
}

// Fields returns the columns in the order of Attach.
func (a *Arena) Fields() []Field {
	fields := make([]Field, len(a.columns))
	for i, c := range a.columns {
		values, w := c.data()
		fields[i] = Field{a.names[i], w, values}
	}
	return fields
}

// Rows returns B, the number of rows.
func (a *Arena) Rows() int { return a.rows }

// RowBytes returns the size of one row over all columns.
func (a *Arena) RowBytes() int {
	n := 0
	for _, c := range a.columns {
		n += c.bytes()
	}
	return n
}

// Limit promises that the arena will never have more rows than that, so that
// its memory grows no further either. A later Resize beyond it panics.
func (a *Arena) Limit(rows int) {
	if rows < a.rows || rows < 1 {
		panic(badLimit)
	}
	a.limit = rows
}

// Resize sets the number of rows. Rows up to the smaller of the two lengths
// keep their values; new ones hold anything.
func (a *Arena) Resize(rows int) {
	if a.limit > 0 && rows > a.limit {
		panic(badLimit)
	}
	a.rows = rows
	for _, c := range a.columns {
		c.resize(rows, a.limit)
	}
}

// gatherGrain is the rows that a worker copies at a time: some ten microseconds.
const gatherGrain = 512

// Gather makes the arena hold copies of src's rows, in the order given. It runs
// on the pool of Share, and is cheapest where rows follow each other.
func (a *Arena) Gather(src *Arena, rows []int32) {
	a.Resize(len(rows))
	if a.pool == nil {
		a.copyRows(places{}, src, rows)
		return
	}
	a.gathered.src, a.gathered.rows = src, rows
	a.pool.Run(len(rows), gatherGrain, a.gatherIn)
	a.gathered.src, a.gathered.rows = nil, nil
}

func (a *Arena) gatherRange(lo, hi int) {
	a.copyRows(places{first: lo}, a.gathered.src, a.gathered.rows[lo:hi])
}

// Scatter overwrites row at[i] with row rows[i] of src, for every i in turn: of
// those that go to the same row the last stays. It runs on the caller alone, so
// that several may run at once, if none writes what another does.
func (a *Arena) Scatter(at []int32, src *Arena, rows []int32) {
	if len(at) != len(rows) {
		panic(badLength)
	}
	a.copyRows(places{at: at}, src, rows)
}

// longRun is the rows from which on consecutive ones are copied as one piece.
// Others are copied that many at a time, column by column.
const longRun = 32

func (a *Arena) copyRows(to places, src *Arena, rows []int32) {
	if len(a.columns) != len(src.columns) {
		panic(badColumn)
	}
	for i, c := range a.columns {
		c.mustMatch(src.columns[i])
	}
	for len(rows) > 0 {
		n := to.run(rows)
		if n >= longRun {
			for i, c := range a.columns {
				c.copyRun(to.of(0), src.columns[i], int(rows[0]), n)
			}
		} else {
			n = min(longRun, len(rows))
			for i, c := range a.columns {
				c.copyRows(to, src.columns[i], rows[:n])
			}
		}
		to, rows = to.from(n), rows[n:]
	}
}

// AllRows returns dst as the index vector 0, 1, … n-1, reusing its memory.
func AllRows(dst []int32, n int) []int32 {
	dst = Grow(dst[:0], n)
	for i := range dst {
		dst[i] = int32(i)
	}
	return dst
}

// Keep returns the rows for which flag is equal to value, in dst's memory,
// which may be that of rows: the way a live set shrinks.
func Keep(dst, rows []int32, flag []uint8, value uint8) []int32 {
	if Invariants && len(rows) > 0 && int(rows[len(rows)-1]) >= len(flag) {
		panic(badRow)
	}
	dst = dst[:0]
	for _, r := range rows {
		if flag[r] == value {
			dst = append(dst, r)
		}
	}
	return dst
}

// Grow returns s with length n: in its own memory if that is large enough,
// otherwise in a copy. Values beyond the old length may be anything.
func Grow[T any](s []T, n int) []T { return growWithin(s, n, 0) }

// growWithin is Grow for a slice that will never need more than limit values, unless
// limit is 0.
func growWithin[T any](s []T, n, limit int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	room := 2 * cap(s)
	if limit > 0 {
		room = min(room, limit)
	}
	grown := make([]T, n, max(n, room))
	copy(grown, s)
	return grown
}
