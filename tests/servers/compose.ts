/** Compose for tests: the engine's plug-in, or a separate program, or else built from its Go module into `.cache/`. */
import { execFile } from 'node:child_process'
import { access, mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'

/** The arguments before `config`, `up` and so on. */
export type ComposeCommand = readonly [program: string, ...args: string[]]

const goModule = 'github.com/docker/compose/v2'
const version = 'v2.40.3'
/** The checksum of the module at this version; a module with another one is refused. */
const sum = 'h1:XeYkQu1svDtyfZPv5nTwFryQ25ZJMkIlc4pz9HalMPI='

const cache = join(import.meta.dirname, '../../.cache')
const program = join(cache, `docker-compose-${version}-${process.platform}-${process.arch}`)
const downloadMs = 300_000
const buildMs = 900_000

const run = promisify(execFile)

/** The command for Compose on this machine, which is built if necessary: about three minutes on two cores. Or why there is none. */
export async function compose(): Promise<ComposeCommand | { readonly missing: string }> {
  const known: readonly ComposeCommand[] = [['docker', 'compose'], ['docker-compose'], [program]]
  for (const command of known) if (await isCompose(command)) return command
  try {
    await build()
    return [program]
  } catch (fault) {
    const why = fault instanceof Error ? fault.message.split('\n')[0] : String(fault)
    return { missing: `no docker compose, and it cannot be built: ${why}` }
  }
}

/** Compose before version 2 does not count, because its files have another format. */
async function isCompose([name, ...args]: ComposeCommand): Promise<boolean> {
  return run(name, [...args, 'version', '--short'], { timeout: 10_000 }).then(
    ({ stdout }) => /^v?([2-9]|\d\d)\./.test(stdout),
    () => false,
  )
}

const Downloaded = z.object({ Dir: z.string(), Sum: z.string() })

async function build(): Promise<void> {
  await access(cache).catch(() => mkdir(cache))
  const env = { ...goEnvironment(), CGO_ENABLED: '0' }
  const download = ['mod', 'download', '-json', `${goModule}@${version}`]
  const { stdout } = await run('go', download, { cwd: cache, env, timeout: downloadMs })
  const found = Downloaded.parse(JSON.parse(stdout))
  if (found.Sum !== sum) throw new Error(`${goModule} ${version} is not the one that we know.`)
  // Moved into place when it is complete, so that nobody finds half a program, even if another process builds it too.
  const half = `${program}.${process.pid}`
  const named = `-X ${goModule}/internal.Version=${version}`
  const flags = ['-trimpath', '-buildvcs=false', `-ldflags=-s -w ${named}`]
  await run('go', ['build', ...flags, '-o', half, './cmd'], { cwd: found.Dir, env, timeout: buildMs })
  await rename(half, program)
}

/** What Go needs from the environment: folders, and how modules are reached. */
function goEnvironment(): Record<string, string> {
  const needed = /^(PATH|HOME|TMPDIR|XDG_CACHE_HOME|GO[A-Z0-9]*|HTTPS?_PROXY|NO_PROXY|SSL_CERT_(FILE|DIR))$/i
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && needed.test(name) ? [[name, value]] : [],
    ),
  )
}
