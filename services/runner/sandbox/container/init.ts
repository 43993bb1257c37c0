/**
 * The first process of a container, in Perl, which every Debian has: it is the one that nothing inside can end or stop. It takes the
 * command's environment from its input, so that no list of processes and no file of the engine has it; starts the command; and ends,
 * and everything in the container with it, when the command has ended or the line to the runner breaks.
 */

/**
 * Its command line. From `line`, a named pipe, it reads each `Word`, and it ends when the runner closes the pipe. To `answers`, another, it writes
 * each `Answer`. Once it has written `open`, both must be made inaccessible to others: nothing else runs in the container until it has its environment.
 * `staying`: how many processes of the container are its own: the command, and what that starts beside itself before it reads its input.
 */
export function firstProcess(line: string, answers: string, staying: number): readonly string[] {
  return ['/usr/bin/perl', '-e', script, line, answers, String(staying)]
}

/** What its input begins with: the environment's length and the environment. What follows is the command's own. */
export function opening(env: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(env).map(([name, value]) => {
    if (`${name}${value}`.includes('\0')) throw new RangeError('a variable of the sandbox holds a NUL')
    return `${name}=${value}`
  })
  const bytes = Buffer.from(entries.join('\0'), 'utf8')
  return Buffer.concat([Buffer.from(bytes.length.toString(16).padStart(8, '0'), 'latin1'), bytes])
}

/** `freeze`: to end all but its own and to stop these; it answers `frozen` or `lost`. */
export type Word = 'interrupt' | 'end' | 'freeze' | 'thaw'
/** `settled`: those that stay are there. */
export type Answer = 'open' | 'settled' | 'frozen' | 'lost'

/** 125: it could not begin; 127: there is no such command; 137: it was ended. Else as a shell tells it. */
const script = `
# 2048: not to wait for a runner that is gone already; who cannot be answered is (1: to write).
sysopen(my $line, shift @ARGV, 2048) or exit 125;
sysopen(my $answers, shift @ARGV, 2048 | 1) or exit 125;
my $wanted = shift @ARGV;
# Others of its own user may not look into it: what it holds open is not for them (PR_SET_DUMPABLE, by the number it has here).
use Config;
my $prctl = $Config{archname} =~ /x86_64/ ? 157 : $Config{archname} =~ /aarch64/ ? 167 : undef;
syscall($prctl, 4, 0, 0, 0, 0) if defined $prctl;
sub answer { syswrite($answers, "$_[0]\n") }
# When a process began, and whether it lives: one whose first thread has ended looks dead while others go on.
sub facts {
  open(my $file, '<', "/proc/$_[0]/stat") or return;
  my $stat = readline $file;
  return unless defined $stat;
  $stat =~ s/.*\\) //s;
  my @fields = split ' ', $stat;
  return ($fields[19], $fields[0] !~ /[ZX]/ || $fields[17] > 1);
}
sub others { opendir(my $folder, '/proc') or return; return grep { /^\\d+$/ && $_ != $$ } readdir $folder }
my %staying;
sub settle {
  my %found = map { my ($birth, $lives) = facts($_); $lives ? ($_ => $birth) : () } others();
  return if keys %found < $wanted;
  %staying = %found;
  $wanted = 0;
  answer('settled');
}
sub stopped {
  for my $pid (keys %staying) {
    opendir(my $folder, "/proc/$pid/task") or return 0;
    for my $thread (grep { /^\\d+$/ } readdir $folder) {
      open(my $file, '<', "/proc/$pid/task/$thread/stat") or next;
      my $stat = readline $file;
      return 0 if defined $stat && $stat !~ /.*\\) [TtZX]/s;
    }
  }
  return 1;
}
sub freeze {
  return 'lost' unless %staying;
  for (1 .. 2000) {
    # At once for all: none can begin another.
    kill 'STOP', -1;
    my %missing = %staying;
    my $more = 0;
    for my $pid (others()) {
      my ($birth, $lives) = facts($pid);
      if ($lives && defined $missing{$pid} && $missing{$pid} eq $birth) { delete $missing{$pid}; next }
      next if defined $birth && !$lives;
      $more = 1;
      kill 'KILL', $pid;
    }
    return 'lost' if %missing;
    return 'frozen' if !$more && stopped();
    select(undef, undef, undef, 0.002);
  }
  return 'lost';
}
answer('open');
sub take {
  my ($wanted) = @_;
  my $got = '';
  while (length $got < $wanted) {
    my $count = sysread(STDIN, my $part, $wanted - length $got);
    exit 125 unless $count;
    $got .= $part;
  }
  return $got;
}
%ENV = map { split /=/, $_, 2 } split /\\0/, take(hex take(8));
$SIG{CHLD} = sub {};
my $command = fork;
exit 125 unless defined $command;
if (!$command) {
  setpgrp(0, 0);
  $SIG{CHLD} = 'DEFAULT';
  exec { $ARGV[0] } @ARGV;
  print STDERR "$ARGV[0]: $!\\n";
  exit 127;
}
setpgrp($command, $command);
open(STDIN, '<', '/dev/null');
open(STDOUT, '>', '/dev/null');
open(STDERR, '>', '/dev/null');
for (;;) {
  my $heard = '';
  vec($heard, fileno $line, 1) = 1;
  settle() if $wanted;
  if (select($heard, undef, undef, $wanted ? 0.005 : 1) > 0) {
    my $count = sysread($line, my $words, 256);
    exit 137 if !$count || $words =~ /end/;
    for my $word (split /\n/, $words) {
      kill 'INT', -$command if $word eq 'interrupt';
      answer(freeze()) if $word eq 'freeze';
      kill 'CONT', keys %staying if $word eq 'thaw';
    }
  }
  while ((my $ended = waitpid(-1, 1)) > 0) {
    exit(($? & 127) ? 128 + ($? & 127) : $? >> 8) if $ended == $command;
  }
}
`
