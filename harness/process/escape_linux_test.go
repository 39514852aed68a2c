package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	parts["try"] = func(args []string) {
		if err := attempts[args[0]].try(args[1]); err != nil {
			fmt.Println(err)
			syscall.Exit(1)
		}
		fmt.Println("succeeded")
	}
	parts["narrow"] = func(args []string) {
		// No namespaces may be made from here on.
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			fmt.Println(err)
			syscall.Exit(1)
		}
		err := syscall.Exec(self, args, os.Environ())
		fmt.Println(err)
		syscall.Exit(1)
	}
	parts["wait"] = func([]string) {
		fmt.Println("up")
		io.Copy(io.Discard, os.Stdin)
	}
}

// attempt is one way out. It is tried in a folder "in", which may be written,
// beside "out", which may not even be read. arg is what the case needs to know.
type attempt struct {
	try func(arg string) error
	// Landlock alone, before this version, does not stop it; 0: it always does.
	since int
	// What it needs to succeed unconfined.
	needs func() string
}

const never = 1 << 30

func readable(path string) error {
	b, err := os.ReadFile(path)
	if err == nil && !strings.HasPrefix(string(b), "outside") {
		return fmt.Errorf("read %q", b)
	}
	return err
}

func asRoot() string {
	if os.Geteuid() != 0 {
		return "root"
	}
	return ""
}

func initialNamespace() string {
	if m, _ := os.ReadFile("/proc/self/uid_map"); strings.Join(strings.Fields(string(m)), " ") != "0 0 4294967295" {
		return "root of the machine"
	}
	return asRoot()
}

func namespaces() string {
	if !Supported().Network {
		return "namespaces"
	}
	return ""
}

func ask(network, address string) error {
	c, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Write([]byte("ping")); err != nil {
		return err
	}
	b := make([]byte, 4)
	_, err = c.Read(b)
	return err
}

func process(pid string) int {
	n, _ := strconv.Atoi(pid)
	return n
}

var attempts = map[string]attempt{
	"read":          {try: func(string) error { return readable("../out/file") }},
	"list":          {try: func(string) error { _, err := os.ReadDir("../out"); return err }},
	"create":        {try: func(string) error { return os.WriteFile("../out/new", []byte("x"), 0o600) }},
	"create beside": {try: func(string) error { return os.WriteFile("../new", []byte("x"), 0o600) }},
	"overwrite":     {try: func(string) error { return os.WriteFile("../out/file", []byte("x"), 0o600) }},
	"append": {try: func(string) error {
		f, err := os.OpenFile("../out/file", os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = f.WriteString("x")
		}
		return err
	}},
	"truncate":   {try: func(string) error { return unix.Truncate("../out/file", 0) }, since: 3},
	"remove":     {try: func(string) error { return os.Remove("../out/file") }},
	"make dir":   {try: func(string) error { return os.Mkdir("../out/dir", 0o755) }},
	"rename out": {try: func(string) error { return os.Rename("file", "../out/moved") }},
	"rename in":  {try: func(string) error { return os.Rename("../out/file", "moved") }},
	"exchange": {try: func(string) error {
		return unix.Renameat2(unix.AT_FDCWD, "file", unix.AT_FDCWD, "../out/file", unix.RENAME_EXCHANGE)
	}},
	"link in": {try: func(string) error {
		if err := os.Link("../out/file", "linked"); err != nil {
			return err
		}
		return readable("linked")
	}},
	"link out": {try: func(string) error { return os.Link("file", "../out/linked") }},
	"by a link": {try: func(string) error {
		if err := os.Symlink("../out/file", "link"); err != nil {
			return err
		}
		return readable("link")
	}},
	"by a link of the folder": {try: func(string) error { return readable("there/file") }},
	"write by a link":         {try: func(string) error { return os.WriteFile("there/file", []byte("x"), 0o600) }},
	"/proc/self/root":         {try: func(out string) error { return readable("/proc/self/root" + out + "/file") }},
	"/proc/self/cwd":          {try: func(string) error { return readable("/proc/self/cwd/../out/file") }},
	"root of the parent": {try: func(out string) error {
		return readable(fmt.Sprintf("/proc/%d/root%s/file", os.Getppid(), out))
	}},
	"chmod": {try: func(string) error { return os.Chmod("../out/file", 0o777) }, since: never},
	"utime": {try: func(string) error { return os.Chtimes("../out/file", time.Unix(1, 0), time.Unix(1, 0)) }, since: never},
	"xattr": {try: func(string) error { return unix.Setxattr("../out/file", "user.x", []byte("x"), 0) }, since: never, needs: func() string {
		dir, err := os.MkdirTemp("", "xattr")
		if err != nil {
			return err.Error()
		}
		defer os.Remove(dir)
		if unix.Setxattr(dir, "user.x", []byte("x"), 0) != nil {
			return "a file system with attributes"
		}
		return ""
	}},
	"chown": {try: func(string) error { return os.Chown("../out/file", 1, 1) }, needs: initialNamespace},

	"abstract socket": {try: func(name string) error { return ask("unix", name) }, since: 6},
	"unix socket":     {try: func(path string) error { return ask("unix", path) }, since: 9},
	"tcp":             {try: func(address string) error { return ask("tcp", address) }, since: 4},
	"udp":             {try: func(address string) error { return ask("udp", address) }, since: 10},

	"signal": {try: func(pid string) error { return unix.Kill(process(pid), unix.SIGCONT) }, since: 6},
	"ptrace": {try: func(pid string) error {
		runtime.LockOSThread()
		return unix.PtraceSeize(process(pid))
	}, needs: func() string {
		if b, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil && string(b) > "0" {
			return "ptrace_scope 0"
		}
		return ""
	}},
	"environment of another": {try: func(pid string) error {
		b, err := os.ReadFile("/proc/" + pid + "/environ")
		if err == nil && !strings.Contains(string(b), "MARK=1") {
			return errors.New("of somebody else")
		}
		return err
	}},
	"memory of another": {try: func(pid string) error {
		f, err := os.OpenFile("/proc/"+pid+"/mem", os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		return err
	}},

	"mount": {try: func(string) error {
		if err := unix.Mount("x", ".", "tmpfs", 0, ""); err != nil {
			return err
		}
		return unix.Unmount("../in", unix.MNT_DETACH)
	}, needs: asRoot},
	"setuid":     {try: func(string) error { return syscall.Setuid(65534) }, needs: initialNamespace},
	"setgroups":  {try: func(string) error { return syscall.Setgroups([]int{1}) }, needs: initialNamespace},
	"chroot":     {try: func(string) error { return unix.Chroot(".") }, needs: asRoot},
	"device":     {try: func(string) error { return unix.Mknod("device", unix.S_IFBLK|0o600, 0) }, needs: initialNamespace},
	"host name":  {try: func(string) error { return sethostname() }, needs: initialNamespace},
	"user space": {try: func(string) error { return exec.Command("unshare", "-U", "true").Run() }, since: never, needs: namespaces},
	"/proc/sys": {try: func(string) error {
		f, err := os.OpenFile("/proc/sys/kernel/core_pattern", os.O_WRONLY, 0)
		if err == nil {
			f.Close()
		}
		return err
	}, needs: initialNamespace},
}

// sethostname gives the machine the name that it has.
func sethostname() error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	return unix.Sethostname([]byte(name))
}

