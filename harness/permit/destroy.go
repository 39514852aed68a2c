package permit

import (
	"slices"
	"strings"
)

// remove is rm and its kin.
func remove(name string) program {
	return func(j *judge, c call, args []string) flow {
		o := options(args, "-n --iterations -s --size --random-source --interactive --remove")
		all := o.has("-r", "-R", "--recursive", "-rf", "-fr") || name == "trash" || name == "trash-put" || name == "wipe" || name == "srm" && o.has("-r")
		if slices.ContainsFunc(o.rest, func(p string) bool { return p == unknown }) && !slices.Contains(args, "--") {
			j.blind(c, "it is not known what is removed")
		}
		for _, p := range o.rest {
			if name == "shred" || name == "wipe" {
				j.writes(c, p, false)
			}
			j.removes(c, p, all)
		}
		if len(o.rest) == 0 && len(args) > 0 && !o.has("--help", "--version") {
			j.asks(c, name, "it removes files")
		}
		return flow{known: true}
	}
}

// transfer is what copies, moves or links files.
func transfer(name string) program {
	valued := map[string]string{"cp": "-t --target-directory -S --suffix", "mv": "-t --target-directory -S --suffix", "ln": "-t --target-directory -S --suffix",
		"install": "-t --target-directory -m --mode -o --owner -g --group -S --suffix", "rsync": "-e --rsh --exclude --include --exclude-from --include-from --files-from -f --filter --rsync-path --partial-dir --backup-dir --bwlimit --chmod --chown --port --password-file -T --temp-dir --log-file --link-dest --compare-dest --copy-dest"}
	return func(j *judge, c call, args []string) flow {
		name := strings.TrimPrefix(name, "g")
		o := options(args, valued[name])
		sources, target := o.rest, ""
		if t, ok := o.value("-t", "--target-directory"); ok && name != "rsync" {
			target = t
		} else if len(sources) > 0 {
			target, sources = sources[len(sources)-1], sources[:len(sources)-1]
		}
		if target == "" {
			j.asks(c, name, "it is not known what is written")
			return flow{}
		}
		remote := false
		if name == "rsync" {
			for _, p := range o.rest {
				if host, _, ok := strings.Cut(p, ":"); ok && !strings.Contains(host, "/") {
					remote = true
					j.contact(c, host[strings.LastIndex(host, "@")+1:], "rsync", false)
				}
			}
			if v, ok := o.value("-e", "--rsh"); ok {
				j.blind(c, "it runs another program")
				j.probe(v, c.at)
			}
			if o.has("--delete", "--del", "--delete-before", "--delete-after", "--delete-during", "--delete-excluded") && !strings.Contains(target, ":") {
				j.removes(c, target, true)
			}
		}
		tree := len(sources) > 1 || name == "rsync" || o.has("-r", "-R", "-a", "--archive", "--recursive")
		for _, s := range sources {
			tree = tree || strings.Contains(s, star)
			if remote && strings.Contains(s, ":") {
				continue
			}
			switch name {
			case "mv":
				j.removes(c, s, true)
			case "ln":
				if o.has("-s", "--symbolic") {
					continue
				}
				j.reads(c, s, false)
			default:
				j.reads(c, s, tree)
				if o.has("--remove-source-files") {
					j.removes(c, s, true)
				}
			}
		}
		if name == "install" && o.has("-d", "--directory") {
			for _, s := range o.rest {
				j.writes(c, s, false)
			}
			return flow{}
		}
		if !(remote && strings.Contains(target, ":")) {
			j.writes(c, target, tree)
			for _, s := range sources { // into a folder, by its name
				if base := s[strings.LastIndex(strings.TrimRight(s, "/"), "/")+1:]; base != "" && base != "." && base != ".." && !strings.Contains(s, ":") {
					j.into(c, strings.TrimRight(target, "/")+"/"+strings.TrimRight(base, "/"))
				}
			}
		}
		if name == "ln" && len(sources) == 0 {
			j.asks(c, name, "it makes a link")
		}
		return flow{known: true}
	}
}

// into looks at a file that would be written if the target is a folder.
func (j *judge) into(c call, p string) {
	was := j.probing
	j.probing = true
	j.writes(c, p, false)
	j.probing = was
}

func dd(j *judge, c call, args []string) flow {
	wrote := false
	for _, a := range args {
		key, v, _ := strings.Cut(a, "=")
		switch {
		case key == "of":
			j.writes(c, v, false)
			wrote = true
		case key == "if":
			j.reads(c, v, false)
		case strings.Contains(key, unknown) || strings.Contains(key, star):
			j.blind(c, "it is not known what is written")
		}
	}
	if !wrote {
		j.asks(c, "dd", "it copies raw data")
	}
	return flow{}
}

