package run

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"unsafe"

	"github.com/nlpodyssey/safetensors"
)

// A tensor is one array of a safetensors file.
type tensor struct {
	name  string
	shape []int
	data  any // []uint8, []float32, …: the elements, row-major
}

// A FileEntry is what a manifest knows of another file.
type FileEntry struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// elements is a slice of one of the types that tensors are made of.
type elements struct {
	dtype safetensors.DType
	bytes []byte // shares the slice's memory
	count int
}

// elementsOf returns the elements of a slice, whose bytes are those of the file
// where memory is little-endian.
func elementsOf(data any) (elements, bool) {
	switch v := data.(type) {
	case []uint8:
		return view(safetensors.U8, v), true
	case []int8:
		return view(safetensors.I8, v), true
	case []uint16:
		return view(safetensors.U16, v), true
	case []int16:
		return view(safetensors.I16, v), true
	case []uint32:
		return view(safetensors.U32, v), true
	case []int32:
		return view(safetensors.I32, v), true
	case []uint64:
		return view(safetensors.U64, v), true
	case []int64:
		return view(safetensors.I64, v), true
	case []float32:
		return view(safetensors.F32, v), true
	case []float64:
		return view(safetensors.F64, v), true
	}
	return elements{}, false
}

func view[T any](dtype safetensors.DType, v []T) elements {
	var zero T
	size := len(v) * int(unsafe.Sizeof(zero))
	return elements{dtype, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), size), len(v)}
}

// newElements allocates a slice of that type.
func newElements(dtype safetensors.DType, n int) any {
	switch dtype {
	case safetensors.U8:
		return make([]uint8, n)
	case safetensors.I8:
		return make([]int8, n)
	case safetensors.U16:
		return make([]uint16, n)
	case safetensors.I16:
		return make([]int16, n)
	case safetensors.U32:
		return make([]uint32, n)
	case safetensors.I32:
		return make([]int32, n)
	case safetensors.U64:
		return make([]uint64, n)
	case safetensors.I64:
		return make([]int64, n)
	case safetensors.F32:
		return make([]float32, n)
	case safetensors.F64:
		return make([]float64, n)
	}
	panic("run: no columns of type " + dtype.String())
}

// littleEndian reports whether memory has the byte order of safetensors: the
// arrays are then copied as they are.
func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }

var errBigEndian = errors.New("this machine is big-endian, expected a little-endian one for checkpoints")

// writeTensors writes a safetensors file, hashing while it writes, and makes it
// durable. No array is copied.
func writeTensors(path string, tensors []tensor) (FileEntry, error) {
	if !littleEndian() {
		return FileEntry{}, errBigEndian
	}
	views := make(map[string]safetensors.TensorView, len(tensors))
	for _, t := range tensors {
		e, ok := elementsOf(t.data)
		if !ok || e.count != product(t.shape) || views[t.name].Shape() != nil {
			return FileEntry{}, fmt.Errorf("%s: tensor %s of shape %v holds %T, expected as many numbers under a name of its own", filepath.Base(path), t.name, t.shape, t.data)
		}
		v, err := safetensors.NewTensorView(e.dtype, wide(t.shape), e.bytes)
		if err != nil {
			return FileEntry{}, err
		}
		views[t.name] = v
	}
	f, err := os.Create(path)
	if err != nil {
		return FileEntry{}, err
	}
	sum := &summer{w: f, hash: sha256.New()}
	err = safetensors.SerializeToWriter(views, nil, sum)
	return sum.entry(filepath.Base(path)), cmp.Or(err, finish(f))
}

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func wide(shape []int) []uint64 {
	w := make([]uint64, len(shape))
	for i, d := range shape {
		w[i] = uint64(d)
	}
	return w
}

// A summer writes and hashes in pieces that stay in the cache between the two.
type summer struct {
	w    io.Writer
	hash hash.Hash
	size int64
}

const pieceSize = 1 << 18

func (s *summer) Write(p []byte) (int, error) {
	for piece := range slices.Chunk(p, pieceSize) {
		if _, err := s.w.Write(piece); err != nil {
			return 0, err
		}
		s.hash.Write(piece)
		s.size += int64(len(piece))
	}
	return len(p), nil
}

func (s *summer) entry(name string) FileEntry {
	return FileEntry{name, s.size, hex.EncodeToString(s.hash.Sum(nil))}
}

// A tensorReader reads a safetensors file whose contents are known beforehand.
type tensorReader struct {
	f     fs.File
	entry FileEntry
	hash  hash.Hash
	order []string // tensors as they lie in the file
}

// maxHeader bounds the header of a safetensors file.
const maxHeader = 1 << 20

