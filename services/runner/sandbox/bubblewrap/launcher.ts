/**
 * What runs first in a sandbox, and becomes its command. From its first step on it is another user, with an environment that is ours alone.
 * Whatever a project, a secret or a person decides comes through a pipe, which is read only when there is no privilege left to lose. So none of it
 * affects what starts the command, and no list of processes has it.
 */
import type { SandboxLimits, SandboxSpec } from '../port.ts'
import type { SandboxIdentity } from './arguments.ts'

interface LaunchPlan extends Pick<SandboxSpec, 'env' | 'command'> {
  readonly limits: Omit<SandboxLimits, 'wallMs'>
  /** Where the command starts: entered as its own user, who may be the only one that can. */
  readonly startIn: string
}

/** How much nicer a sandbox is than the server: it gets a tenth of a processor that both want. */
export const nicerThanServer = 10

/** Its command line, the same for all sandboxes of an identity but for the user's number; it reads its words from the descriptor. */
export function launcher(identity: SandboxIdentity, descriptor: number): readonly string[] {
  const start = ['perl', '-e', script, String(descriptor)]
  if (identity.kind !== 'host_user') return start
  return [
    'setpriv',
    `--reuid=${identity.uid}`,
    `--regid=${identity.gid}`,
    '--clear-groups',
    '--no-new-privs',
    '--inh-caps=-all',
    '--bounding-set=-all',
    '--',
    ...start,
  ]
}

/** What it reads: each word ends with a NUL. Throws `RangeError` for a word that holds one. */
export function launchWords({ limits, startIn, env, command }: LaunchPlan): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  return nulEnded([
    String(resourceCall()),
    ...[limits.processes, limits.fileSizeBytes, limits.memoryBytes].map(String),
    startIn,
    String(variables.length),
    ...variables,
    ...command,
  ])
}

/** Words for a program that takes them apart at the NULs. Throws `RangeError` for one that holds a NUL itself. */
export function nulEnded(words: readonly string[]): string {
  return words
    .map((word) => {
      if (word.includes('\0')) throw new RangeError('an argument or a variable of the sandbox holds a NUL')
      return `${word}\0`
    })
    .join('')
}

/** The number of prlimit64(2), by which Perl sets bounds. */
function resourceCall(): number {
  switch (process.arch) {
    case 'x64':
      return 302
    case 'arm64':
      return 261
    default:
      throw new RangeError(`sandboxes cannot be made on ${process.arch}`)
  }
}

/**
 * In Perl, which every Debian has and which starts faster than several programs that each do a part of this. 6, 1, 2 and 4 are RLIMIT_NPROC,
 * _FSIZE, _DATA and _CORE of setrlimit(2); no program can lift them again. When memory is short, the kernel ends what runs in a sandbox before the
 * server; when processors are, the server goes first.
 */
const script = `
open(my $in, '<&=', shift @ARGV) or exit 125;
my @words = split /\\0/, do { local $/; <$in> }, -1;
close $in;
pop @words;
my ($call, $processes, $file, $memory, $dir, $count) = splice @words, 0, 6;
setpriority(0, 0, getpriority(0, 0) + ${nicerThanServer});
if (open my $score, '>', '/proc/self/oom_score_adj') { print $score 500; close $score }
for ([6, $processes], [1, $file], [2, $memory], [4, 0]) {
  my ($kind, $most) = @$_;
  syscall($call + 0, 0, $kind, pack('QQ', $most, $most), 0) == 0 or die "bounds cannot be set: $!\\n";
}
chdir $dir or die "$dir: $!\\n";
%ENV = map { split /=/, $_, 2 } splice @words, 0, $count;
exec { $words[0] } @words;
print STDERR "$words[0]: $!\\n";
exit 127;
`
