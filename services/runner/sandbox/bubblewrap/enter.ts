/** Enters the namespaces of a sandbox that bubblewrap has made, to start a program there. */

/**
 * The command line, in Perl. It runs outside, with this server's permissions, until it has entered; then it starts `start` inside, writes the process id
 * of it to descriptor 3, and exits as it does. It begins when it reads a byte from descriptor 3. `birth` tells the first process of the sandbox from a
 * later one with the same id.
 */
export function entering(
  first: { readonly pid: number; readonly birth: string },
  hasUserNamespace: boolean,
  start: readonly string[],
): readonly [string, ...string[]] {
  return [
    'perl',
    '-e',
    script,
    String(first.pid),
    first.birth,
    hasUserNamespace ? '1' : '0',
    ...calls,
    ...start,
  ]
}

/** The numbers of setns(2) and prctl(2). */
const calls = process.arch === 'arm64' ? ['268', '167'] : ['308', '157']

/**
 * bubblewrap makes two user namespaces: the outer one owns the other namespaces, and its commands are in the inner one. 0xb701 is NS_GET_USERNS of
 * ioctl_ns(2). No capability is left when `start` begins: its user is not root in the inner one, and the bounding set is emptied; 24 is
 * PR_CAPBSET_DROP of prctl(2).
 */
const script = `
my ($pid, $birth, $hasUser, $setns, $prctl) = splice @ARGV, 0, 5;
open(my $line, '+<&=', 3) or exit 125;
sysread($line, my $go, 1) or exit 125;
my %spaces;
for my $name (qw(user ipc uts net cgroup pid mnt)) {
  my $own = readlink "/proc/self/ns/$name";
  next if $own eq (readlink("/proc/$pid/ns/$name") || '');
  open($spaces{$name}, '<', "/proc/$pid/ns/$name") or die "the sandbox cannot be entered: $!\\n";
}
open(my $file, '<', "/proc/$pid/stat") or die "the sandbox has ended\\n";
my $stat = readline $file;
close $file;
$stat =~ s/.*\\) //s;
die "the sandbox has ended\\n" unless (split ' ', $stat)[19] eq $birth && $spaces{pid} && $spaces{mnt};
sub enter { my ($descriptor, $what) = @_; syscall($setns + 0, $descriptor + 0, 0) == 0 or die "$what cannot be entered: $!\\n" }
my $hasInner = 0;
if ($hasUser) {
  my $owner = ioctl($spaces{mnt}, 0xb701, 0) or die "the owner of the sandbox cannot be found: $!\\n";
  open($spaces{owner}, '<&=', $owner) or die "the owner of the sandbox cannot be found: $!\\n";
  $hasInner = (stat $spaces{owner})[1] != (stat $spaces{user})[1];
  enter($owner, 'owner');
}
for my $name (qw(ipc uts net cgroup pid mnt)) { enter(fileno $spaces{$name}, $name) if $spaces{$name} }
enter(fileno $spaces{user}, 'user') if $hasInner;
my $child = fork;
die "no process can be started: $!\\n" unless defined $child;
if (!$child) {
  close $line;
  if ($hasUser) { syscall($prctl + 0, 24, $_, 0, 0, 0) for 0 .. 63 }
  chdir '/';
  exec { $ARGV[0] } @ARGV;
  die "$ARGV[0]: $!\\n";
}
syswrite($line, "$child\\n");
close STDIN;
close STDOUT;
close STDERR;
waitpid($child, 0);
exit($? & 127 ? 128 + ($? & 127) : $? >> 8);
`