// openTensors opens a file and checks, before anything is allocated for its
// arrays, that it has the size of its entry and holds just the tensors wanted.
// Their data isn't looked at, only their type.
func openTensors(files fs.FS, entry FileEntry, want []tensorSpec) (*tensorReader, error) {
	if !littleEndian() {
		return nil, errBigEndian
	}
	f, err := files.Open(entry.Name)
	if err != nil {
		return nil, err
	}
	r := &tensorReader{f: f, entry: entry, hash: sha256.New()}
	if err := r.readHeader(want); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", entry.Name, err)
	}
	return r, nil
}

// A tensorSpec is what a tensor must be.
type tensorSpec struct {
	name  string
	shape []int
	dtype safetensors.DType
}

func (r *tensorReader) readHeader(want []tensorSpec) error {
	info, err := r.f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != r.entry.Size {
		return fmt.Errorf("%d bytes, expected %d", info.Size(), r.entry.Size)
	}
	var prefix [8]byte
	if err := r.read(prefix[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint64(prefix[:])
	rest := info.Size() - int64(len(prefix))
	if n > uint64(min(rest, maxHeader)) {
		return fmt.Errorf("damaged: header of %d bytes, expected at most %d", n, min(rest, maxHeader))
	}
	text := make([]byte, n)
	if err := r.read(text); err != nil {
		return err
	}
	var header safetensors.Metadata
	if err := json.Unmarshal(bytes.TrimRight(text, " "), &header); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	return r.match(header.Tensors(), want, uint64(rest)-n)
}

// match compares a header with what is wanted: the same tensors, without gaps,
// to the end of the file.
func (r *tensorReader) match(have map[string]*safetensors.TensorInfo, want []tensorSpec, size uint64) error {
	if len(have) != len(want) {
		return fmt.Errorf("%d tensors, expected %d", len(have), len(want))
	}
	total := uint64(0)
	for _, w := range want {
		h := have[w.name]
		if h == nil {
			return fmt.Errorf("no tensor %s, expected one", w.name)
		}
		if h.DType != w.dtype || !slices.Equal(h.Shape, wide(w.shape)) {
			return fmt.Errorf("tensor %s is %v %v, expected %v %v", w.name, h.DType, h.Shape, w.dtype, w.shape)
		}
		n, ok := bytesOf(w)
		if lo, hi := h.DataOffsets[0], h.DataOffsets[1]; !ok || hi < lo || hi-lo != n || hi > size {
			return fmt.Errorf("damaged: tensor %s lies at %v", w.name, h.DataOffsets)
		}
		total += n
		r.order = append(r.order, w.name)
	}
	// Tensors without elements share their offset with another: sort by both ends.
	sort.Slice(r.order, func(i, j int) bool {
		a, b := have[r.order[i]].DataOffsets, have[r.order[j]].DataOffsets
		return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
	})
	at := uint64(0)
	for _, name := range r.order {
		if have[name].DataOffsets[0] != at {
			return fmt.Errorf("damaged: tensor %s begins at %d, expected %d", name, have[name].DataOffsets[0], at)
		}
		at = have[name].DataOffsets[1]
	}
	if at != size {
		return fmt.Errorf("damaged: tensors of %d bytes, expected %d", at, size)
	}
	return nil
}

// bytesOf returns the size of a tensor, false if it is out of any bounds.
func bytesOf(s tensorSpec) (uint64, bool) {
	n := s.dtype.Size()
	for _, d := range s.shape {
		if d < 0 || d > math.MaxInt32 || n > 1<<40 {
			return 0, false
		}
		n *= uint64(d)
	}
	return n, n <= 1<<40
}

// read fills a buffer from the file and adds it to the hash.
func (r *tensorReader) read(buf []byte) error {
	for piece := range slices.Chunk(buf, pieceSize) {
		if _, err := io.ReadFull(r.f, piece); err != nil {
			return err
		}
		r.hash.Write(piece)
	}
	return nil
}

// readAll fills the arrays, by name, and closes the file. Without an error
// every byte of the file is the one that was written.
func (r *tensorReader) readAll(arrays map[string]any) error {
	defer r.f.Close()
	for _, name := range r.order {
		e, _ := elementsOf(arrays[name])
		if err := r.read(e.bytes); err != nil {
			return fmt.Errorf("%s: %w", r.entry.Name, err)
		}
	}
	if got := hex.EncodeToString(r.hash.Sum(nil)); got != r.entry.SHA256 {
		return fmt.Errorf("%s: damaged: sha256 is %.12s…, expected %.12s…", r.entry.Name, got, r.entry.SHA256)
	}
	return nil
}
