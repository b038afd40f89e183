// Package bench is the one place that times, compares and draws.
package bench

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Curve is one line of a plot.
type Curve struct {
	Label  string
	X, Y   []float64
	Error  []float64 // standard error of Y, nil for none
	Color  int       // index of a color; curves that belong together share one
	Dashed bool
	Plain  bool // without marks: computed, not measured
}

// A Panel is one of the diagrams of a figure, above each other with a common
// x axis unless they name their own.
type Panel struct {
	Title      string
	X, Y       string // what the axes show
	Log        bool   // both axes are logarithmic
	Curves     []Curve
	YMin, YMax float64 // range of y, both 0 to fit the data
	Line       float64 // height of a thin reference line, NaN for none
}

// palette is Okabe and Ito's, which color-blind readers can tell apart.
var palette = []color.Color{
	color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255},
	color.RGBA{204, 121, 167, 255}, color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{0, 0, 0, 255},
}

// CanDraw returns an error unless figures can be written in the format of a
// file's extension.
func CanDraw(path string) error {
	switch filepath.Ext(path) {
	case ".png", ".svg":
		return nil
	}
	return fmt.Errorf("plot %s: expected the extension .png or .svg", path)
}

// Draw writes a figure of panels to a PNG or SVG file, which appears whole or
// not at all. One legend, of the labels of all panels, stands beside them.
func Draw(path, xLabel string, panels []Panel) error {
	if err := CanDraw(path); err != nil {
		return err
	}
	const plotWidth, panelHeight, legendTop = 16.6 * vg.Centimeter, 8 * vg.Centimeter, vg.Length(30)
	tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadTop: 8, PadBottom: 6, PadLeft: 6, PadRight: 10, PadY: 10}
	plots := make([][]*plot.Plot, len(panels))
	legend := legend{Legend: plot.NewLegend(), has: map[string]bool{}}
	legend.Top, legend.Left, legend.Padding = true, true, 3
	for i, panel := range panels {
		if i == len(panels)-1 {
			panel.X = cmp.Or(panel.X, xLabel)
		}
		p, err := panel.plot(&legend)
		if err != nil {
			return fmt.Errorf("plot %s: %w", path, err)
		}
		plots[i] = []*plot.Plot{p}
	}
	legendWidth, legendHeight := legend.size()
	width, height := plotWidth+legendWidth, max(panelHeight*vg.Length(len(panels)), legendTop+legendHeight)
	image := newImage(path, width, height)
	canvas := draw.New(image)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	for i, row := range plot.Align(plots, tiles, draw.Crop(canvas, 0, -legendWidth, 0, 0)) {
		plots[i][0].Draw(row[0])
	}
	legend.Draw(draw.Crop(canvas, plotWidth, 0, 0, -legendTop))
	if err := writeFile(path, image); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// image is a canvas that can be written to a file.
type image interface {
	vg.CanvasSizer
	io.WriterTo
}

func newImage(path string, width, height vg.Length) image {
	if filepath.Ext(path) == ".svg" {
		return vgsvg.New(width, height)
	}
	return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(110))}
}

// legend has each label once.
type legend struct {
	plot.Legend
	has map[string]bool
}

func (l *legend) add(label string, thumbnails []plot.Thumbnailer) {
	if !l.has[label] {
		l.has[label] = true
		l.Add(label, thumbnails...)
	}
}

// size returns what the legend needs, beside the usual width of figures.
func (l *legend) size() (width, height vg.Length) {
	const usual, air = 7.6 * vg.Centimeter, vg.Length(12)
	width = usual
	for label := range l.has {
		width = max(width, l.ThumbnailWidth+l.TextStyle.Width("m "+label)+air)
	}
	return width, vg.Length(len(l.has))*(l.TextStyle.Height("Ag")+2*l.Padding) + air
}

func (panel Panel) plot(legend *legend) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = panel.Title, panel.X, panel.Y
	p.Title.Padding = 6
	p.Add(plotter.NewGrid())
	if !panel.Log && !math.IsNaN(panel.Line) {
		line := plotter.NewFunction(func(float64) float64 { return panel.Line })
		line.Color = color.Gray{120}
		p.Add(line)
	}
	for _, c := range panel.Curves {
		thumbnails, err := c.add(p)
		if err != nil {
			return nil, err
		}
		legend.add(c.Label, thumbnails)
	}
	panel.scale(p)
	return p, nil
}

// scale sets the axes, which the curves have stretched to their points.
func (panel Panel) scale(p *plot.Plot) {
	if panel.YMin != panel.YMax {
		p.Y.Min, p.Y.Max = panel.YMin, panel.YMax
	}
	if !panel.Log {
		p.X.Min = min(p.X.Min, 0)
		p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(roundTicks), plot.TickerFunc(roundTicks)
		return
	}
	const air = 1.15 // also where all values are one
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
		axis.Min, axis.Max = axis.Min/air, axis.Max*air
	}
}

// logTicks labels the powers of ten of an axis, and 2 and 5 times them where
// those alone would be too few.
func logTicks(lo, hi float64) []plot.Tick {
	const few = 2.5 // decades
	between := math.Log10(hi/lo) < few
	var ticks []plot.Tick
	for power := math.Floor(math.Log10(lo)); power <= math.Log10(hi); power++ {
		for k := 1; k < 10; k++ {
			// The parser knows what 3e-1 is closest to, a product doesn't.
			v, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", k, int(power)), 64)
			if v < lo || v > hi {
				continue
			}
			tick := plot.Tick{Value: v}
			if k == 1 || between && (k == 2 || k == 5) {
				tick.Label = strconv.FormatFloat(v, 'f', -1, 64)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// roundTicks marks an axis at some four to ten multiples of 1, 2 or 5 times a power of
// ten.
func roundTicks(lo, hi float64) []plot.Tick {
	if !(hi > lo) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/3)))
	for _, k := range []float64{5, 2, 1} {
		if (hi-lo)/(k*step) >= 4 {
			step *= k
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'g', 6, 64)})
	}
	return ticks
}

// add draws the curve, and returns what the legend shows of it.
func (c Curve) add(p *plot.Plot) ([]plot.Thumbnailer, error) {
	points := make(plotter.XYs, len(c.X))
	for i := range points {
		points[i].X, points[i].Y = c.X[i], c.Y[i]
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return nil, fmt.Errorf("curve %q: %w", c.Label, err)
	}
	line.Color = palette[c.Color%len(palette)]
	line.Width = vg.Points(1.4)
	if c.Dashed {
		line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	}
	if c.Plain {
		p.Add(line)
		return []plot.Thumbnailer{line}, nil
	}
	marks.Color, marks.Radius, marks.Shape = line.Color, vg.Points(2), draw.CircleGlyph{}
	p.Add(line, marks)
	return []plot.Thumbnailer{line, marks}, c.addErrors(p, points, line.Color)
}

func (c Curve) addErrors(p *plot.Plot, points plotter.XYs, color color.Color) error {
	if c.Error == nil {
		return nil
	}
	errors := make(plotter.YErrors, len(points))
	for i, e := range c.Error {
		errors[i].Low, errors[i].High = e, e
	}
	bars, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{points, errors})
	if err != nil {
		return fmt.Errorf("curve %q: %w", c.Label, err)
	}
	bars.Color = color
	p.Add(bars)
	return nil
}

// writeFile writes a file aside, syncs it and moves it into place.
func writeFile(path string, content io.WriterTo) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer os.Remove(f.Name()) // fails once the file has been moved
	_, err = content.WriteTo(f)
	err = cmp.Or(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
