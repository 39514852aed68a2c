package process

import (
	"fmt"
	"strings"
)

// Support says what confinement holds on this machine.
type Support struct {
	Files   bool   // reading and writing only what was granted
	TCP     bool   // without Network, no TCP (Landlock ABI 4, Linux 6.7)
	Network bool   // without Network, no network at all, and what else namespaces give
	ABI     int    // Landlock's; 0: none
	Why     string // one line about what is missing; "" when nothing is
}

// String is one line for people: "files and network (namespaces, Landlock ABI 7)".
func (s Support) String() string {
	var what, how []string
	if s.Files {
		what = append(what, "files")
	}
	if s.Network {
		what, how = append(what, "network"), append(how, "namespaces")
	} else if s.TCP {
		what = append(what, "TCP")
	}
	if s.ABI > 0 {
		how = append(how, fmt.Sprintf("Landlock ABI %d", s.ABI))
	}
	line := "commands are not confined"
	if s.Files {
		line = strings.Join(what, " and ") + " (" + strings.Join(how, ", ") + ")"
	}
	if s.Why != "" {
		line += ": " + s.Why
	}
	return line
}

// judge says what follows from Landlock's version, and from whether namespaces
// are allowed (nil) or why not.
func judge(abi int, namespaces error) Support {
	s := Support{ABI: abi, TCP: abi >= 4, Network: abi > 0 && namespaces == nil}
	s.Files = holdsFiles(abi, namespaces == nil)
	const none = "namespaces are not allowed"
	switch {
	case abi == 0:
		s.Why = "this kernel has no Landlock, or it is switched off"
	case namespaces == nil:
	case !s.Files:
		s.Why = fmt.Sprintf("%s (%v), and Landlock before Linux 6.2 does not stop truncation", none, namespaces)
	case !s.TCP:
		s.Why = fmt.Sprintf("%s (%v): the network can not be taken away, unix sockets are reachable", none, namespaces)
	case abi < 9:
		s.Why = fmt.Sprintf("%s (%v): UDP and unix sockets are reachable", none, namespaces)
	case abi < 10:
		s.Why = fmt.Sprintf("%s (%v): UDP is reachable", none, namespaces)
	default:
		s.Why = fmt.Sprintf("%s (%v): modes and times of files outside can be changed", none, namespaces)
	}
	return s
}

// holdsFiles says whether files can be confined: Landlock's ABI 3 also stops
// truncation, before that a read-only mount has to.
func holdsFiles(abi int, private bool) bool { return abi >= 3 || abi >= 1 && private }