// writer is what writes its operands.
func writer(name string) program {
	valued := map[string]string{"touch": "-d --date -r --reference -t", "mkdir": "-m --mode -Z", "truncate": "-s --size -r --reference", "patch": "-p -i --input -d --directory -o --output -r -B -z -F --strip",
		"split": "-b -l -n -a -C -d --filter", "mknod": "-m --mode", "mkfifo": "-m --mode", "fallocate": "-l -o --length --offset", "mktemp": "-p --tmpdir --suffix"}
	return func(j *judge, c call, args []string) flow {
		o := options(args, valued[name])
		if o.has("--version", "--help") && len(args) == 1 {
			return flow{}
		}
		switch name {
		case "patch":
			if v, ok := o.value("-i", "--input"); ok {
				j.reads(c, v, false)
			}
			if v, ok := o.value("-d", "--directory"); ok {
				j.writes(c, v, true)
			}
			if o.has("--dry-run") && !slices.Contains(args, "-o") {
				return flow{}
			}
			j.asks(c, "patch", "it writes the files that the patch names")
		case "split", "csplit", "mktemp":
			j.asks(c, name, "it makes new files")
			if v, ok := o.value("--filter"); ok {
				j.text(v, c.at.copy(), flow{}, false)
			}
			if len(o.rest) > 1 {
				j.reads(c, o.rest[0], false)
				o.rest = o.rest[1:]
			}
		}
		for _, p := range o.rest {
			if name == "truncate" {
				j.truncates(c, p)
			}
			j.writes(c, p, false)
		}
		if len(o.rest) == 0 && (name == "tee" || name == "sponge") {
			return c.in
		}
		if name == "tee" {
			return c.in
		}
		return flow{known: name == "touch" || name == "mkdir"}
	}
}

// truncates refuses to empty what must not be removed.
func (j *judge) truncates(c call, p string) {
	was := j.probing
	j.probing = true
	j.removes(c, p, false)
	j.probing = was
}

// modes is what changes who may use files.
func modes(name string) program {
	return func(j *judge, c call, args []string) flow {
		o := options(args, "--reference --from -m --modify -x --remove -M -X -n -v")
		all := o.has("-R", "-r", "--recursive")
		paths := o.rest
		if !o.has("--reference") && len(paths) > 0 && name != "setfacl" && name != "setfattr" {
			paths = paths[1:]
		}
		if name == "chmod" && len(o.rest) == 1 { // chmod -x file
			paths = o.rest
		}
		j.find(finding{tier: Ask, why: "it changes who may use files", kind: "run:" + name, words: c.argv, dir: c.dir()})
		for _, p := range paths {
			j.into(c, p)
			was := j.probing
			j.probing = true
			if all || strings.Contains(p, star) {
				j.removes(c, p, true)
			} else {
				for _, pl := range j.places(p, c.at.cwd) {
					if pl.path == "/" || pl.path == clean(j.User) && j.User != "" {
						j.refuses(c, name, "it changes who may use "+pl.path)
						j.probing = false
						j.refuses(c, name, "it changes who may use "+pl.path)
						j.probing = true
					}
				}
			}
			j.probing = was
			for _, pl := range j.places(p, c.at.cwd) {
				j.touch(Writes, pl.path)
				if !pl.sure {
					j.blind(c, "it is not known which files")
				}
			}
		}
		return flow{}
	}
}

func tar(j *judge, c call, args []string) flow {
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		args = append([]string{"-" + args[0]}, args[1:]...)
	}
	o := options(args, "-f --file -C --directory -T --files-from -X --exclude-from --exclude -b -I --use-compress-program --to-command --checkpoint-action --checkpoint --transform --strip-components --owner --group --mode -g --listed-incremental -F --info-script --rsh-command")
	file, _ := o.value("-f", "--file")
	if strings.HasPrefix(file, star) || slices.ContainsFunc(o.rest, func(a string) bool { return strings.HasPrefix(a, star) }) {
		j.blind(c, "a file's name may be an option of tar: write ./ before it")
	}
	for _, f := range []string{"-I", "--use-compress-program", "--to-command", "--checkpoint-action", "-F", "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command"} {
		for _, v := range o.values(f) {
			j.blind(c, "it runs another program")
			j.probe(strings.TrimPrefix(v, "exec="), c.at)
		}
	}
	if strings.Contains(file, ":") && !o.has("--force-local") {
		j.contact(c, file[:strings.Index(file, ":")], "tar", false)
	}
	at := c.at
	if dir, ok := o.value("-C", "--directory"); ok {
		at = c.at.copy()
		at.cwd = j.enter(dir, at)
	}
	in := call{argv: c.argv, at: at}
	switch {
	case o.has("-t", "--list") && !o.has("-x", "-c", "-r", "-u", "-A", "--extract", "--get", "--create", "--append", "--update", "--delete", "--concatenate"):
		if file != "" && file != "-" {
			j.reads(c, file, false)
		}
	case o.has("-x", "--extract", "--get"):
		if file != "" && file != "-" {
			j.reads(c, file, false)
		}
		j.writes(in, ".", true)
		if o.has("-P", "--absolute-names") {
			j.blind(c, "it may write anywhere")
		}
	default:
		for _, p := range o.rest {
			j.reads(in, p, true)
			if o.has("--remove-files") {
				j.removes(in, p, true)
			}
		}
		if file != "" && file != "-" {
			j.writes(c, file, false)
		} else if !o.has("-c", "--create") {
			j.asks(c, "tar", "it is not known what tar does")
		}
	}
	return flow{}
}

