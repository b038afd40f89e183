package graph

import (
	"fmt"

	"vtrain/nets"
	"vtrain/vec"
)

// NewEngine returns an engine for networks of that shape, an MLP or a Shared.
// The error is about the shape or the options. Padding is real: each bucket is
// a graph of that many rows.
func NewEngine(shape nets.Shape, o nets.EngineOptions) (nets.Engine, error) {
	a, err := newArchitecture(shape)
	if err != nil {
		return nil, err
	}
	return nets.NewEngine(&backend{architecture: a, params: a.NewParams(), networks: map[int]*network{}}, o)
}

// backend implements nets.Backend.
type backend struct {
	architecture
	params   nets.Params
	networks map[int]*network // [bucket]
}

func (b *backend) Precision() nets.Precision { return nets.Float32 }

func (b *backend) Prepare(_ *vec.Pool, buckets []int) {
	for _, rows := range buckets {
		b.networks[rows] = newNetwork(b.architecture, rows, false)
	}
}

func (b *backend) Load(p nets.Params) { copy(b.params.Flat(), p.Flat()) }

func (b *backend) Forward(dst, x []float32, _, bucket int) int {
	n := b.networks[bucket]
	n.run(x, b.params)
	n.outputs(dst)
	return bucket
}

func (b *backend) Describe() string { return fmt.Sprintf("gorgonia graph %v", b.architecture) }

func (b *backend) Close() {
	for _, n := range b.networks {
		n.close()
	}
}
