/** The part of the contract about the limits of a sandbox. */
import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { type SandboxExit } from '../../services/runner/sandbox/port.ts'
import { callNumber } from '../../services/runner/sandbox/systemCalls.ts'
import { processesOf, wide, type SandboxStage } from './sandboxStage.ts'

/** Tests the limits of a sandbox. */
export function describeLimits(at: SandboxStage): void {
  const { start, shell, engine } = at
  describe('its limits', () => {
    const forkBomb =
      'for (1..200) { my $pid = fork; last unless defined $pid; if (!$pid) { sleep 20; exit } } $| = 1; print "full"; sleep 20'
    test('of time', async () => {
      const { exit } = await shell('trap "" TERM INT; sleep 60', { limits: { ...wide, wallMs: 300 } })
      expect(exit.reason).toBe('time_limit')
    })

    test('of one file', async () => {
      const { stdout } = await shell(
        'head -c 3000000 /dev/zero > /workspace/large; stat -c %s /workspace/large',
        {
          limits: { ...wide, fileSizeBytes: 1_000_000 },
        },
      )
      expect(stdout).toBe('1000000\n')
    })

    // Holds findings 1.69.
    test('security H2: of how fast a file takes up the disk: no faster than it is written, and space is given back', async () => {
      // fallocate(2): allocates space, then punches a hole that leaves the size unchanged.
      const call = (mode: number) =>
        `print syscall(${callNumber('fallocate')}, fileno($file), ${mode}, 0, 1_000_000) < 0 ? $! + 0 : "done", "\\n";`
      const { stdout } = await shell(
        `perl -e 'open(my $file, "+>", "/workspace/large"); print $file "x" x 2_000_000; close $file; open($file, "+<", "/workspace/large"); ${call(0)} ${call(3)}'; stat -c '%s %b' /workspace/large`,
      )
      const [allocated, punched, size] = stdout.split('\n')
      expect([allocated, punched]).toEqual(['95', 'done'])
      const [bytes = 0, blocks = 0] = (size ?? '').split(' ').map(Number)
      expect(bytes).toBe(2_000_000)
      expect(blocks * 512).toBeLessThan(1_100_000)
    })

    // Holds findings 1.74.
    test('security H2: of what owners may change about files: not by which quota they count', async () => {
      // FS_IOC_SETFLAGS with FS_NODUMP_FL, which every file system with flags accepts, and FS_IOC_FSSETXATTR with a valid buffer.
      const call = (request: number, packed: string) =>
        `$buffer = pack(${packed}); print syscall(${callNumber('ioctl')}, fileno($file), ${request}, $buffer) < 0 ? $! + 0 : "done", "\n";`
      const { stdout } = await shell(
        `perl -e 'open(my $file, "+>", "/workspace/own"); ${call(0x4008_6602, '"Q", 64')} ${call(0x401c_5820, '"L7", (0) x 7')}'`,
      )
      expect(stdout).toBe('95\n95\n')
    })

    test('of processes, which another sandbox does not use up', async () => {
      const limits = { ...wide, processes: 40 }
      const other = await at.scene.prepare({ taskId: 'a-fork-bomb' })
      const bomb = start(['perl', '-e', forkBomb], {
        limits,
        workspace: other,
      })
      await new Promise((resolve) => bomb.stdout.once('data', resolve))
      expect((await processesOf(other)).length).toBeLessThan(60)
      const { stdout } = await shell('for n in 1 2 3 4 5; do sleep 0.1 & done; wait; echo fine', { limits })
      expect(stdout).toBe('fine\n')
      bomb.stderr.resume()
      bomb.kill()
      await bomb.exited
    })

    // The control group of a container limits its processor time: `containerPlan.test.ts`.
    test.skipIf(engine)('of processors: the server goes first', async () => {
      const mine = Number(execFileSync('nice', { encoding: 'utf8' }))
      const { stdout } = await shell('nice; sh -c nice; nice -n -5 nice 2>/dev/null')
      expect(stdout.trim().split('\n').map(Number)).toEqual([mine + 10, mine + 10, mine + 10])
    })

    test('of memory, for one process and for all together', async () => {
      const limits = { ...wide, memoryBytes: 300_000_000 }
      const eat = (bytes: number) => `perl -e '$held = "x" x ${bytes}; sleep 9'`
      const one = await shell(eat(400_000_000), { limits })
      expect(one.exit.reason).toBe('itself')
      expect(one.stderr).toContain('Out of memory')
      const many = await shell(Array.from({ length: 5 }, () => `${eat(100_000_000)} & `).join('') + 'wait', {
        limits,
      })
      expect(many.exit.reason).toBe('memory_limit')
    })
  })
}

