/** Enters the namespaces of a sandbox that bubblewrap has made, to start a program there. */
import type { SandboxLimits } from '../port.ts'
import { boundsOf, setsBounds } from './launcher.ts'

export interface Entry {
  /** The first process of the sandbox. `birth` tells it from a later one with the same id. */
  readonly first: { readonly pid: number; readonly birth: string }
  readonly hasUserNamespace: boolean
  readonly limits: SandboxLimits
  readonly start: readonly string[]
}

/**
 * The command line of a Perl script that enters a sandbox. The script begins when it reads a byte from descriptor 3, and has this server's
 * permissions until it has entered. Then it sets the limits and loads the filter of system calls from descriptor 5. After that it starts `start` in
 * the sandbox, writes the process id of `start` to descriptor 3, and exits with the exit code of `start`. The limits and the filter come first: as
 * soon as `start` runs, other processes of the same user can change its memory.
 */
export function enterCommand({
  first,
  hasUserNamespace,
  limits,
  start,
}: Entry): readonly [string, ...string[]] {
  return [
    'perl',
    '-e',
    script,
    String(first.pid),
    first.birth,
    hasUserNamespace ? '1' : '0',
    ...calls,
    ...boundsOf(limits),
    ...start,
  ]
}

/** The numbers of the system calls setns(2), prctl(2) and seccomp(2) on this machine's processor. */
const calls = process.arch === 'arm64' ? ['268', '167', '277'] : ['308', '157', '317']

/**
 * bubblewrap makes two user namespaces: the outer one owns the other namespaces, and commands run in the inner one. 0xb701 is NS_GET_USERNS of
 * ioctl_ns(2). No capability is left when `start` begins: the user of `start` is not root in the inner one, and the bounding set is emptied; 24 is
 * PR_CAPBSET_DROP and 38 PR_SET_NO_NEW_PRIVS of prctl(2).
 */
const script = `
my ($pid, $birth, $hasUser, $setns, $prctl, $seccomp, $call, $processes, $file, $memory) = splice @ARGV, 0, 10;
open(my $line, '+<&=', 3) or exit 125;
open(my $filter, '<&=', 5) or exit 125;
sysread($line, my $go, 1) or exit 125;
my %spaces;
for my $name (qw(user ipc uts net cgroup pid mnt)) {
  my $own = readlink "/proc/self/ns/$name";
  next if $own eq (readlink("/proc/$pid/ns/$name") || '');
  open($spaces{$name}, '<', "/proc/$pid/ns/$name") or die "the sandbox cannot be entered: $!\\n";
}
open(my $facts, '<', "/proc/$pid/stat") or die "the sandbox has ended\\n";
my $stat = readline $facts;
close $facts;
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
my $instructions = do { local $/; <$filter> };
close $filter;
${setsBounds}
if (length $instructions) {
  syscall($prctl + 0, 38, 1, 0, 0, 0) == 0 or die "privileges cannot be given up: $!\\n";
  my $program = pack('S x6 P', length($instructions) / 8, $instructions);
  syscall($seccomp + 0, 1, 0, $program) == 0 or die "the filter cannot be set: $!\\n";
}
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
