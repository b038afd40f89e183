// Package bench is the one place that times, compares and draws.
package bench

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// A Curve is one line of a training plot.
type Curve struct {
	Label  string
	X, Y   []float64
	Error  []float64 // standard error of Y, nil for none
	Color  int       // index of a color; curves that belong together share one
	Dashed bool
}

// A Panel is one of the diagrams of a figure, above each other with a common
// x axis.
type Panel struct {
	Title, Y   string
	Curves     []Curve
	YMin, YMax float64 // range of y, both 0 to fit the data
	Line       float64 // height of a thin reference line, NaN for none
}

// palette is Okabe and Ito's, which color-blind readers can tell apart.
var palette = []color.Color{
	color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255},
	color.RGBA{204, 121, 167, 255}, color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{0, 0, 0, 255},
}

// Draw writes a figure of panels to a PNG file, which appears whole or not at
// all. One legend, of the first panel, stands beside them.
func Draw(path, xLabel string, panels []Panel) error {
	const width, height, legendWidth = 23 * vg.Centimeter, 8 * vg.Centimeter, 6.4 * vg.Centimeter
	img := vgimg.NewWith(vgimg.UseWH(width, height*vg.Length(len(panels))), vgimg.UseDPI(110))
	canvas := draw.New(img)
	tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadTop: 8, PadBottom: 6, PadLeft: 6, PadRight: 10, PadY: 10}
	plots := make([][]*plot.Plot, len(panels))
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	for i, panel := range panels {
		p, err := panel.plot(&legend, i == 0)
		if err != nil {
			return fmt.Errorf("plot %s: %w", path, err)
		}
		if i == len(panels)-1 {
			p.X.Label.Text = xLabel
		}
		plots[i] = []*plot.Plot{p}
	}
	for i, row := range plot.Align(plots, tiles, draw.Crop(canvas, 0, -legendWidth, 0, 0)) {
		plots[i][0].Draw(row[0])
	}
	legend.Draw(draw.Crop(canvas, width-legendWidth, 0, 0, -30))
	return writeFile(path, vgimg.PngCanvas{Canvas: img})
}

func (panel Panel) plot(legend *plot.Legend, listed bool) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = panel.Title, panel.Y
	p.Title.Padding = 6
	p.X.Min = 0
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(roundTicks), plot.TickerFunc(roundTicks)
	p.Add(plotter.NewGrid())
	if !math.IsNaN(panel.Line) {
		line := plotter.NewFunction(func(float64) float64 { return panel.Line })
		line.Color = color.Gray{120}
		p.Add(line)
	}
	for _, c := range panel.Curves {
		thumbnails, err := c.add(p)
		if err != nil {
			return nil, err
		}
		if listed {
			legend.Add(c.Label, thumbnails...)
		}
	}
	if panel.YMin != panel.YMax {
		p.Y.Min, p.Y.Max = panel.YMin, panel.YMax
	}
	return p, nil
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

// writeFile writes an image aside, syncs it and moves it into place.
func writeFile(path string, canvas vgimg.PngCanvas) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-plot-*")
	if err != nil {
		return fmt.Errorf("plot %s: %w", path, err)
	}
	defer os.Remove(f.Name()) // fails once the file has been moved
	_, err = canvas.WriteTo(f)
	err = cmp.Or(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("plot %s: %w", path, err)
	}
	return nil
}
