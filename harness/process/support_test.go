package process

import (
	"errors"
	"testing"
)

func TestJudge(t *testing.T) {
	no := errors.New("operation not permitted")
	for _, c := range []struct {
		abi        int
		namespaces error
		files, net bool
		says       string
	}{
		{11, nil, true, true, "files and network (namespaces, Landlock ABI 11)"},
		{1, nil, true, true, "files and network (namespaces, Landlock ABI 1)"},
		{11, no, true, false, "files and TCP (Landlock ABI 11): namespaces are not allowed (operation not permitted): modes and times of files outside can be changed"},
		{9, no, true, false, "files and TCP (Landlock ABI 9): namespaces are not allowed (operation not permitted): UDP is reachable"},
		{7, no, true, false, "files and TCP (Landlock ABI 7): namespaces are not allowed (operation not permitted): UDP and unix sockets are reachable"},
		{3, no, true, false, "files (Landlock ABI 3): namespaces are not allowed (operation not permitted): the network can not be taken away, unix sockets are reachable"},
		{2, no, false, false, "commands are not confined: namespaces are not allowed (operation not permitted), and Landlock before Linux 6.2 does not stop truncation"},
		{0, nil, false, false, "commands are not confined: this kernel has no Landlock, or it is switched off"},
		{0, no, false, false, "commands are not confined: this kernel has no Landlock, or it is switched off"},
	} {
		s := judge(c.abi, c.namespaces)
		if s.Files != c.files || s.Network != c.net || s.TCP != (c.abi >= 4) || s.ABI != c.abi || s.String() != c.says {
			t.Errorf("%d, %v: %+v\n%s", c.abi, c.namespaces, s, s)
		}
	}
}
