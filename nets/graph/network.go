package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"vtrain/nets"
)

// network is a compiled graph for one number of rows, its inputs and what is
// read from it.
type network struct {
	graph      *gorgonia.ExprGraph
	machine    gorgonia.VM
	rows       int
	xCol, yCol int // columns of x and y

	in     []input
	out    []output
	params []matrix                  // [tensor]
	named  map[string]*gorgonia.Node // params by the names of their tensors
	ones   *gorgonia.Node            // [rows,1]
	grads  []gorgonia.Value          // [tensor], only with gradients
}

// matrix is a node whose value is given, and the memory of that value.
type matrix struct {
	node *gorgonia.Node
	data []float32
}

// input is some columns of x.
type input struct {
	matrix
	columns []int32
}

// output is some columns of y, and with gradients the derivatives by them.
type output struct {
	node    *gorgonia.Node
	value   gorgonia.Value
	dy      matrix
	columns []int32
}

// newNetwork writes a network down and compiles it.
func newNetwork(a architecture, rows int, gradients bool) *network {
	n := &network{graph: gorgonia.NewGraph(), rows: rows, xCol: a.In(), yCol: a.Out(), named: map[string]*gorgonia.Node{}}
	for _, t := range a.NewParams().Tensors() {
		out := t.Shape[len(t.Shape)-1]
		m := n.matrix(t.Name, len(t.Data)/out, out)
		n.params, n.named[t.Name] = append(n.params, m), m.node
	}
	n.ones = n.constant("ones", 1, 1)
	a.build(n)
	for i := range n.out {
		gorgonia.Read(n.out[i].node, &n.out[i].value)
	}
	if gradients {
		n.differentiate()
	}
	n.machine = gorgonia.NewTapeMachine(n.graph)
	return n
}

// matrix returns a matrix whose elements are set before each run.
func (n *network) matrix(name string, rows, cols int) matrix {
	data := make([]float32, rows*cols)
	value := tensor.New(tensor.WithShape(rows, cols), tensor.WithBacking(data))
	return matrix{gorgonia.NodeFromAny(n.graph, value, gorgonia.WithName(name)), data}
}

// constant returns a matrix [rows,cols] of one value.
func (n *network) constant(name string, cols int, value float32) *gorgonia.Node {
	m := n.matrix(name, n.rows, cols)
	for i := range m.data {
		m.data[i] = value
	}
	return m.node
}

// input returns columns of x.
func (n *network) input(columns []int32) *gorgonia.Node {
	m := n.matrix(fmt.Sprintf("x%d", len(n.in)), n.rows, len(columns))
	n.in = append(n.in, input{m, columns})
	return m.node
}

// output says that y is those columns of the network's.
func (n *network) output(y *gorgonia.Node, columns []int32) {
	n.out = append(n.out, output{node: y, columns: columns})
}

// differentiate adds the cost Σ y∘dy and its gradient by the parameters, which
// is that of the loss if dy is the derivative of the loss by y.
func (n *network) differentiate() {
	var costs, by gorgonia.Nodes
	for i := range n.out {
		o := &n.out[i]
		o.dy = n.matrix(fmt.Sprintf("dy%d", i), n.rows, len(o.columns))
		costs = append(costs, must(gorgonia.Sum(must(gorgonia.HadamardProd(o.node, o.dy.node)))))
	}
	for _, p := range n.params {
		by = append(by, p.node)
	}
	grads, err := gorgonia.Grad(sum(costs), by...)
	if err != nil {
		panic(err)
	}
	n.grads = make([]gorgonia.Value, len(grads))
	for i, g := range grads {
		gorgonia.Read(g, &n.grads[i])
	}
}

// run evaluates the graph on rows of x, at most as many as it has: the rest
// are zero.
func (n *network) run(x []float32, p nets.Params) {
	for _, in := range n.in {
		gather(in.data, x, in.columns, n.xCol)
	}
	for i, t := range p.Tensors() {
		copy(n.params[i].data, t.Data)
	}
	n.machine.Reset()
	if err := n.machine.RunAll(); err != nil {
		panic(err)
	}
}

// outputs sets dst to the first rows of y.
func (n *network) outputs(dst []float32) {
	for _, o := range n.out {
		scatter(dst, floats(o.value), o.columns, n.yCol)
	}
}

// setDerivatives sets dy for the runs to come.
func (n *network) setDerivatives(dy []float32) {
	for _, o := range n.out {
		gather(o.dy.data, dy, o.columns, n.yCol)
	}
}

// gradient sets dst to the gradient.
func (n *network) gradient(dst nets.Params) {
	for i, t := range dst.Tensors() {
		copy(t.Data, floats(n.grads[i]))
	}
}

// close frees the machine, whose error is about a log it doesn't keep.
func (n *network) close() { _ = n.machine.Close() }

// gather sets dst to those columns of the rows of src, which are width wide,
// and what is left of it to zero.
func gather(dst, src []float32, columns []int32, width int) {
	for ; len(src) > 0; src = src[width:] {
		for i, c := range columns {
			dst[i] = src[c]
		}
		dst = dst[len(columns):]
	}
	clear(dst)
}

// scatter sets those columns of the rows of dst, which are width wide.
func scatter(dst, src []float32, columns []int32, width int) {
	for ; len(dst) > 0; dst = dst[width:] {
		for i, c := range columns {
			dst[c] = src[i]
		}
		src = src[len(columns):]
	}
}

// must returns the node of a graph that is right by construction: its shapes
// follow from those of the network.
func must(n *gorgonia.Node, err error) *gorgonia.Node {
	if err != nil {
		panic(err)
	}
	return n
}

// floats returns the elements of a value, which is a number where a matrix
// has shrunk to one.
func floats(v gorgonia.Value) []float32 {
	switch d := v.Data().(type) {
	case []float32:
		return d
	case float32:
		return []float32{d}
	}
	panic("graph: value of another type")
}