/** Tests the limit for memory that is in no address space. */
export function describeHiddenMemory(at: SandboxStage): void {
  const { shell } = at
  describe('its limits', () => {
    // Content of a file from memfd_create(2) is in no address space.
    const memfd = `my $fd = syscall(${callNumber('memfd_create')}, my $name = "held", 0); $fd >= 0 or die "refused"; open(my $file, ">&=", $fd) or die "$!"; binmode $file`
    /** Whether the memory counts against the kernel's limit, or cannot be allocated at all. */
    const isBounded = ({ exit, stderr }: { exit: SandboxExit; stderr: string }): boolean =>
      exit.reason === 'memory_limit' || exit.code === 137 || stderr.startsWith('refused')

    // Holds findings 1.41.
    test('finding 13: of memory that has only a descriptor', async () => {
      const limits = { ...wide, memoryBytes: 300_000_000 }
      const hold = `${memfd}; print $file "x" x 10_000_000 for 1 .. 50; sleep 9`
      expect(await shell(`perl -e '${hold}'`, { limits })).toSatisfy(isBounded)
    })

    // Holds findings 1.44.
    test('finding 13: of memory that is on its way through a socket', async () => {
      const limits = { ...wide, memoryBytes: 300_000_000 }
      // sendmsg(2) of one byte with the descriptor, which is then closed on this side.
      const send = `socketpair(my $from, my $to, 1, 1, 0) or die "$!"; my $byte = "x"; my $part = pack("PQ", $byte, 1); my $told = pack("Qiiix4", 20, 1, 1, $fd); my $message = pack("QLx4PQPQix4", 0, 0, $part, 1, $told, 24, 0); syscall(${process.arch === 'arm64' ? 211 : 46}, fileno($from), $message, 0) == 1 or die "sendmsg: $!"; close $file`
      const hold = `${memfd}; print $file "x" x 10_000_000 for 1 .. 50; ${send}; sleep 9`
      expect(await shell(`perl -e '${hold}'`, { limits })).toSatisfy(isBounded)
    })

    // Holds findings 1.45.
    test('finding 13: of segments of System V that nobody has attached', async () => {
      const limits = { ...wide, memoryBytes: 300_000_000 }
      const hold = `for (1 .. 10) { my $id = shmget(0, 50_000_000, 0600); defined $id or die "refused: $!"; shmwrite($id, "x" x 10_000_000, $_ * 10_000_000, 10_000_000) or die "$!" for 0 .. 4 } sleep 9`
      expect(await shell(`perl -e '${hold}'`, { limits })).toSatisfy(isBounded)
      // Small segments are allowed, because programs use them for locks.
      const small = await shell(`perl -e 'defined shmget(0, 56, 0600) or die "$!"; print "fine"'`)
      expect(small.stdout).toBe('fine')
    })

    /** mmap(2) of shared anonymous memory; read(2) writes zeros into it, which allocates its pages. */
    const mapShared = (bytes: number): string => {
      const [mmap, read] = process.arch === 'arm64' ? [222, 63] : [9, 0]
      return `my $at = syscall(${mmap}, 0, ${bytes}, 3, 0x21, -1, 0); $at > 0 or die "$!"; open(my $zero, "<", "/dev/zero"); syscall(${read}, fileno($zero), $at, ${bytes}) > 0 or die "$!"`
    }

    test('finding 13: of memory that is mapped for several, and has no descriptor any more', async () => {
      const limits = { ...wide, memoryBytes: 300_000_000 }
      const map = `${mapShared(500_000_000)}; sleep 9`
      const { exit, stderr } = await shell(`perl -e '${map}'`, { limits })
      expect(stderr).toBe('')
      expect(exit.reason === 'memory_limit' || exit.code === 137).toBe(true)
    })

    test('finding 13: of shared memory, which counts once for all who have it', async () => {
      const limits = { ...wide, memoryBytes: 300_000_000 }
      const share = `${mapShared(150_000_000)}; for (1 .. 5) { fork or last } sleep 2`
      const { exit } = await shell(`perl -e '${share}'; echo fine`, { limits })
      expect(exit).toMatchObject({ code: 0, reason: 'itself' })
    })

    test('of what is kept in memory as files', async () => {
      const { stdout } = await shell(
        'for d in /tmp /dev/shm; do head -c 200000000 /dev/zero > $d/large 2>/dev/null; done; du -cb /tmp/large /dev/shm/large | tail -1 | cut -f1',
        { limits: { ...wide, memoryBytes: 200_000_000 } },
      )
      expect(Number(stdout)).toBeLessThan(101_000_000)
    })
  })
}
