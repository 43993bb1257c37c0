/**
 * The first program in a sandbox, which then becomes the sandbox's command. From its first step on, the program has the command's user, and an
 * environment that we alone define. Everything that a project, a secret or a person defines comes through a pipe, which is not read before all
 * privileges are dropped. So these values do not affect how the command is started, and no list of processes contains them.
 */
import type { SandboxLimits, SandboxSpec } from '../port.ts'
import type { SandboxIdentity } from './arguments.ts'

interface LaunchPlan extends Pick<SandboxSpec, 'env' | 'command'> {
  readonly limits: Omit<SandboxLimits, 'wallMs'>
  /** The folder in which the command starts. The launcher enters it as the command's user, because perhaps only this user may enter it. */
  readonly startIn: string
}

/** By how much a sandbox's nice value is above the server's: if both want a processor, the sandbox gets a tenth of it. */
export const nicerThanServer = 10

/**
 * The command line of the launcher. It depends only on the identity that the command will have. The launcher reads its words from the descriptor, and
 * becomes the command unless another script is given.
 */
export function launcher(
  identity: SandboxIdentity,
  descriptor: number,
  script = becoming,
): readonly string[] {
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

/** The words that the launcher reads, each ended by a NUL. Throws `RangeError` for a word that contains a NUL. */
export function launchWords({ limits, startIn, env, command }: LaunchPlan): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  return nulEnded([...boundsOf(limits), startIn, String(variables.length), ...variables, ...command])
}

/** Words for a program that splits them at NULs. Throws `RangeError` for a word that contains a NUL. */
export function nulEnded(words: readonly string[]): string {
  return words
    .map((word) => {
      if (word.includes('\0')) throw new RangeError('an argument or a variable of the sandbox holds a NUL')
      return `${word}\0`
    })
    .join('')
}

/** The values for the variables of the script `setsBounds`: `$call`, `$processes`, `$file` and `$memory`. */
export function boundsOf({
  processes,
  fileSizeBytes,
  memoryBytes,
}: LaunchPlan['limits']): readonly [string, string, string, string] {
  return [String(resourceCall()), String(processes), String(fileSizeBytes), String(memoryBytes)]
}

/** The number of the system call prlimit64(2), with which Perl sets limits. */
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

/** The part of the script that reads the launcher's words. It is in Perl: every Debian has it, and it starts faster than several programs. */
export const readsWords = `
open(my $in, '<&=', shift @ARGV) or exit 125;
my @words = split /\\0/, do { local $/; <$in> }, -1;
close $in;
pop @words;
my ($call, $processes, $file, $memory, $dir, $count) = splice @words, 0, 6;
my %variables = map { split /=/, $_, 2 } splice @words, 0, $count;
`

/**
 * The part of the script that sets limits. 6, 1, 2 and 4 are RLIMIT_NPROC, _FSIZE, _DATA and _CORE of setrlimit(2), which no program can raise again.
 */
export const setsBounds = `
for ([6, $processes], [1, $file], [2, $memory], [4, 0]) {
  my ($kind, $most) = @$_;
  syscall($call + 0, 0, $kind, pack('QQ', $most, $most), 0) == 0 or die "bounds cannot be set: $!\\n";
}
`

/**
 * The part of the script that limits the launcher itself. If memory is short, the kernel ends processes in a sandbox before the server. If processor
 * time is short, the server has priority.
 */
export const limitsItself = `
setpriority(0, 0, getpriority(0, 0) + ${nicerThanServer});
if (open my $score, '>', '/proc/self/oom_score_adj') { print $score 500; close $score }
${setsBounds}
`

export const becomesCommand = `
chdir $dir or die "$dir: $!\\n";
%ENV = %variables;
exec { $words[0] } @words;
print STDERR "$words[0]: $!\\n";
exit 127;
`

const becoming = readsWords + limitsItself + becomesCommand
