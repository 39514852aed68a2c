package permit

import (
	"path"
	"slices"
	"strings"
)

// find walks folders, and may remove or run what it finds.
func find(j *judge, c call, args []string) flow {
	var roots []string
	i := 0
	for ; i < len(args); i++ {
		if a := args[i]; a == "-H" || a == "-L" || a == "-P" || strings.HasPrefix(a, "-O") {
			continue
		} else if a == "-D" {
			i++
			continue
		}
		if strings.HasPrefix(args[i], "-") || args[i] == "(" || args[i] == "!" {
			break
		}
		roots = append(roots, args[i])
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	expr := args[i:]
	name := narrowed(expr)
	var found []string
	for _, r := range roots {
		j.reads(c, r, true)
		if name == "" {
			found = append(found, r)
		} else {
			found = append(found, strings.TrimRight(r, "/")+"/"+name)
		}
	}
	listed := true
	for i := 0; i < len(expr); i++ {
		switch expr[i] {
		case "-delete":
			for _, p := range found {
				j.removes(c, p, true)
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(expr) && expr[end] != ";" && !(expr[end] == "+" && expr[end-1] == "{}") {
				end++
			}
			if expr[i] != "-exec" { // it runs where it finds
				j.asks(c, "find "+expr[i], "find runs a command in each folder")
			}
			for _, p := range found {
				var inner []string
				for _, w := range expr[i+1 : min(end, len(expr))] {
					inner = append(inner, strings.ReplaceAll(w, "{}", p))
				}
				j.call(c.with(inner))
			}
			i = end
			listed = false
		case "-fprint", "-fls", "-fprintf", "-fprint0":
			if i+1 < len(expr) {
				j.writes(c, expr[i+1], false)
				i++
			}
		case "-files0-from":
			j.blind(c, "it is not known what is read")
		case "-printf", "-ls":
			listed = false
		case "-name", "-iname", "-path", "-regex", "-type", "-newer", "-mtime", "-size", "-maxdepth", "-mindepth", "-wholename", "-ipath", "-iregex":
			i++
		default:
			if strings.Contains(expr[i], unknown) {
				j.blind(c, "it is not known what find does")
			}
		}
	}
	if listed {
		return listing(found)
	}
	return flow{}
}

// listing is a list of paths as output, all that lies below them too.
func listing(paths []string) flow {
	var out strings.Builder
	for _, p := range paths {
		out.WriteString(p + "\n")
	}
	return flow{text: out.String(), known: !strings.Contains(out.String(), unknown), paths: true}
}

// narrowed is the glob of the names that find's expression lets through; "" is
// any. Only a plain -name that nothing weakens counts.
func narrowed(expr []string) string {
	if slices.ContainsFunc(expr, func(a string) bool { return slices.Contains(strings.Fields("-o -or , ! -not"), a) }) {
		return ""
	}
	for i, a := range expr {
		if (a == "-name" || a == "-iname") && i+1 < len(expr) {
			p := bare(expr[i+1])
			if len(strings.ReplaceAll(p, star, "")) < 2 || strings.Contains(p, unknown) || strings.Contains(p, "/") {
				return ""
			}
			if strings.HasPrefix(a, "-i") {
				p = strings.ToLower(p)
			}
			return p
		}
		if a == "-delete" || strings.HasPrefix(a, "-exec") { // what stands behind narrows nothing
			return ""
		}
	}
	return ""
}

// xargs runs a command on what it reads.
func xargs(j *judge, c call, args []string) flow {
	valued := strings.Fields("-I -i -n -P -L -s -d -E -a --arg-file --max-args --max-procs --max-lines --delimiter --replace -J -R -S -j --jobs --colsep")
	replace, i := "", 0
	in := c.in
	for ; i < len(args) && strings.HasPrefix(args[i], "-") && args[i] != "-"; i++ {
		a := args[i]
		if a == "--" {
			i++
			break
		}
		if strings.HasPrefix(a, "-I") || a == "-J" || strings.HasPrefix(a, "--replace") {
			if replace = strings.TrimPrefix(a, "-I"); replace == "" && i+1 < len(args) {
				replace = args[i+1]
			}
			if replace == "" || strings.HasPrefix(replace, "-") {
				replace = "{}"
			}
		}
		if strings.HasPrefix(a, "-i") {
			replace = "{}"
		}
		if a == "-a" || strings.HasPrefix(a, "--arg-file") {
			in = flow{}
		}
		if slices.Contains(valued, a) {
			i++
		}
	}
	inner := args[min(i, len(args)):]
	if len(inner) == 0 {
		return flow{}
	}
	if path.Base(c.argv[0]) == "parallel" {
		j.asks(c, "parallel", "it runs many commands at once")
		if replace == "" {
			replace = "{}"
		}
		for k, a := range inner {
			if strings.HasPrefix(a, ":::") {
				in = flow{text: strings.Join(inner[k+1:], "\n"), known: true}
				inner = inner[:k]
				break
			}
		}
		if !slices.ContainsFunc(inner, func(a string) bool { return strings.Contains(a, replace) }) {
			inner = append(slices.Clone(inner), replace)
		}
		if len(inner) < 3 {
			j.probe(strings.ReplaceAll(inner[0], "{}", strings.TrimSpace(in.text)), c.at)
		}
	}
	fields := []string{unknown}
	if in.known {
		text := in.text
		if in.paths { // bare marks them as globs do
			fields = nil
			for line := range strings.Lines(text) {
				fields = append(fields, strings.TrimSuffix(line, "\n"))
			}
		} else {
			fields = strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == 0 })
		}
	}
	if replace != "" {
		for _, f := range fields {
			var argv []string
			for _, a := range inner {
				argv = append(argv, strings.ReplaceAll(a, replace, f))
			}
			j.call(call{argv: argv, at: c.at, in: flow{known: true}})
		}
		if len(fields) > 0 {
			return flow{}
		}
	}
	j.call(call{argv: append(slices.Clone(inner), fields...), at: c.at, in: flow{known: true}})
	return flow{}
}
