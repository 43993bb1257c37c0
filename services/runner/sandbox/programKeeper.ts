/**
 * The keeper of a program that is started in a running sandbox. The keeper is the parent of the program, and gives it a terminal if it needs one. It
 * also becomes the parent of everything that the program leaves behind. So all processes of the program are below the keeper, and no others.
 */
import { becomesCommand, limitsItself, readsWords } from './bubblewrap/launcher.ts'
import type { ProgramSpec } from './program.ts'

/** The numbers of the system calls that the keeper makes, by processor architecture. */
const calls = {
  x64: { prctl: 157, setsid: 112 },
  arm64: { prctl: 167, setsid: 157 },
}
const ofThisMachine = process.arch === 'x64' || process.arch === 'arm64' ? calls[process.arch] : undefined

export const canKeep = process.platform === 'linux' && ofThisMachine !== undefined

/** The words for the keeper, which follow the words for the launcher: the numbers of system calls, the size of the terminal, and the command. */
export function keeperWords({ command, terminal }: ProgramSpec): readonly [string, ...string[]] {
  const { prctl, setsid } = ofThisMachine ?? calls.x64
  const { rows, columns } = terminal ?? { rows: 0, columns: 0 }
  return [String(prctl), ...[setsid, rows, columns].map(String), ...command]
}

/**
 * The keeper's own part of its script, in Perl like the launcher. Its arguments are the descriptors of the words and of the pipe to the runner. It
 * reads lines with the size of the terminal from the pipe, and writes one line with the exit code to it. Then it waits until it is killed or the
 * runner has gone; if the runner goes earlier, the keeper kills the program. 38 is PR_SET_NO_NEW_PRIVS and 36 PR_SET_CHILD_SUBREAPER of prctl(2). The
 * requests of ioctl(2) are TIOCSPTLCK, TIOCGPTN, TIOCSWINSZ and TIOCSCTTY.
 */
const keeps = `
my ($prctl, $setsid, $rows, $columns) = splice @words, 0, 4;
open(my $line, '+<&=', shift @ARGV) or exit 125;
syscall($prctl + 0, 38, 1, 0, 0, 0) == 0 or die "privileges cannot be given up: $!\\n";
syscall($prctl + 0, 36, 1, 0, 0, 0) == 0 or die "orphans cannot be kept: $!\\n";
my ($master, $slave);
if ($rows > 0) {
  sysopen($master, '/dev/ptmx', 2 | 256 | 2048) or die "there is no terminal: $!\\n";
  my $number = pack('i', 0);
  ioctl($master, 0x40045431, $number) && ioctl($master, 0x80045430, $number) or die "the terminal cannot be used: $!\\n";
  $slave = '/dev/pts/' . unpack('i', $number);
  ioctl($master, 0x5414, pack('S4', $rows, $columns, 0, 0));
}
$SIG{CHLD} = sub {};
my $child = fork;
die "no process can be started: $!\\n" unless defined $child;
if (!$child) {
  $SIG{CHLD} = 'DEFAULT';
  close $line;
  syscall($setsid + 0);
  if ($master) {
    close $master;
    sysopen(my $terminal, $slave, 2) or die "$slave: $!\\n";
    ioctl($terminal, 0x540e, 0);
    open(STDIN, '<&', $terminal);
    open(STDOUT, '>&', $terminal);
    open(STDERR, '>&', $terminal);
    close $terminal;
  }
  ${becomesCommand}
}
open(STDERR, '>', '/dev/null');
if (!$master) {
  open(STDIN, '<', '/dev/null');
  open(STDOUT, '>', '/dev/null');
}
# 4 is F_SETFL, and 2048 O_NONBLOCK.
fcntl(STDOUT, 4, 2048);
my ($input, $output, $heard, $status, $hasInput, $isQuiet) = ('', '', '', undef, $master ? 1 : 0, 0);
until (defined $status) {
  my ($read, $write) = ('', '');
  vec($read, fileno $line, 1) = 1;
  if ($master) {
    vec($read, fileno STDIN, 1) = 1 if $hasInput && $input eq '';
    vec($read, fileno $master, 1) = 1 if !$isQuiet && $output eq '';
    vec($write, fileno $master, 1) = 1 if $input ne '';
    vec($write, fileno STDOUT, 1) = 1 if $output ne '';
  }
  $isQuiet = 0;
  # A signal can come just before this call, so it does not wait for longer.
  if (select($read, $write, undef, 1) > 0) {
    if (vec($read, fileno $line, 1)) {
      if (!sysread($line, $heard, 256, length $heard)) { kill 'KILL', $child; exit }
      while ($heard =~ s/^(\\d+) (\\d+)\\n//) { ioctl($master, 0x5414, pack('S4', $1, $2, 0, 0)) if $master }
      $heard = '' if length $heard > 256;
    }
    if ($master) {
      $hasInput = 0 if vec($read, fileno STDIN, 1) && !sysread(STDIN, $input, 4096);
      # Reading fails while no process has the terminal open.
      $isQuiet = 1 if vec($read, fileno $master, 1) && !sysread($master, $output, 65536);
      if (vec($write, fileno $master, 1)) {
        my $count = syswrite($master, $input);
        substr($input, 0, $count) = '' if $count;
      }
      if (vec($write, fileno STDOUT, 1)) {
        my $count = syswrite(STDOUT, $output);
        substr($output, 0, $count) = '' if $count;
      }
    }
  }
  while ((my $ended = waitpid(-1, 1)) > 0) { $status = $? if $ended == $child }
}
fcntl(STDOUT, 4, 0);
do { syswrite(STDOUT, $output) } while ($master && sysread($master, $output, 65536));
open(STDOUT, '>', '/dev/null');
close $master if $master;
syswrite($line, ($status & 127 ? 128 + ($status & 127) : $status >> 8) . "\\n");
1 while sysread($line, $heard, 256);
`

/** The script of a keeper in a sandbox; below it, the script of a keeper without a sandbox. */
export const keeperScript = readsWords + limitsItself + keeps
export const plainKeeperScript = readsWords + keeps
