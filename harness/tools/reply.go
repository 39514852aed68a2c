package tools

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Reply is what a tool answered. All of it is foreign text.
type Reply struct {
	Text   string   // at most 64 KB; keys that went to the server are taken out
	Failed bool     // the tool says that it failed, and Text why
	Cut    bool     // Text is only the beginning
	Other  []string // what was left out: "image/png, 3 KB"
}

const mostText = 64 << 10 // bytes of a reply

// replyOf takes the texts of a result. What a tool structured stands for texts
// where it sent none.
func replyOf(r *mcp.CallToolResult, hide func(string) string) (Reply, error) {
	if r.NeedsInput() {
		return Reply{}, errors.New("it wants to ask something back, and nobody here answers")
	}
	reply := Reply{Failed: r.IsError}
	var texts []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			texts = append(texts, c.Text)
		case *mcp.ImageContent:
			reply.leftOut(c.MIMEType, "image", len(c.Data))
		case *mcp.AudioContent:
			reply.leftOut(c.MIMEType, "audio", len(c.Data))
		case *mcp.ResourceLink:
			texts = append(texts, fmt.Sprintf("[%s: %s]", oneLine(cmp.Or(c.Name, "link"), 100), oneLine(c.URI, 500)))
		case *mcp.EmbeddedResource:
			switch res := c.Resource; {
			case res == nil:
			case res.Blob != nil:
				reply.leftOut(res.MIMEType, "data", len(res.Blob))
			default:
				texts = append(texts, fmt.Sprintf("[%s]\n%s", oneLine(res.URI, 500), res.Text))
			}
		default:
			reply.leftOut("", "content of an unknown kind", 0)
		}
	}
	if len(texts) == 0 && r.StructuredContent != nil {
		text, err := indented(r.StructuredContent)
		if err != nil {
			return Reply{}, fmt.Errorf("its answer can not be shown: %w", err)
		}
		texts = []string{text}
	}
	text := hide(strings.ToValidUTF8(strings.Join(texts, "\n"), "\uFFFD"))
	if reply.Cut = len(text) > mostText; reply.Cut {
		cut := mostText
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	reply.Text = text
	return reply, nil
}

func (r *Reply) leftOut(kind, otherwise string, bytes int) {
	const most = 50
	if len(r.Other) == most {
		return
	}
	what := oneLine(cmp.Or(kind, otherwise), 100)
	if bytes > 0 {
		what += ", " + size(bytes)
	}
	r.Other = append(r.Other, what)
}