// Each way out is open to a command that is not confined, and closed to one that is.
func TestEscape(t *testing.T) {
	s := Supported()
	if !s.Files {
		t.Skip(s)
	}
	t.Log(s)
	args := around(t)
	for name, a := range attempts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a.needs != nil {
				if what := a.needs(); what != "" {
					t.Skip("needs " + what)
				}
			}
			for _, inside := range []bool{false, true} {
				dir := t.TempDir()
				in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
				for _, err := range []error{
					os.Mkdir(in, 0o755), os.Mkdir(out, 0o755),
					os.WriteFile(filepath.Join(in, "file"), []byte("inside"), 0o600),
					os.WriteFile(filepath.Join(out, "file"), []byte("outside"), 0o600),
					os.Symlink("../out", filepath.Join(in, "there")),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
				before := look(t, dir)
				arg, ok := args[name]
				if !ok {
					arg = out
				}
				c := Command{Argv: []string{self, "try", name, arg}, Dir: in, Env: []string{path}, Tail: 1000, Time: time.Minute}
				if inside {
					c = confined(c, in)
				}
				r, err := Run(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				open := !inside || !s.Network && s.ABI < a.since
				if did := r.Out == "succeeded\n"; did != open {
					t.Errorf("confined %v: %s", inside, r.Out)
				}
				if after := look(t, dir); !open && after != before {
					t.Errorf("it said %s, and yet: %s, not %s", r.Out, after, before)
				}
			}
		})
	}
}

// around is what stands outside: servers and a process.
func around(t *testing.T) map[string]string {
	other := exec.Command(self, "wait")
	other.Env = []string{"MARK=1"}
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); other.Wait() })
	pid := strconv.Itoa(other.Process.Pid)
	args := map[string]string{"signal": pid, "ptrace": pid, "environment of another": pid, "memory of another": pid}

	dir, err := os.MkdirTemp("", "s") // short: a socket's path has 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, address := range map[string]string{"tcp": "127.0.0.1:0", "unix socket": dir + "/s", "abstract socket": "@" + dir} {
		network, _, unixish := strings.Cut(name, " socket")
		if unixish {
			network = "unix"
		}
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() { io.Copy(c, c); c.Close() }()
			}
		}()
		args[name] = l.Addr().String()
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { udp.Close() })
	go func() {
		b := make([]byte, 100)
		for {
			n, from, err := udp.ReadFrom(b)
			if err != nil {
				return
			}
			udp.WriteTo(b[:n], from)
		}
	}()
	args["udp"] = udp.LocalAddr().String()
	return args
}

// look is what is outside "in", with modes, times and contents.
func look(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.Walk(dir, func(path string, i os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == "in" {
			return filepath.SkipDir
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		fmt.Fprintf(&all, "%s %o %d:%d %d", rel, st.Mode, st.Uid, st.Gid, st.Nlink)
		if !i.IsDir() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			n, _ := unix.Getxattr(path, "user.x", nil)
			fmt.Fprintf(&all, " %s %s %d", i.ModTime(), b, n)
		}
		all.WriteString("; ")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// The same, and all that is said about confined commands, where namespaces are
// forbidden: in a namespace that allows no more of them.
func TestLandlockAlone(t *testing.T) {
	if s := Supported(); !s.Network || !s.Files {
		t.Skip(s)
	}
	t.Parallel()
	c := exec.Command(self, "narrow", self, "-test.run=^(TestEscape|TestInside|TestKilled|TestDescriptors)$", "-test.v", "-test.parallel=4")
	c.SysProcAttr = private(true)
	c.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER
	c.SysProcAttr.AmbientCaps = append(c.SysProcAttr.AmbientCaps, unix.CAP_SYS_CHROOT)
	c.Dir = t.TempDir()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestEscape/udp") || !strings.Contains(string(out), "UDP and unix sockets are reachable") {
		t.Errorf("not tried:\n%s", out)
	}
	if testing.Verbose() {
		t.Logf("%s", out)
	}
}
