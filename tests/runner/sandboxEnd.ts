/** The part of the contract about how a sandbox ends, and how it is frozen. */
import { spawn, type ChildProcess } from 'node:child_process'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testPath } from './workspaceScene.ts'
import { type Workspace } from '../../services/runner/workspace/workspace.ts'
import { type SandboxedProcess } from '../../services/runner/sandbox/port.ts'
import { ended, text, processesOf, wide, type SandboxStage } from './sandboxStage.ts'
import { type TestEngine } from './testSandbox.ts'

/** Tests that a sandbox ends with everything that was started in it. */
export function describeEnd(at: SandboxStage): void {
  const { start, engine } = at
  describe('its end', () => {
    /** Starts processes that are hard to end, and waits until all of them run. */
    const startStubborn = async (): Promise<SandboxedProcess> => {
      for (const name of await readdir(at.workspace.dir))
        if (name.startsWith('beat-')) await rm(join(at.workspace.dir, name))
      const beat = 'while :; do date +%s%N > /workspace/beat-$1; sleep 0.05; done'
      const child = start([
        'bash',
        '-c',
        `trap "" INT TERM HUP
         setsid bash -c '${beat}' x 1 </dev/null >/dev/null 2>&1 &
         (setsid setsid bash -c 'trap "" TERM; ${beat}' x 2 </dev/null >/dev/null 2>&1 &)
         nohup bash -c '${beat}' x 3 >/dev/null 2>&1 & wait`,
      ])
      await expect.poll(() => beats()).toHaveLength(3)
      expect(await processesOf(at.workspace)).not.toEqual([])
      return child
    }
    const beats = async (): Promise<string[]> => {
      const names = (await readdir(at.workspace.dir)).filter((name) => name.startsWith('beat-'))
      return Promise.all(names.map((name) => readFile(join(at.workspace.dir, name), 'utf8')))
    }

    test('by a kill leaves nothing behind, also of what hid in sessions of its own', async () => {
      const child = await startStubborn()
      const born = performance.now()
      child.kill()
      expect(await child.exited).toMatchObject({ reason: 'killed' })
      expect(performance.now() - born).toBeLessThan(2_000)
      const last = await beats()
      await delay(300)
      expect(await beats()).toEqual(last)
      expect(await processesOf(at.workspace)).toEqual([])
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
        const child = start(['bash', '-c', 'setsid sleep 1000 & sleep 1000'])
        await delay(waitMs)
        child.kill()
        expect(await child.exited).toMatchObject({ reason: 'killed' })
      }
      await expect.poll(() => processesOf(at.workspace)).toEqual([])
    })

    test('comes with the end of the server, even one that cannot say goodbye', async () => {
      const server = await startServerWith(at.workspace, engine)
      expect((await processesOf(at.workspace)).length).toBeGreaterThan(2)
      server.kill('SIGKILL')
      await expect.poll(() => processesOf(at.workspace)).toEqual([])
    })

    test('an interrupt reaches the command as Ctrl-C would', async () => {
      const child = start([
        'bash',
        '-c',
        'trap "echo interrupted; exit 3" INT; echo ready; while :; do sleep 0.05; done',
      ])
      const output = text(child.stdout)
      child.stdout.once('data', () => child.interrupt())
      expect(await child.exited).toEqual({ code: 3, signal: null, reason: 'itself' })
      expect(await output).toBe('ready\ninterrupted\n')
      child.interrupt()
      child.kill()
    })
  })
}

/** Tests that a sandbox is frozen while the workspace is read. */
export function describeFreeze(at: SandboxStage): void {
  const { start } = at
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
    /** Starts a command together with another process, as an agent has its relay; that process then carries out the attack. */
    const startWith = async (attack: string): Promise<SandboxedProcess> => {
      for (const name of await readdir(at.workspace.dir))
        if (name.startsWith('still-')) await rm(join(at.workspace.dir, name))
      // The first write needs no process: an attack may have used up all processes before the second.
      const first = 'echo 0 > /workspace/still-itself'
      const script = `sleep 1000.5 & read -r line; ${first}; ${attack}\nexec bash -c '${beat('itself')}'`
      const limits = { ...wide, processes: 100 }
      const child = start(['bash', '-c', script], { stdin: 'pipe', helperCount: 1, limits })
      onTestFinished(async () => {
        child.kill()
        await child.exited
      })
      child.stdout.resume()
      child.stderr.resume()
      await child.settled
      child.stdin?.write('\n')
      await expect.poll(async () => Object.keys(await beats()).length).toBe(2)
      return child
    }
    const beats = async (): Promise<Readonly<Record<string, string>>> => {
      const names = (await readdir(at.workspace.dir)).filter((name) => name.startsWith('still-'))
      const found = await Promise.all(
        names.map(async (name) => [name, await readFile(join(at.workspace.dir, name), 'utf8')] as const),
      )
      return Object.fromEntries(found)
    }

    test.each(Object.entries(attacks))('it is rid of %s', async (_, attack) => {
      const child = await startWith(attack)
      const fate = await child.freeze()
      const before = await beats()
      await delay(200)
      expect(await beats()).toEqual(before)
      // The first process of the sandbox, the command and the process next to it; bubblewrap has another process outside.
      const left = (await processesOf(at.workspace)).length
      expect(left).toBeLessThanOrEqual(fate === 'frozen' ? 4 : 0)
    })

    test('the command and what was beside it stand still, and go on once thawed', async () => {
      const child = await startWith(attacks['a double fork'])
      expect(await child.freeze()).toBe('frozen')
      const before = await beats()
      child.thaw()
      await expect.poll(beats).not.toEqual(before)
      expect((await beats())['still-b']).toBe(before['still-b'])
      expect(await child.freeze()).toBe('frozen')
      child.kill()
      expect(await child.exited).toMatchObject({ reason: 'killed' })
    })

    test('it is ended where one of those that stay is gone', async () => {
      const child = await startWith(`kill -9 $!; wait $!; ${attacks['a double fork']}`)
      expect(await child.freeze()).toBe('ended')
      expect(await processesOf(at.workspace)).toEqual([])
    })
  })
}

async function startServerWith(workspace: Workspace, engine: TestEngine | undefined): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('sandbox.holder.ts', import.meta.url))
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
