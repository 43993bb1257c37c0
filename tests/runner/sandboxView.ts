/** The part of the contract about what a command in a sandbox sees and reaches, what the kernel refuses it, and its streams. */
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { gitOrThrow } from '../../services/runner/workspace/git/git.ts'
import { testGit, testPath } from './workspaceScene.ts'
import { callNumber, type CallName } from '../../services/runner/sandbox/systemCalls.ts'
import { ended, type SandboxStage } from './sandboxStage.ts'

/** Tests what a command sees, and which user it is. */
export function describeInside(at: SandboxStage): void {
  const { start, shell, engine } = at
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
      // An image has other files too.
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
        expect(stdout).not.toContain(at.scene.root)
        expect(stdout).toContain('GIVEN=one\ntwo "three"')
        // The values are on the command line of no process of the host.
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

    // Holds findings 1.1.
    test('finding 1: no variable of a spec reaches what starts its command', async () => {
      // The loader records which programs it starts and for which user, whatever they are.
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
      const listed = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8', env: { PATH: testPath } })
      const child = start(['sleep', '31.4159'], { env: { TOKEN: 'run-token-1234' } })
      await expect.poll(listed).toMatch(/^sleep 31\.4159$/m)
      expect(listed()).not.toContain('run-token-1234')
      child.kill()
      await child.exited
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
      expect(await readFile(join(at.workspace.dir, 'a'), 'utf8')).toBe('x\n')
    })
  })
}

/** Tests what a command reaches of the server, the network and the repository. */
export function describeReach(at: SandboxStage): void {
  const { start, shell, engine } = at
  describe('inside', () => {
    test('no other folder of the server can be read', async () => {
      const others = await at.scene.prepare({ taskId: 'of-another' })
      await writeFile(join(others.dir, 'secret.txt'), 'of another')
      const paths = [
        at.scene.root,
        join(others.dir, 'secret.txt'),
        at.workspace.privateGitDir,
        '/root',
        // An image has files of its own at these paths.
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
      const ours = { gitDir: at.workspace.privateGitDir, workTree: at.workspace.dir }
      await gitOrThrow(testGit, { ...ours, args: ['fsck', '--connectivity-only'] })
    })

    test('a bound file can be read and a bound socket spoken to', async () => {
      await mkdir(join(at.scene.root, 'run'), { recursive: true })
      const source = join(at.scene.root, 'run', 'broker.sock')
      const server = createServer((socket) => socket.end('from the broker')).listen(source)
      await new Promise((resolve) => server.once('listening', resolve))
      await chmod(source, 0o666)
      const told = await shell(
        `perl -MIO::Socket::UNIX -e 'print readline(IO::Socket::UNIX->new("/run/broker.sock"))'; cat /opt/tools/given; rm -f /run/broker.sock /opt/tools/given`,
        {
          sockets: [{ source, target: '/run/broker.sock' }],
          readOnly: [{ source: join(at.scene.root, 'data/secret.txt'), target: '/opt/tools/given' }],
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
}

/** Tests what the kernel refuses to a command. */
export function describeKernel(at: SandboxStage): void {
  const { start, shell } = at
  describe('finding 13: the kernel', () => {
    /** Returns how each call ended: 0, or the number of the error. */
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

    test('makes no namespace in a sandbox: no user is root there, and mounts nothing', async () => {
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
}

/** Tests the input, the output and the exit code of a command. */
export function describeStreams(at: SandboxStage): void {
  const { start } = at
  describe('its streams', () => {
    test('carry what is said both ways, and how it ended', async () => {
      const child = start(['bash', '-c', 'read line; echo "got $line"; echo told >&2; exit 7'], {
        stdin: 'pipe',
      })
      child.stdin?.end('a line\n')
      expect(await ended(child)).toEqual({
        stdout: 'got a line\n',
        stderr: 'told\n',
        exit: { code: 7, signal: null, reason: 'itself' },
      })
    })

    test('bytes pass as they are, and a slow reader slows the writer', async () => {
      const child = start(['bash', '-c', 'head -c 3000000 /dev/zero | tr "\\0" "\\377"; echo done >&2'])
      let isDone = false
      child.stderr.on('data', () => (isDone = true))
      await new Promise((resolve) => child.stdout.once('readable', resolve))
      await delay(300)
      expect(isDone).toBe(false)
      let size = 0
      for await (const chunk of child.stdout) if (chunk instanceof Buffer) size += chunk.length
      expect(size).toBe(3_000_000)
      expect((await child.exited).code).toBe(0)
    })

    test('a command that is not there is its own failure', async () => {
      const { exit, stderr } = await ended(start(['no-such-command']))
      expect(exit).toMatchObject({ reason: 'itself' })
      expect(exit.code).not.toBe(0)
      expect(stderr).toContain('no-such-command')
    })
  })
}
