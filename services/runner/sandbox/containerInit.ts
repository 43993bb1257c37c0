/**
 * The first process of a container, in Perl, which every Debian has: it is the one that nothing inside can end or stop. It takes the
 * command's environment from its input, so that no list of processes and no file of the engine has it; starts the command; and ends,
 * and everything in the container with it, when the command has ended or the line to the runner breaks.
 */

/** Its command line. The line is a named pipe: what is said on it is `interrupt` or `end`, and its end is the runner's. */
export function firstProcess(line: string): readonly string[] {
  return ['/usr/bin/perl', '-e', script, line]
}

/** What its input begins with: the environment's length and the environment. What follows is the command's own. */
export function opening(env: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(env).map(([name, value]) => {
    if (`${name}${value}`.includes('\0')) throw new RangeError('a variable of the box holds a NUL')
    return `${name}=${value}`
  })
  const bytes = Buffer.from(entries.join('\0'), 'utf8')
  return Buffer.concat([Buffer.from(bytes.length.toString(16).padStart(8, '0'), 'latin1'), bytes])
}

export type Word = 'interrupt' | 'end'

/** 125: it could not begin; 127: there is no such command; 137: it was ended. Else as a shell tells it. */
const script = `
# 2048: not to wait for a runner that is gone already.
sysopen(my $line, shift @ARGV, 2048) or exit 125;
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
  if (select($heard, undef, undef, 1) > 0) {
    my $count = sysread($line, my $words, 256);
    exit 137 if !$count || $words =~ /end/;
    kill 'INT', -$command;
  }
  while ((my $ended = waitpid(-1, 1)) > 0) {
    exit(($? & 127) ? 128 + ($? & 127) : $? >> 8) if $ended == $command;
  }
}
`
