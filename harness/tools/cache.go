package tools

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
)

// remembered is what a server said of itself at the last contact. It is a cache:
// a file that is missing, broken or of another entry is as none.
type remembered struct {
	Entry string `json:"entry"` // hash of the entry: a changed one forgets
	About string `json:"about"`
	Tools []Tool `json:"tools"`
}

func (e Server) hash() string {
	b, _ := json.Marshal(e) // texts and maps of texts can not fail
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (s *server) cacheFile() string { return filepath.Join(s.options.Cache, s.entry.Name+".json") }

// brief is what is known now.
func (s *server) brief() Brief {
	s.mu.Lock()
	known, fresh := s.said, s.said != nil
	s.mu.Unlock()
	if known == nil {
		known = s.recall()
	}
	return Brief{Server: s.entry.Name, About: oneLine(cmp.Or(s.entry.About, known.About), 100), Tools: known.Tools, Fresh: fresh}
}

func (s *server) recall() *remembered {
	if s.options.Cache == "" {
		return &remembered{}
	}
	b, err := os.ReadFile(s.cacheFile())
	var r remembered
	if err != nil || json.Unmarshal(b, &r) != nil || r.Entry != s.entry.hash() {
		return &remembered{}
	}
	return &r
}

// remember keeps what a server said. Where the file can not be written, the next
// run knows nothing, which is no fault.
func (s *server) remember(c *connection) {
	r := &remembered{Entry: s.entry.hash(), Tools: brief(c.tools)}
	if hello := c.session.InitializeResult(); hello != nil {
		r.About = hello.Instructions
		if info := hello.ServerInfo; r.About == "" && info != nil {
			r.About = cmp.Or(info.Title, info.Name)
		}
	}
	r.About = oneLine(r.About, 100)
	s.mu.Lock()
	s.said = r
	s.mu.Unlock()
	if s.options.Cache == "" {
		return
	}
	b, _ := json.Marshal(r) // as above
	if os.MkdirAll(s.options.Cache, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(s.options.Cache, "."+s.entry.Name+"-")
	if err != nil {
		return
	}
	_, err = f.Write(append(b, '\n'))
	if err = cmp.Or(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.cacheFile())
	}
	if err != nil {
		os.Remove(f.Name())
	}
}
