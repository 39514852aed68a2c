// Package hometemplate holds the files that a new home starts with, as they lie beside this one:
//
//	consciousness.el    the working state, all fields at their defaults (RFC v4 §3.1)
//	agent-chat.org      the conversation, empty
//	scratchpad.org      notes, empty
//	monologue.org       one line a tick, empty
//	config.yaml         every setting, commented out
//	.gitignore          what of a home is not for git
//	skills/core/        SKILL.md, the system prompt, and the references that it points at
//
// To change what a new mind is told, edit skills/core/SKILL.md: it is prose, and a test holds it to what the program does.
package hometemplate

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed consciousness.el *.org config.yaml .gitignore skills
var files embed.FS

//go:embed skills/core/SKILL.md
var core string

// Files returns the files of a new home under the paths that they have in it, such as ".gitignore".
func Files() fs.FS { return files }

// Core returns the text of the core skill as it is here: the system prompt of a home whose own can not be read.
func Core() string {
	_, text, _ := strings.Cut(core, "\n---\n") // the end of the front matter
	return strings.TrimLeft(text, "\n")
}
