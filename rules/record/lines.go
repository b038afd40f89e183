package record

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxLine is far more than any recorded game, and keeps a foreign file from
// filling the memory.
const maxLine = 16 << 20

// lines reads a text line by line, decompressing it if need be.
type lines struct {
	name string
	r    *bufio.Reader
	gzip bool
	n    int    // lines read so far
	buf  []byte // the line read last
}

func newLines(name string, r io.Reader) (*lines, error) {
	l := &lines{name: name, r: bufio.NewReaderSize(r, 1<<16)}
	magic, err := l.r.Peek(2)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("record: %s: %w", name, err)
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return l, nil
	}
	l.gzip = true
	z, err := gzip.NewReader(l.r)
	if err != nil {
		return nil, l.errorf("%w", describeGzip(err))
	}
	l.r = bufio.NewReaderSize(z, 1<<16)
	return l, nil
}

// next returns the next line without its end; io.EOF after the last. The line
// is valid until the next call.
func (l *lines) next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		switch {
		case len(l.buf) > maxLine:
			l.n++
			return nil, l.errorf("longer than %d bytes, expected one JSON object a line", maxLine)
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(l.buf) == 0:
			return nil, io.EOF
		}
		l.n++
		if err != nil && err != io.EOF {
			return nil, l.errorf("%w", describeGzip(err))
		}
		line := bytes.TrimRight(l.buf, "\r\n")
		if len(line) == 0 {
			return nil, l.errorf("empty, expected a JSON object")
		}
		return line, nil
	}
}

// errorf is an error about the line read last.
func (l *lines) errorf(format string, args ...any) error {
	return fmt.Errorf("record: %s, line %d: %w", l.name, max(l.n, 1), fmt.Errorf(format, args...))
}

func describeGzip(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the gzip stream is truncated")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return fmt.Errorf("the gzip stream is damaged (%w)", err)
	}
	return err
}

// openFile is os.Open for a path that must be a file of recorded lines.
func openFile(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return f, nil
}
