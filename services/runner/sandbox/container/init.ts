/**
 * The first process of a container, written in Perl, which every Debian has. Nothing inside can end or stop it. It starts the command. It reads the
 * environment of the command from its input, so that no list of processes and no file of the engine contains it. When the command has ended, or when
 * the runner closes its pipe, this process ends, and everything in the container with it.
 */

/**
 * The command line of the first process. From the named pipe `pipeToInit` it reads each `Word`; it ends when the runner closes the pipe. To the pipe
 * `pipeFromInit` it writes each `Answer`. After it has written `open`, both pipes must be made inaccessible to others: nothing else runs in the
 * container until it has its environment. `staying` is the number of processes that stay after a freeze: the command, and what the command starts
 * before it reads its input.
 */
export function firstProcess(pipeToInit: string, pipeFromInit: string, staying: number): readonly string[] {
  return ['/usr/bin/perl', '-e', script, pipeToInit, pipeFromInit, String(staying)]
}

/** The beginning of the first process's input: the length of the environment, and the environment. Everything after that is the command's input. */
export function opening(env: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(env).map(([name, value]) => {
    if (`${name}${value}`.includes('\0')) throw new RangeError('a variable of the sandbox holds a NUL')
    return `${name}=${value}`
  })
  const bytes = Buffer.from(entries.join('\0'), 'utf8')
  return Buffer.concat([Buffer.from(bytes.length.toString(16).padStart(8, '0'), 'latin1'), bytes])
}

/** `freeze` suspends the processes that stay after a freeze, and ends all others; the answer is `frozen` or `lost`. */
export type Word = 'interrupt' | 'end' | 'freeze' | 'thaw'
/** `settled`: the processes that stay after a freeze have started. */
export type Answer = 'open' | 'settled' | 'frozen' | 'lost'

/**
 * The program of the first process. It exits with 125 if it could not begin, with 127 if the command cannot be started, with 137 if the command was
 * ended, and otherwise with the command's exit code as a shell reports it.
 */
const script = `
# 2048 is O_NONBLOCK and 1 is O_WRONLY: opening does not wait for a runner that is already gone, and fails where nobody reads the answers.
sysopen(my $line, shift @ARGV, 2048) or exit 125;
sysopen(my $answers, shift @ARGV, 2048 | 1) or exit 125;
my $wanted = shift @ARGV;
# Other processes of the same user must not read what this one holds open: PR_SET_DUMPABLE, by the system call's number on this machine.
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
