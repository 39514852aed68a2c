package journal

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/config"
)

// gitWait bounds questions to the git binary.
const gitWait = 5 * time.Second

// Human is the user's git identity in root: what `git var GIT_AUTHOR_IDENT`
// says, else what the config files say, else human <human@localhost>.
func Human(ctx context.Context, root string) Ident {
	ctx, cancel := context.WithTimeout(ctx, gitWait)
	defer cancel()
	if out, err := gitCommand(ctx, root, "var", "GIT_AUTHOR_IDENT").Output(); err == nil {
		name, rest, _ := strings.Cut(string(out), " <")
		if email, _, ok := strings.Cut(rest, ">"); ok && name != "" {
			return Ident{name, email}
		}
	}
	var who Ident
	for _, cfg := range configs(root) {
		if v := cfg.Raw.Section("user").Option("name"); v != "" && who.Name == "" {
			who.Name = v
		}
		if v := cfg.Raw.Section("user").Option("email"); v != "" && who.Email == "" {
			who.Email = v
		}
	}
	if who.Name == "" {
		who.Name = "human"
	}
	if who.Email == "" {
		who.Email = "human@localhost"
	}
	return who
}

// configs reads the git config files that apply to root, the strongest first.
// It serves where there is no git binary to ask, and follows no includes.
func configs(root string) (out []*config.Config) {
	paths := []string{filepath.Join(root, ".git", "config"), "", filepath.Join(xdg(), "config"), "/etc/gitconfig"}
	if home, err := os.UserHomeDir(); err == nil {
		paths[1] = filepath.Join(home, ".gitconfig")
	}
	for _, p := range paths {
		if cfg, err := readConfig(p); p != "" && err == nil {
			out = append(out, cfg)
		}
	}
	return out
}

// xdg is the user's git folder.
func xdg() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", "git")
}

// globalExcludes is the path of the user's own ignore file: core.excludesFile,
// else git's default. It may not exist.
func globalExcludes(root string) string {
	ctx, cancel := context.WithTimeout(context.Background(), gitWait)
	defer cancel()
	out, err := gitCommand(ctx, root, "config", "--type=path", "--get", "core.excludesFile").Output()
	if err == nil {
		return strings.TrimRight(string(out), "\n")
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return filepath.Join(xdg(), "ignore") // git says: not set
	}
	for _, cfg := range configs(root) {
		if core := cfg.Raw.Section("core"); core.HasOption("excludesfile") {
			path := core.Option("excludesfile")
			if rest, ok := strings.CutPrefix(path, "~/"); ok {
				if home, err := os.UserHomeDir(); err == nil {
					path = filepath.Join(home, rest)
				}
			}
			return path
		}
	}
	return filepath.Join(xdg(), "ignore")
}
