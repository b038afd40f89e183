package nets

import (
	"fmt"
	"math"
	"slices"

	"vtrain/vec"
)

// Shared is the shape of a network over interchangeable groups, such as the
// colours of cards. What it learns about one group it knows about all: with x
// and y cut into those of each group g and the common ones,
//
//	e[g] = encoder(x[g], x[common])
//	t    = trunk(mean over g of e[g], max over g of e[g], x[common])
//	y[g] = head(e[g], t)
//	y[common] = common(t)
//
// where mean and max are taken element by element. Renaming the groups of x
// renames those of y and changes nothing else (Zaheer et al. 2017, "Deep
// sets"). Every layer ends in ReLU except the last of head, and common's only
// one, which are linear.
//
// ReLU has the derivative 0 at 0. Where groups tie for a maximum, the first of
// them has its derivative. Ties at 0 have none, and ties elsewhere are, but for
// accidents, of groups that look the same, where it doesn't matter which.
//
// A layer adds up a product for each kind of its inputs, which is the product
// of all of them side by side with the matrices one below the other. In order,
// with e, t and so on for the number of values of each kind:
//
//	encoder.0.group     [x[g],out]      encoder.0.common  [x[common],out]
//	encoder.0.bias      [out]
//	encoder.l.weight    [in,out]        encoder.l.bias    [out]
//	trunk.0.mean        [e,out]         trunk.0.max       [e,out]
//	trunk.0.common      [x[common],out] trunk.0.bias      [out]
//	trunk.l.weight      [in,out]        trunk.l.bias      [out]
//	head.0.embedding    [e,out]         head.0.trunk      [t,out]
//	head.0.bias         [out]
//	head.l.weight       [in,out]        head.l.bias       [out]
//	common.0.trunk      [t,y[common]]   common.0.bias     [y[common]]
//
// Matrices are row-major as those of MLP; without common inputs or outputs
// there are no tensors for them.
type Shared struct {
	Groups  Groups
	Encoder []int // widths of the encoder's layers, at least one; the last is the embedding's
	Trunk   []int // widths of the trunk's layers, at least one
	Head    []int // widths of the head's hidden layers
}

// Validate returns an error unless the shape describes a network.
func (s Shared) Validate() error {
	if err := s.Groups.Validate(); err != nil {
		return err
	}
	for _, part := range []struct {
		name   string
		widths []int
		least  int
	}{{"encoder", s.Encoder, 1}, {"trunk", s.Trunk, 1}, {"head", s.Head, 0}} {
		if len(part.widths) < part.least {
			return fmt.Errorf("nets: %s %v: want at least one layer", part.name, part.widths)
		}
		for l, w := range part.widths {
			if w < 1 || w > maxParams {
				return fmt.Errorf("nets: %s %v: width %d at position %d, want 1 to %d", part.name, part.widths, w, l, maxParams)
			}
		}
	}
	total := 0
	for _, l := range s.layers() {
		if total += (l.in() + 1) * l.out; total > maxParams {
			return fmt.Errorf("nets: %v: more than %d parameters", s, maxParams)
		}
	}
	return nil
}

// In returns the number of inputs.
func (s Shared) In() int { return s.Groups.In }

// Out returns the number of outputs.
func (s Shared) Out() int { return s.Groups.Out }

// String returns the sizes as in
// shared(5×80+40 encoder [64 64] trunk [128] head [64] 5×21+1): groups × size +
// common ones, of the inputs and of the outputs.
func (s Shared) String() string {
	g := s.Groups
	return fmt.Sprintf("shared(%s encoder %v trunk %v head %v %s)",
		sizes(g.In, g.Inputs), s.Encoder, s.Trunk, s.Head, sizes(g.Out, g.Outputs))
}

// sizes returns groups × size + common ones.
func sizes(columns int, groups [][]int32) string {
	if len(groups) == 0 {
		return fmt.Sprint(columns)
	}
	return fmt.Sprintf("%d×%d+%d", len(groups), len(groups[0]), columns-len(groups)*len(groups[0]))
}

