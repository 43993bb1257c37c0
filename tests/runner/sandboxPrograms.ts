/** The part of the contract about programs that are started in a sandbox that runs. */
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectToPort } from '../../services/runner/sandbox/portConnection.ts'
import type { SandboxedProcess, SandboxSpec } from '../../services/runner/sandbox/port.ts'
import type { Program } from '../../services/runner/sandbox/program.ts'
import { processesOf, text, wide, type SandboxStage } from './sandboxStage.ts'

export function describePrograms(at: SandboxStage): void {
  const running = (command: SandboxSpec['command'], asked: Partial<SandboxSpec> = {}): SandboxedProcess => {
    const child = at.start(command, asked)
    child.stdout.resume()
    child.stderr.resume()
    onTestFinished(async () => {
      child.kill()
      await child.exited
    })
    return child
  }
  const idle = (asked?: Partial<SandboxSpec>) => running(['sleep', '1000'], asked)
  const bash = (child: SandboxedProcess, script: string) =>
    child.exec({ command: ['bash', '-c', script], env: {} })
  const outputOf = async (program: Program): Promise<string> => {
    // A stream of a program that has ended is closed already if nothing was printed to it.
    const printed = [program.stdout, program.stderr].map((stream) => (stream.destroyed ? '' : text(stream)))
    return (await Promise.all(printed)).join('')
  }
  /** A file to which a script writes again and again. */
  const beatOf = async (name: string) => {
    const file = join(at.workspace.dir, `pulse-${name}`)
    await rm(file, { force: true })
    const read = () => readFile(file, 'utf8').catch(() => '')
    return {
      script: `while :; do date +%s%N > /workspace/pulse-${name}; sleep 0.02; done`,
      async beats() {
        const before = await read()
        await expect.poll(read).not.toBe(before)
      },
      async isStill() {
        const before = await read()
        await new Promise((resolve) => setTimeout(resolve, 200))
        expect(await read()).toBe(before)
      },
    }
  }

  describe.skipIf(at.engine)('a program that is started in it while it runs', () => {
    test('has its own streams, environment and exit code', async () => {
      const child = idle({ env: { OF_THE_AGENT: 'yes' } })
      const program = await child.exec({
        command: [
          'bash',
          '-c',
          'read -r line; echo "$line $OWN ${OF_THE_AGENT-none} $PWD $HOME"; echo fault >&2; exit 3',
        ],
        env: { OWN: 'own' },
      })
      program.stdin.end('hello\n')
      const [stdout, stderr] = await Promise.all([text(program.stdout), text(program.stderr)])
      expect([stdout, stderr]).toEqual(['hello own none /workspace /home/agent\n', 'fault\n'])
      expect(await program.exited).toEqual({ code: 3, reason: 'itself' })
      expect(child.programs()).toEqual([])
    })

    test('has the same user, namespaces, filter and limits as the command, and no privilege', async () => {
      const facts = `id; for name in user ipc uts net cgroup pid mnt; do readlink /proc/self/ns/$name; done
        grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp)' /proc/self/status
        cat /proc/self/limits /proc/self/oom_score_adj /proc/self/cgroup; nice; ls /; ls /dev; hostname`
      const child = idle()
      const [ofCommand, ofProgram] = await Promise.all([
        at.shell(facts).then(({ stdout }) => stdout),
        bash(child, facts).then(outputOf),
      ])
      // Each sandbox has namespaces of its own, so those are compared with the command of the same one.
      const plain = (said: string) =>
        said.replaceAll(/^[a-z]+:\[\d+\]$/gm, '').replaceAll(/flightdeck-sandbox-\S+/g, '')
      expect(plain(ofProgram)).toBe(plain(ofCommand))
      expect(ofProgram).toMatch(/^CapEff:\s+0+\nCapBnd:\s+0+$/m)
      expect(ofProgram).toMatch(/^NoNewPrivs:\s+1$/m)
      const spaces = 'for name in user ipc uts net cgroup pid mnt; do readlink /proc/$pid/ns/$name; done'
      const same = await outputOf(
        await bash(child, `for pid in $(pgrep -x sleep) self; do ${spaces} | tr "\n" " "; echo; done`),
      )
      expect(new Set(same.trim().split(/\s*\n/)).size).toBe(1)
      expect(await outputOf(await bash(child, 'unshare -U true'))).toContain('Operation not permitted')
    })

    test('is never without the filter and the limits while the command could change its memory', async () => {
      // The first process is bubblewrap's own, which runs nothing else.
      const watch = `$| = 1; print "looks\\n"; my $own = $$; my ($uid) = $<; for (;;) { for my $pid (glob "/proc/[0-9]*") {
        next if $pid eq "/proc/1"; open(my $in, "<", "$pid/status") or next; my $facts = do { local $/; <$in> } // ""; close $in;
        next unless $facts =~ /^Uid:\\s+$uid\\s/m && $facts =~ /^CapEff:\\s+0+$/m;
        if ($facts =~ /^Seccomp:\\s+0$/m) { print "has no filter\\n"; sleep 1000 }
        open($in, "<", "$pid/limits") or next; my $limits = do { local $/; <$in> } // ""; close $in;
        if ($limits ne "" && $limits !~ /^Max processes +${wide.processes} /m) { print "has no limits\\n"; sleep 1000 }
      } }`
      const child = at.start(['perl', '-e', watch])
      onTestFinished(() => child.kill())
      let said = ''
      child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
      await expect.poll(() => said).toBe('looks\n')
      for (let count = 0; count < 10; count++) await (await bash(child, 'true')).exited
      expect(said).toBe('looks\n')
    })

    test('has a terminal of the given size, which can be resized', async () => {
      const program = await idle().exec({
        command: [
          'bash',
          '-c',
          'trap "stty size; exit 4" WINCH; tty; stty size; read -r line; while :; do sleep 0.05; done',
        ],
        env: {},
        terminal: { rows: 11, columns: 37 },
      })
      let said = ''
      program.stdout.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
      await expect.poll(() => said).toContain('11 37')
      program.resize({ rows: 50, columns: 132 })
      program.stdin.write('\n')
      expect(await program.exited).toEqual({ code: 4, reason: 'itself' })
      await expect.poll(() => said).toContain('50 132')
      expect(said.replaceAll('\r', '')).toMatch(/^\/dev\/pts\/\d+\n11 37\n\s*50 132\n$/)
    })

    test('is interrupted by the keys of its terminal, also amid a flood that nobody reads', async () => {
      const program = await idle().exec({ command: ['yes'], env: {}, terminal: { rows: 24, columns: 80 } })
      await once(program.stdout, 'readable')
      program.stdin.write('\x03')
      program.stdout.resume()
      expect(await program.exited).toEqual({ code: 130, reason: 'itself' })
    })

    test('waits for whoever reads its output, and loses none of it', async () => {
      const program = await bash(idle(), 'head -c 20000000 /dev/zero')
      await once(program.stdout, 'readable')
      expect(program.stdout.readableLength).toBeLessThan(1_000_000)
      expect(Buffer.byteLength(await text(program.stdout))).toBe(20_000_000)
    })

    test('goes on in a frozen sandbox, with what it started, while the command is still', async () => {
      const [ofCommand, hidden, ofProgram, ofOrphan, later] = await Promise.all(
        ['command', 'hidden', 'program', 'orphan', 'later'].map(beatOf),
      )
      if (!ofCommand || !hidden || !ofProgram || !ofOrphan || !later) return
      const hide = `(setsid setsid bash -c '${hidden.script}' </dev/null >/dev/null 2>&1 &)`
      const child = running(['bash', '-c', `read -r; ${hide}; ${ofCommand.script}`], { stdin: 'pipe' })
      await child.settled
      child.stdin?.write('\n')
      await bash(
        child,
        `(setsid setsid bash -c '${ofOrphan.script}' </dev/null >/dev/null 2>&1 &); ${ofProgram.script}`,
      )
      await Promise.all([ofCommand.beats(), hidden.beats(), ofProgram.beats(), ofOrphan.beats()])
      expect(await child.freeze()).toBe('frozen')
      await Promise.all([ofCommand.isStill(), hidden.isStill(), ofProgram.beats(), ofOrphan.beats()])
      await bash(child, later.script)
      await Promise.all([ofCommand.isStill(), hidden.isStill(), later.beats()])
      child.thaw()
      await Promise.all([hidden.isStill(), ofCommand.beats(), ofProgram.beats(), ofOrphan.beats()])
    })

    test('ends with everything that it started, and leaves the rest of the sandbox', async () => {
      const [orphan, ofCommand] = await Promise.all(['hidden', 'living'].map(beatOf))
      if (!orphan || !ofCommand) return
      const child = running(['bash', '-c', ofCommand.script])
      const hide = `(setsid setsid bash -c 'trap "" TERM HUP; ${orphan.script}' </dev/null >/dev/null 2>&1 &)`
      const [killed, left] = await Promise.all([
        bash(child, `${hide}; sleep 1000`),
        bash(child, `${hide}; read -r`),
      ])
      await orphan.beats()
      killed.kill()
      left.stdin.end('\n')
      expect((await killed.exited).reason).toBe('killed')
      expect(await left.exited).toEqual({ code: 0, reason: 'itself' })
      await orphan.isStill()
      await ofCommand.beats()
    })

    test('ends with the sandbox, and nothing is left', async () => {
      const child = idle()
      const program = await bash(child, 'setsid sleep 1000 & sleep 1000')
      child.kill()
      expect(await child.exited).toMatchObject({ reason: 'killed' })
      expect(await program.exited).toEqual({ code: null, reason: 'lost' })
      expect(await processesOf(at.workspace)).toEqual([])
      await expect(bash(child, 'true')).rejects.toThrow('the sandbox has ended')
    })

    test('does not keep the sandbox when the command ends', async () => {
      const child = running(['bash', '-c', 'read -r'], { stdin: 'pipe' })
      const program = await bash(child, 'sleep 1000')
      child.stdin?.end('\n')
      expect(await child.exited).toMatchObject({ code: 0, reason: 'itself' })
      expect((await program.exited).reason).toBe('lost')
    })

    test('is lost when its keeper is killed from inside, and what escapes from it does not outlive a freeze', async () => {
      const escaped = await beatOf('escaped')
      const child = idle()
      await child.settled
      expect(await child.freeze()).toBe('frozen')
      const program = await bash(
        child,
        `(setsid setsid bash -c '${escaped.script}' </dev/null >/dev/null 2>&1 &); read -r; kill -9 $PPID; sleep 1000`,
      )
      await escaped.beats()
      program.stdin.end('\n')
      expect((await program.exited).reason).toBe('lost')
      await expect.poll(async () => (await processesOf(at.workspace)).length).toBeLessThanOrEqual(3)
      await escaped.isStill()
    })

    test('cannot be one of more than 64', async () => {
      const child = idle()
      const programs = await Promise.all(
        Array.from({ length: 64 }, () => child.exec({ command: ['cat'], env: {} })),
      )
      await expect(bash(child, 'true')).rejects.toThrow('there are already 64 others')
      for (const program of programs) program.stdin.end()
      expect((await Promise.all(programs.map(({ exited }) => exited))).every(({ code }) => code === 0)).toBe(
        true,
      )
    })

    test('is counted in the memory of the sandbox', async () => {
      const child = idle({ limits: { ...wide, memoryBytes: 200 * 1024 ** 2 } })
      // Each stays within the limit of a single process; the temporary folders count as half as much in addition.
      const eat = 'my $held = "x"; $held x= 60_000_000; sleep 20'
      const programs = await Promise.all(
        Array.from({ length: 6 }, () => child.exec({ command: ['perl', '-e', eat], env: {} })),
      )
      expect(await child.exited).toMatchObject({ reason: 'memory_limit' })
      await Promise.all(programs.map(({ exited }) => exited))
    })

    test('and ports on which it or the command listens are found, and can be connected to', async () => {
      const listen = (port: number) =>
        `use IO::Socket::INET; $| = 1; my $server = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1", LocalPort => ${port}, ReuseAddr => 1) or die; print "listens\n"; while (my $one = $server->accept) { my $line = <$one>; print $one "${port} $line"; close $one }`
      const child = at.start(['perl', '-e', listen(4001)])
      onTestFinished(() => child.kill())
      await once(child.stdout, 'data')
      const program = await child.exec({ command: ['perl', '-e', listen(4002)], env: {} })
      await once(program.stdout, 'data')
      expect(await child.listening()).toEqual([
        { port: 4001, process: 'perl' },
        { port: 4002, process: 'perl' },
      ])
      for (const port of [4001, 4002]) {
        const connection = await connectToPort(child, port)
        connection?.write('hello\n')
        expect(connection && (await text(connection))).toBe(`${port} hello\n`)
      }
      expect(await connectToPort(child, 4003)).toBeUndefined()
    })
  })
}