// archive is what packs and unpacks.
func archive(name string) program {
	return func(j *judge, c call, args []string) flow {
		o := options(args, "-d -o -x")
		reading := o.has("-l", "-t", "--list", "--test", "-v") && strings.HasPrefix(name, "un") && name != "unxz" && name != "unzstd" ||
			o.has("-l", "--list", "-t", "--test") && name != "zip" && name != "cpio" || (o.has("-c", "--stdout", "--to-stdout") || len(o.rest) == 0) && name != "cpio" && name != "zip" && !strings.HasPrefix(name, "7z") && name != "unzip" && name != "unrar"
		if strings.HasPrefix(name, "7z") {
			reading = len(o.rest) > 0 && (o.rest[0] == "l" || o.rest[0] == "t")
			o.rest = o.rest[min(1, len(o.rest)):]
		}
		if name == "unzip" || name == "unrar" {
			o.rest = o.rest[:min(1, len(o.rest))]
		}
		for _, p := range o.rest {
			j.reads(c, p, false)
		}
		if reading {
			return flow{}
		}
		if dir, ok := o.value("-d"); ok && name == "unzip" {
			j.writes(c, dir, true)
		}
		if o.has("-m") && name == "zip" {
			for _, p := range o.rest[min(1, len(o.rest)):] {
				j.removes(c, p, true)
			}
		}
		for _, p := range o.rest {
			j.into(c, p)
		}
		j.asks(c, name, "it writes files")
		return flow{}
	}
}

// disk is what works on disks as a whole.
func disk(name string) program {
	return func(j *judge, c call, args []string) flow {
		o := options(args, "")
		reads := o.has("-l", "--list", "-p", "--print", "--help", "--version", "-I", "-V") || len(args) == 0 ||
			slices.ContainsFunc(o.rest, func(a string) bool { return slices.Contains(strings.Fields("list info status print get history"), a) })
		destroys := map[string]bool{"wipefs": o.has("-a", "--all", "-o", "-f"), "blkdiscard": true, "mke2fs": true, "mkswap": true, "dban": true, "nwipe": true, "format": true, "grub-install": false,
			"fdisk": !reads, "sfdisk": !reads, "gdisk": !reads, "sgdisk": !reads, "cfdisk": true, "parted": !reads, "flashrom": o.has("-w", "-E", "--write", "--erase"),
			"lvremove": true, "vgremove": true, "pvremove": true, "partclone.restore": true, "ntfsclone": o.has("-O", "--overwrite"), "badblocks": o.has("-w"),
			"hdparm": slices.ContainsFunc(args, func(a string) bool {
				return strings.HasPrefix(a, "--security-erase") || strings.HasPrefix(a, "--trim-sector") || strings.HasPrefix(a, "--make-bad") || strings.HasPrefix(a, "--dco")
			}),
			"nvme": slices.Contains(o.rest, "format") || slices.Contains(o.rest, "sanitize"), "mdadm": o.has("--zero-superblock"), "debugfs": o.has("-w"),
			"cryptsetup": slices.ContainsFunc(o.rest, func(a string) bool {
				return slices.Contains(strings.Fields("luksFormat erase luksErase luksKillSlot luksRemoveKey reencrypt"), a)
			}),
			"zpool": slices.Contains(o.rest, "destroy") || slices.Contains(o.rest, "labelclear"), "zfs": slices.Contains(o.rest, "destroy"),
			"diskutil": slices.ContainsFunc(o.rest, func(a string) bool {
				a = strings.ToLower(a)
				return strings.HasPrefix(a, "erase") || strings.HasPrefix(a, "zero") || strings.HasPrefix(a, "partition") || strings.HasPrefix(a, "random") || strings.HasPrefix(a, "secure") || a == "reformat" || a == "apfs"
			}), "asr": slices.Contains(o.rest, "restore")}[name]
		if destroys && !(len(args) == 1 && o.has("--help", "--version")) {
			j.refuses(c, name, "it destroys what is on a disk")
			return flow{}
		}
		j.asks(c, name, "it works on disks")
		return flow{}
	}
}

func kill(j *judge, c call, args []string) flow {
	if len(args) == 2 && args[0] == "-0" || len(args) == 1 && (args[0] == "-l" || args[0] == "-L") {
		return flow{known: true}
	}
	j.asks(c, c.argv[0], "it ends other processes")
	return flow{}
}