// Clone returns a copy that shares nothing with s.
func (s Shared) Clone() Shared {
	return Shared{s.Groups.Clone(), slices.Clone(s.Encoder), slices.Clone(s.Trunk), slices.Clone(s.Head)}
}

// A sharedLayer is one affine map: parts, the matrices of its kinds of inputs,
// and a bias.
type sharedLayer struct {
	name   string
	parts  []part
	out    int
	linear bool // no ReLU behind it
}

// A part is a kind of inputs of a layer and their number.
type part struct {
	name string
	in   int
}

// in returns the inputs of all kinds.
func (l sharedLayer) in() int {
	total := 0
	for _, p := range l.parts {
		total += p.in
	}
	return total
}

// layers returns the layers in the order of their tensors.
func (s Shared) layers() []sharedLayer {
	in, out := len(s.Groups.Inputs[0]), len(s.Groups.Outputs[0])
	groups := len(s.Groups.Inputs)
	commonIn, commonOut := s.Groups.In-groups*in, s.Groups.Out-groups*out
	e, t := s.Encoder[len(s.Encoder)-1], s.Trunk[len(s.Trunk)-1]
	encoder := stack("encoder", s.Encoder, part{"group", in}, part{"common", commonIn})
	trunk := stack("trunk", s.Trunk, part{"mean", e}, part{"max", e}, part{"common", commonIn})
	head := stack("head", append(slices.Clone(s.Head), out), part{"embedding", e}, part{"trunk", t})
	common := stack("common", []int{commonOut}, part{"trunk", t})
	head[len(head)-1].linear, common[0].linear = true, true
	if commonOut == 0 {
		common = nil
	}
	return slices.Concat(encoder, trunk, head, common)
}

// stack returns layers on top of each other, the first of them on parts; parts
// without inputs are left out.
func stack(name string, widths []int, parts ...part) []sharedLayer {
	parts = slices.DeleteFunc(parts, func(p part) bool { return p.in == 0 })
	var layers []sharedLayer
	for l, w := range widths {
		layers = append(layers, sharedLayer{name: fmt.Sprintf("%s.%d", name, l), parts: parts, out: w})
		parts = []part{{"weight", w}}
	}
	return layers
}

// NewParams returns parameters of this shape, all zero.
func (s Shared) NewParams() Params {
	var specs []Spec
	for _, l := range s.layers() {
		for _, p := range l.parts {
			specs = append(specs, Spec{l.name + "." + p.name, []int{p.in, l.out}})
		}
		specs = append(specs, Spec{l.name + ".bias", []int{l.out}})
	}
	return NewParams(specs...)
}

// Fits reports whether p is of this shape.
func (s Shared) Fits(p Params) bool {
	rest := p.tensors
	for _, l := range s.layers() {
		if len(rest) < len(l.parts)+1 {
			return false
		}
		for i, part := range l.parts {
			if !slices.Equal(rest[i].Shape, []int{part.in, l.out}) {
				return false
			}
		}
		if !slices.Equal(rest[len(l.parts)].Shape, []int{l.out}) {
			return false
		}
		rest = rest[len(l.parts)+1:]
	}
	return len(rest) == 0
}

// Init draws the parameters afresh, as MLP.Init does: the variance of a weight
// is 2 over the inputs of its layer, of all kinds together; weights of linear
// layers are then times 0.1. Tensor i draws from a stream of its own.
func (s Shared) Init(p Params, seed uint64) {
	if !s.Fits(p) {
		panic(badShape)
	}
	key := vec.Key(seed, 0)
	i := 0
	for _, l := range s.layers() {
		scale := math.Sqrt(2 / float64(l.in()))
		if l.linear {
			scale *= lastLayer
		}
		for range l.parts {
			stream := vec.At(key, uint32(i))
			fillNormal(p.tensors[i].Data, &stream, scale)
			i++
		}
		clear(p.tensors[i].Data)
		i++
	}
}
