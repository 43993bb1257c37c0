import { spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { factsOf, memoryOf } from './processTree.ts'

// Holds findings 1.46.
test.skipIf(process.platform !== 'linux')(
  'finding 13: the memory of a process of which the first thread has ended is counted',
  async () => {
    // exit(2) ends one thread; the other one has 50 MB of its own, and as many that are reachable only by a descriptor.
    const [exit, memfd] = process.arch === 'arm64' ? [93, 279] : [60, 319]
    const script = `use threads;
      threads->create(sub {
        our $held = "x" x 50_000_000;
        my $fd = syscall(${memfd}, my $name = "held", 0); open(our $file, ">&=", $fd) or die; binmode $file; print $file $held;
        syswrite STDOUT, "ready"; sleep 60
      })->detach;
      syscall(${exit}, 0)`
    const child = spawn('perl', ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const { pid = 0 } = child
    await expect.poll(async () => (await factsOf(`/proc/${pid}`))?.state).toBe('Z')
    expect(await memoryOf([pid])).toBeGreaterThan(100_000_000)
  },
)
