/** For tests: what every box promises, whoever makes it. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gitOrThrow } from '../workspace/git/git.ts'
import { makeScene, testGit, testPath, writeIn } from '../workspace/testScene.ts'
import type { Scene } from '../workspace/testScene.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Sandbox, SandboxedProcess, SandboxExit, SandboxSpec } from './port.ts'
import { callNumber, type CallName } from './systemCalls.ts'
import { birthOf } from './processTree.ts'
import type { TestEngine } from './testBox.ts'

const wide = { memoryBytes: 2 * 1024 ** 3, processes: 256, fileSizeBytes: 1024 ** 3, wallMs: 20_000 }

/** `engine`: where the box is a container, whose system is an image's and not the host's. */
export function describeBox(title: string, sandbox: Sandbox | undefined, engine?: TestEngine): void {
  describe.skipIf(!sandbox)(`a box ${title}`, { timeout: 20_000 }, () => {
    let scene: Scene
    let workspace: Workspace
    beforeAll(async () => {
      scene = await makeScene({ 'README.md': '# Sample\n' })
      // As a server's folder should be: for itself alone.
      await chmod(scene.root, 0o700)
      workspace = await scene.prepare()
      await writeIn(scene.root, 'data/secret.txt', 'of the server')
    })
    afterAll(() => scene.remove())

    const start = (command: SandboxSpec['command'], asked: Partial<SandboxSpec> = {}): SandboxedProcess => {
      if (!sandbox) throw new Error('there is no box')
      return sandbox.run({
        command,
        env: {},
        workspace,
        readOnly: [],
        sockets: [],
        stdin: 'ignore',
        limits: wide,
        ...asked,
      })
    }
    const shell = (script: string, asked?: Partial<SandboxSpec>) =>
      ended(start(['bash', '-c', script], asked))

    describe('inside', () => {
      test('is the tree, a home, the mirror and the system, and no more', async () => {
        const { stdout } = await shell('pwd; ls -A /; ls -A /home /mirror; cat README.md; echo ~')
        expect(stdout.split('\n')).toEqual(expect.arrayContaining(['/workspace', '# Sample', '/home/agent']))
        const names = stdout.split('\n').slice(1, stdout.split('\n').indexOf(''))
        const expected = [
          'bin',
          'dev',
          'etc',
          'home',
          'lib',
          'lib64',
          'mirror',
          'proc',
          'sbin',
          'tmp',
          'usr',
          'workspace',
        ]
        const found = names.filter((name) => !/^(lib32|libx32|nix|\/home:|agent)$/.test(name))
        // What else an image has is its own.
        expect(engine ? expected.filter((name) => found.includes(name)) : found).toEqual(expected)
      })

      test('the command is a user without a name on the host, without rights, in a group of its own', async () => {
        const { stdout } = await shell(
          'id -u; id -un; grep -E "^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs)" /proc/self/status',
        )
        const [uid, name, ...rights] = stdout.trim().split('\n')
        expect(Number(uid)).toBeGreaterThan(0)
        expect(name).toBe('agent')
        const held = rights.filter((line) => !line.startsWith('CapBnd')).map((line) => line.split(/\s+/)[1])
        expect(held).toEqual(
          ['0', '0', '0', '0', '1'].map((zero, index) => (index === 4 ? '1' : zero.repeat(16))),
        )
      })

      test('nothing of the server is in any environment, only what the spec gives', async () => {
        const env = { ...process.env }
        process.env['SERVER_SECRET'] = 'do-not-tell'
        try {
          const { stdout } = await shell(
            'cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"; ps -eo args; cat /proc/*/cmdline | tr "\\0" " "; env',
            { env: { GIVEN: 'one\ntwo "three"' } },
          )
          expect(stdout).not.toContain('do-not-tell')
          expect(stdout).not.toContain(scene.root)
          expect(stdout).toContain('GIVEN=one\ntwo "three"')
          // Neither on the command line of anything on the host.
          const { stdout: names } = await shell('env | cut -d= -f1 | sort')
          expect(
            names
              .trim()
              .split('\n')
              .filter((name) => !/^(PWD|SHLVL|_|OLDPWD)$/.test(name)),
          ).toEqual(['HOME', 'LANG', 'PATH', 'TMPDIR', 'USER'])
        } finally {
          delete process.env['SERVER_SECRET']
          expect(process.env).toEqual(env)
        }
      })

      test('finding 1: no variable of a spec reaches what starts its command', async () => {
        // The loader writes down which programs it begins, and as whom, whatever these are.
        const { stdout } = await shell('cat /tmp/loaded.*; stat -c %u /tmp/loaded.*; id -u', {
          env: { LD_DEBUG: 'libs', LD_DEBUG_OUTPUT: '/tmp/loaded' },
        })
        const begun = [...stdout.matchAll(/initialize program: (\S+)/g)].map(([, program]) => program)
        expect(begun).toContain('bash')
        expect(begun.filter((program) => !/^(bash|cat|stat|id)$/.test(program ?? ''))).toEqual([])
        expect(
          new Set(
            stdout
              .trim()
              .split('\n')
              .filter((line) => /^\d+$/.test(line)),
          ).size,
        ).toBe(1)
      })

      test('what the spec gives is in no list of processes on the host', async () => {
        const listed = () =>
          execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8', env: { PATH: testPath } })
        const box = start(['sleep', '31.4159'], { env: { TOKEN: 'run-token-1234' } })
        await expect.poll(listed, { timeout: 10_000 }).toMatch(/^sleep 31\.4159$/m)
        expect(listed()).not.toContain('run-token-1234')
        box.kill()
        await box.exited
      })

      test('no other process is to be seen', async () => {
        const { stdout } = await shell('ls -d /proc/[0-9]* | wc -l')
        expect(Number(stdout)).toBeLessThan(6)
      })

      test('no descriptor of the server is open', async () => {
        const { stdout } = await shell('ls /proc/self/fd')
        expect(stdout.trim().split('\n')).toEqual(['0', '1', '2', '3'])
      })

      test('its own files can be written, and nothing else', async () => {
        const places = ['/workspace/a', '/home/agent/a', '/tmp/a', '/dev/shm/a']
        const closed = [
          '/a',
          '/usr/a',
          '/etc/a',
          '/etc/passwd',
          '/mirror/objects/a',
          '/dev/a',
          '/home/a',
          '/proc/sys/kernel/hostname',
        ]
        const { stdout } = await shell(
          `for f in ${[...places, ...closed].join(' ')}; do (echo x > $f) 2>/dev/null && echo $f; done; true`,
        )
        expect(stdout.trim().split('\n')).toEqual(places)
        expect(await readFile(join(workspace.dir, 'a'), 'utf8')).toBe('x\n')
      })

      test('no other folder of the server can be read', async () => {
        const others = await scene.prepare({ taskId: 'of-another' })
        await writeFile(join(others.dir, 'secret.txt'), 'of another')
        const paths = [
          scene.root,
          join(others.dir, 'secret.txt'),
          workspace.privateGitDir,
          '/root',
          // An image has these of its own.
          ...(engine ? [] : ['/usr/local/etc', '/usr/etc', '/etc/shadow', '/var', '/sys']),
        ]
        const { stdout } = await shell(
          `for f in ${paths.join(' ')}; do ls $f 2>/dev/null; cat $f 2>/dev/null; done; true`,
        )
        expect(stdout).toBe('')
      })

      test('there is no network', async () => {
        const server = createServer((socket) => socket.end('reached')).listen(0, '127.0.0.1')
        await new Promise((resolve) => server.once('listening', resolve))
        const address = server.address()
        const port = typeof address === 'object' ? address?.port : 0
        const { stdout } = await shell(
          `(exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3) 2>&1; cat /proc/net/dev | tail -n +3 | cut -d: -f1`,
        )
        expect(stdout).toContain('Connection refused')
        expect(stdout.trim().split('\n').at(-1)?.trim()).toBe('lo')
        server.close()
      })

      test('git works for the agent, on the history of the repository', async () => {
        const { stdout, stderr } = await shell(
          'git status --porcelain --branch && git log --oneline main | wc -l && echo x > b.txt && git add b.txt && git commit -qm Mine && git log -1 --format=%an',
        )
        expect(stderr).toBe('')
        expect(stdout).toMatch(/^## flightdeck\/.*\n(.*\n)*1\nclaude\n$/)
        const ours = { gitDir: workspace.privateGitDir, workTree: workspace.dir }
        await gitOrThrow(testGit, { ...ours, args: ['fsck', '--connectivity-only'] })
      })

      test('a bound file can be read and a bound socket spoken to', async () => {
        await mkdir(join(scene.root, 'run'), { recursive: true })
        const source = join(scene.root, 'run', 'broker.sock')
        const server = createServer((socket) => socket.end('from the broker')).listen(source)
        await new Promise((resolve) => server.once('listening', resolve))
        await chmod(source, 0o666)
        const told = await shell(
          `perl -MIO::Socket::UNIX -e 'print readline(IO::Socket::UNIX->new("/run/broker.sock"))'; cat /opt/tools/given; rm -f /run/broker.sock /opt/tools/given`,
          {
            sockets: [{ source, target: '/run/broker.sock' }],
            readOnly: [{ source: join(scene.root, 'data/secret.txt'), target: '/opt/tools/given' }],
          },
        )
        expect(told.stdout).toBe('from the brokerof the server')
        server.close()
      })

      test('the real home of a bind is not for the spec to choose', () => {
        for (const target of [
          '/workspace/.claude',
          '/home/agent/x',
          '/proc/x',
          'relative',
          '/opt/../workspace/x',
          '/mirror/objects/x',
        ])
          expect(() => start(['true'], { readOnly: [{ source: '/usr', target }] })).toThrow(RangeError)
      })
    })

    describe('finding 13: the kernel', () => {
      /** Tells of each call how it ended: 0, or the error's number. */
      const called = async (...calls: readonly (readonly [call: CallName, ...args: number[]])[]) => {
        const script = calls
          .map(
            ([call, ...args]) =>
              `print((syscall(${[callNumber(call), ...args].join(', ')}) < 0 ? $! + 0 : 0), "\\n");`,
          )
          .join(' ')
        const { stdout } = await ended(start(['perl', '-e', script]))
        return stdout.trim().split('\n').map(Number)
      }

      test('makes no namespace in a box: no user is root there, and mounts nothing', async () => {
        expect((await shell('unshare --user true')).exit.code).not.toBe(0)
        expect(
          (await shell('unshare --user --map-root-user --mount mount -t tmpfs x /tmp')).exit.code,
        ).not.toBe(0)
        const newUser = 0x1000_0000
        expect(
          await called(['unshare', newUser], ['clone', newUser | 17, 0, 0, 0, 0], ['clone3', 0, 88]),
        ).toEqual([1, 1, 38])
      })

      test('refuses mounts, keys, rings and what else no agent needs', async () => {
        const told = await called(
          ['mount', 0, 0, 0, 0, 0],
          ['umount2', 0, 0],
          ['setns', 0, 0],
          ['chroot', 0],
          ['keyctl', 0, 0],
          ['add_key', 0, 0, 0, 0, 0],
          ['bpf', 0, 0, 0],
          ['perf_event_open', 0, 0, 0, 0, 0],
          ['io_uring_setup', 1, 0],
          ['userfaultfd', 0],
          ['open_by_handle_at', 0, 0, 0],
          ['socket', 17, 3, 0],
        )
        expect(new Set(told)).toEqual(new Set([1]))
      })

      test('lets programs be what they are: threads, memory as a file, tracing of their own', async () => {
        const { stdout, stderr } = await shell(
          `perl -e 'my $child = fork // die; if (!$child) { exit 3 } waitpid $child, 0; print $? >> 8, "\\n"'; git --version >/dev/null && (sleep 0 & wait) && echo fine`,
        )
        expect({ stdout, stderr }).toEqual({ stdout: '3\nfine\n', stderr: '' })
      })
    })

    describe('its streams', () => {
      test('carry what is said both ways, and how it ended', async () => {
        const box = start(['bash', '-c', 'read line; echo "got $line"; echo told >&2; exit 7'], {
          stdin: 'pipe',
        })
        box.stdin?.end('a line\n')
        expect(await ended(box)).toEqual({
          stdout: 'got a line\n',
          stderr: 'told\n',
          exit: { code: 7, signal: null, reason: 'itself' },
        })
      })

      test('bytes pass as they are, and a slow reader slows the writer', async () => {
        const box = start(['bash', '-c', 'head -c 3000000 /dev/zero | tr "\\0" "\\377"; echo done >&2'])
        let isDone = false
        box.stderr.on('data', () => (isDone = true))
        await new Promise((resolve) => box.stdout.once('readable', resolve))
        await delay(300)
        expect(isDone).toBe(false)
        let size = 0
        for await (const chunk of box.stdout) if (chunk instanceof Buffer) size += chunk.length
        expect(size).toBe(3_000_000)
        expect((await box.exited).code).toBe(0)
      })

      test('a command that is not there is its own failure', async () => {
        const { exit, stderr } = await ended(start(['no-such-command']))
        expect(exit).toMatchObject({ reason: 'itself' })
        expect(exit.code).not.toBe(0)
        expect(stderr).toContain('no-such-command')
      })
    })

    describe('its end', () => {
      /** Starts what is hard to get rid of, and waits until all of it runs. */
      const startStubborn = async (): Promise<SandboxedProcess> => {
        for (const name of await readdir(workspace.dir))
          if (name.startsWith('beat-')) await rm(join(workspace.dir, name))
        const beat = 'while :; do date +%s%N > /workspace/beat-$1; sleep 0.05; done'
        const box = start([
          'bash',
          '-c',
          `trap "" INT TERM HUP
           setsid bash -c '${beat}' x 1 </dev/null >/dev/null 2>&1 &
           (setsid setsid bash -c 'trap "" TERM; ${beat}' x 2 </dev/null >/dev/null 2>&1 &)
           nohup bash -c '${beat}' x 3 >/dev/null 2>&1 & wait`,
        ])
        await expect.poll(() => beats(), { timeout: 5_000 }).toHaveLength(3)
        expect(await processesOf(workspace)).not.toEqual([])
        return box
      }
      const beats = async (): Promise<string[]> => {
        const names = (await readdir(workspace.dir)).filter((name) => name.startsWith('beat-'))
        return Promise.all(names.map((name) => readFile(join(workspace.dir, name), 'utf8')))
      }

      test('by a kill leaves nothing behind, also of what hid in sessions of its own', async () => {
        const box = await startStubborn()
        const born = performance.now()
        box.kill()
        expect(await box.exited).toMatchObject({ reason: 'killed' })
        expect(performance.now() - born).toBeLessThan(2_000)
        const last = await beats()
        await delay(300)
        expect(await beats()).toEqual(last)
        expect(await processesOf(workspace)).toEqual([])
      })

      test("by its command's own end too", async () => {
        const script = `setsid bash -c 'while :; do date +%s%N > /workspace/beat-9; sleep 0.05; done' </dev/null >/dev/null 2>&1 & sleep 0.3`
        expect((await ended(start(['bash', '-c', script]))).exit).toEqual({
          code: 0,
          signal: null,
          reason: 'itself',
        })
        const last = await beats()
        await delay(300)
        expect(await beats()).toEqual(last)
      })

      test('by a kill in its first moment as well', async () => {
        for (const waitMs of [0, 1, 2, 4, 8, 16]) {
          const box = start(['bash', '-c', 'setsid sleep 1000 & sleep 1000'])
          await delay(waitMs)
          box.kill()
          expect(await box.exited).toMatchObject({ reason: 'killed' })
        }
        await expect.poll(() => processesOf(workspace), { timeout: 2_000 }).toEqual([])
      })

      test('comes with the end of the server, even one that cannot say goodbye', async () => {
        const server = await startServerWith(workspace, engine)
        expect((await processesOf(workspace)).length).toBeGreaterThan(2)
        server.kill('SIGKILL')
        await expect.poll(() => processesOf(workspace), { timeout: 3_000 }).toEqual([])
      })

      test('an interrupt reaches the command as Ctrl-C would', async () => {
        const box = start([
          'bash',
          '-c',
          'trap "echo interrupted; exit 3" INT; echo ready; while :; do sleep 0.05; done',
        ])
        const output = text(box.stdout)
        box.stdout.once('data', () => box.interrupt())
        expect(await box.exited).toEqual({ code: 3, signal: null, reason: 'itself' })
        expect(await output).toBe('ready\ninterrupted\n')
        box.interrupt()
        box.kill()
      })
    })

    describe('finding 2: frozen,', () => {
      const beat = (name: string) => `while :; do date +%s%N > /workspace/still-${name}; sleep 0.02; done`
      const background = '</dev/null >/dev/null 2>&1 &'
      const perl = (script: string) => `setsid perl -e '${script}' ${background}`
      const write = (name: string) =>
        `open my $f, ">", "/workspace/still-${name}"; print $f rand; close $f; select undef, undef, undef, 0.01;`
      const attacks = {
        'a session of its own': `setsid bash -c '${beat('a')}' ${background}`,
        'a double fork': `(setsid setsid bash -c '${beat('b')}' ${background})`,
        'one that hears no signal and calls itself as others do': perl(
          `$0 = "sleep 1000.5"; $SIG{$_} = "IGNORE" for grep { !/KILL|STOP|CHLD/ } keys %SIG; $SIG{TERM} = "IGNORE"; while (1) { ${write('c')} }`,
        ),
        'a chain of which each is gone when the next is there': perl(
          `my $n = 0; while (1) { exit if fork; $n += 1; if ($n % 20 == 0) { ${write('d')} } }`,
        ),
        'a crowd that fills every place that becomes free': perl(
          `while (1) { my $pid = fork; if (defined $pid && !$pid) { next } ${write('e')} }`,
        ),
      }
      /** A command with a process beside it, as an agent has its relay; what it then does is the attack's. */
      const startWith = async (attack: string): Promise<SandboxedProcess> => {
        for (const name of await readdir(workspace.dir))
          if (name.startsWith('still-')) await rm(join(workspace.dir, name))
        const script = `sleep 1000.5 & read -r line; ${attack}\nexec bash -c '${beat('itself')}'`
        const limits = { ...wide, processes: 100 }
        const box = start(['bash', '-c', script], { stdin: 'pipe', beside: 1, limits })
        box.stdout.resume()
        box.stderr.resume()
        await box.settled
        box.stdin?.write('\n')
        await expect.poll(async () => Object.keys(await beats()).length, { timeout: 10_000 }).toBe(2)
        return box
      }
      const beats = async (): Promise<Readonly<Record<string, string>>> => {
        const names = (await readdir(workspace.dir)).filter((name) => name.startsWith('still-'))
        const found = await Promise.all(
          names.map(async (name) => [name, await readFile(join(workspace.dir, name), 'utf8')] as const),
        )
        return Object.fromEntries(found)
      }

      test.each(Object.entries(attacks))('it is rid of %s', async (_, attack) => {
        const box = await startWith(attack)
        const fate = await box.freeze()
        const before = await beats()
        await delay(200)
        expect(await beats()).toEqual(before)
        // The first of the box, the command and what was beside it; bubblewrap has another outside.
        const left = (await processesOf(workspace)).length
        expect(left).toBeLessThanOrEqual(fate === 'frozen' ? 4 : 0)
        box.kill()
        await box.exited
      })

      test('the command and what was beside it stand still, and go on once thawed', async () => {
        const box = await startWith(attacks['a double fork'])
        expect(await box.freeze()).toBe('frozen')
        const before = await beats()
        box.thaw()
        await expect.poll(beats).not.toEqual(before)
        expect((await beats())['still-b']).toBe(before['still-b'])
        expect(await box.freeze()).toBe('frozen')
        box.kill()
        expect(await box.exited).toMatchObject({ reason: 'killed' })
      })

      test('it is ended where one of those that stay is gone', async () => {
        const box = await startWith(`${attacks['a double fork']} ; kill -9 $!`)
        expect(await box.freeze()).toBe('ended')
        expect(await processesOf(workspace)).toEqual([])
      })
    })

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

      test('of processes, which another box does not use up', async () => {
        const limits = { ...wide, processes: 40 }
        const other = await scene.prepare({ taskId: 'a-fork-bomb' })
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

      // A container's processors are shared out by its control group: `containerPlan.test.ts`.
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
        const many = await shell(
          Array.from({ length: 5 }, () => `${eat(100_000_000)} & `).join('') + 'wait',
          { limits },
        )
        expect(many.exit.reason).toBe('memory_limit')
      })

      // What is written to the file that memfd_create(2) makes is in no address space.
      const memfd = `my $fd = syscall(${callNumber('memfd_create')}, my $name = "held", 0); $fd >= 0 or die "refused"; open(my $file, ">&=", $fd) or die "$!"; binmode $file`
      /** Either the kernel counts it, or there is none. */
      const isBounded = ({ exit, stderr }: { exit: SandboxExit; stderr: string }): boolean =>
        exit.reason === 'memory_limit' || exit.code === 137 || stderr.startsWith('refused')

      test('finding 13: of memory that has only a descriptor', async () => {
        const limits = { ...wide, memoryBytes: 300_000_000 }
        const hold = `${memfd}; print $file "x" x 10_000_000 for 1 .. 50; sleep 9`
        expect(await shell(`perl -e '${hold}'`, { limits })).toSatisfy(isBounded)
      })

      test('finding 13: of memory that is on its way through a socket', async () => {
        const limits = { ...wide, memoryBytes: 300_000_000 }
        // sendmsg(2) of one byte with the descriptor, which is closed here then.
        const send = `socketpair(my $from, my $to, 1, 1, 0) or die "$!"; my $byte = "x"; my $part = pack("PQ", $byte, 1); my $told = pack("Qiiix4", 20, 1, 1, $fd); my $message = pack("QLx4PQPQix4", 0, 0, $part, 1, $told, 24, 0); syscall(${process.arch === 'arm64' ? 211 : 46}, fileno($from), $message, 0) == 1 or die "sendmsg: $!"; close $file`
        const hold = `${memfd}; print $file "x" x 10_000_000 for 1 .. 50; ${send}; sleep 9`
        expect(await shell(`perl -e '${hold}'`, { limits })).toSatisfy(isBounded)
      })

      test('finding 13: of segments of System V that nobody has attached', async () => {
        const limits = { ...wide, memoryBytes: 300_000_000 }
        const hold = `for (1 .. 10) { my $id = shmget(0, 50_000_000, 0600); defined $id or die "refused: $!"; shmwrite($id, "x" x 10_000_000, $_ * 10_000_000, 10_000_000) or die "$!" for 0 .. 4 } sleep 9`
        expect(await shell(`perl -e '${hold}'`, { limits })).toSatisfy(isBounded)
        // Small ones are there for who locks by them.
        const small = await shell(`perl -e 'defined shmget(0, 56, 0600) or die "$!"; print "fine"'`)
        expect(small.stdout).toBe('fine')
      })

      /** mmap(2) of what is shared and has no name; read(2) puts zeros into it, which takes its pages. */
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
  })
}

/** Reads a box to its end. */
async function ended(box: SandboxedProcess): Promise<{ stdout: string; stderr: string; exit: SandboxExit }> {
  const [stdout, stderr, exit] = await Promise.all([text(box.stdout), text(box.stderr), box.exited])
  return { stdout, stderr, exit }
}

async function text(stream: NodeJS.ReadableStream): Promise<string> {
  const parts: Buffer[] = []
  stream.on('data', (chunk: Buffer) => parts.push(chunk))
  await new Promise((resolve) => stream.once('close', resolve))
  return Buffer.concat(parts).toString('utf8')
}

/** A process with a box of its own, which runs by now. */
async function startServerWith(workspace: Workspace, engine: TestEngine | undefined): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('testServer.ts', import.meta.url))
  const args = ['--import', import.meta.resolve('tsx'), program, JSON.stringify(workspace)]
  if (engine) args.push(JSON.stringify(engine))
  const server = spawn(process.execPath, args, {
    env: { PATH: testPath },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((resolve, reject) => {
    server.stdout.once('data', resolve)
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
  return server
}

/** The processes on this machine, dead ones left out, that have the workspace's tree mounted as a box has. */
export async function processesOf(workspace: Workspace): Promise<readonly string[]> {
  const found: string[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const mounts = await readFile(`/proc/${pid}/mountinfo`, 'utf8').catch(() => '')
    const isInside = mounts.split('\n').some((line) => {
      const [, , , from = '', at] = line.split(' ')
      // `from` begins where its file system is mounted; tests beside this one have workspaces of the same task elsewhere.
      return at === '/workspace' && workspace.dir.endsWith(from)
    })
    if (isInside && (await birthOf(Number(pid))) !== undefined) found.push(pid)
  }
  return found
}
