package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	longest   = 16 << 20         // bytes of a message
	mostNoise = 64 << 10         // bytes that are no messages
	writing   = 10 * time.Second // for a program to take a message
)

// pipe carries messages over a program's stdin and stdout, one a line
// (MCP 2025-11-25, Transports, § stdio). Lines that are no messages, as careless
// programs print them, are passed over if they are few.
type pipe struct {
	in  *os.File
	out *os.File
	buf *bufio.Reader

	busy chan struct{} // full while somebody writes

	mu     sync.Mutex
	end    error  // why it carries no more; nil = it does
	wrong  string // the same, where the program is to blame
	odd    string // the first line that was no message
	odder  int    // bytes of all of them
	closed sync.Once
}

func (p *pipe) open(in, out *os.File) {
	p.in, p.out = in, out
	p.buf, p.busy = bufio.NewReaderSize(out, 64<<10), make(chan struct{}, 1)
}

// Connect is for [mcp.Transport].
func (p *program) Connect(context.Context) (mcp.Connection, error) { return &p.pipe, nil }

// SessionID is for [mcp.Connection]: there is none.
func (p *pipe) SessionID() string { return "" }

// Read returns the next message. It ends with Close.
func (p *pipe) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, err := p.line()
		if err != nil {
			return nil, p.fail(err)
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		msg, err := jsonrpc.DecodeMessage(line)
		if err == nil {
			return msg, nil
		}
		if err := p.pass(line); err != nil {
			return nil, p.fail(err)
		}
	}
}

// line reads up to the next newline.
func (p *pipe) line() ([]byte, error) {
	var line []byte
	for {
		part, err := p.buf.ReadSlice('\n')
		if err == nil && line == nil {
			return part, nil
		}
		if line = append(line, part...); len(line) > longest {
			return nil, blame("it sent a message of more than " + size(longest))
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// pass notes a line that is no message.
func (p *pipe) pass(line []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.odd == "" {
		p.odd = string(line[:min(len(line), 1000)])
	}
	if p.odder += len(line); p.odder > mostNoise {
		return blame("it writes to stdout what are no MCP messages; is it an MCP server?")
	}
	return nil
}

// Write sends a message. A program that does not take it in time has lost its
// place: half a message is no message.
func (p *pipe) Write(ctx context.Context, msg jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	select {
	case p.busy <- struct{}{}:
		defer func() { <-p.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	until := time.Now().Add(writing)
	if d, ok := ctx.Deadline(); ok && d.Before(until) {
		until = d
	}
	if err := p.in.SetWriteDeadline(until); err != nil {
		return p.fail(err)
	}
	defer context.AfterFunc(ctx, func() { p.in.SetWriteDeadline(time.Unix(1, 0)) })()
	n, err := p.in.Write(append(b, '\n'))
	switch {
	case err == nil:
		return nil
	case n == 0 && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return p.fail(blame(fmt.Sprintf("it does not read what it is sent (%s)", size(len(b)))))
	}
	return p.fail(err)
}

// Close ends the pipe.
func (p *pipe) Close() error {
	p.fail(os.ErrClosed)
	p.closed.Do(func() {
		p.in.Close()
		p.out.Close()
	})
	return nil
}

// blame is an error of the program's.
type blame string

func (b blame) Error() string { return string(b) }

// fail notes why the pipe carries no more, the first reason.
func (p *pipe) fail(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end == nil {
		p.end = err
		var b blame
		if errors.As(err, &b) {
			p.wrong = string(b)
		}
	}
	return err
}

func (p *pipe) broken() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end != nil
}

// fault is what the program did wrong; ours: we have closed the pipe.
func (p *pipe) fault() (wrong string, ours bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wrong, p.end == os.ErrClosed
}

func (p *pipe) noise() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.odd
}
