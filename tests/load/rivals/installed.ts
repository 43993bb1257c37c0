/** The rivals' packages, in a folder of the project's cache. They are installed only if the person who runs the bench says so. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { environment, root } from '../project.ts'

const folder = join(root, '.cache/rivals')
const versions = { '@cloudcli-ai/cloudcli': '1.37.3', 'opencode-ai': '1.18.33' } as const
export type RivalPackage = keyof typeof versions
const installWithinMs = 1_200_000

/** The path of a file in a rival's package. Throws a sentence when the packages are not installed. */
export async function fileOf(name: RivalPackage, path: string): Promise<string> {
  if (process.env['INSTALL_RIVALS'] === '1') await install()
  const found = join(folder, 'node_modules', name, path)
  if (existsSync(found)) return found
  throw new Error(
    `${name} ${versions[name]} is not installed. INSTALL_RIVALS=1 installs it, with 2 GB of packages, in .cache/rivals.`,
  )
}

async function install(): Promise<void> {
  if (existsSync(join(folder, 'complete'))) return
  await mkdir(folder, { recursive: true })
  // Their packages contain native code, which is compiled or fetched by install scripts.
  const allowScripts = Object.fromEntries(
    ['bcrypt', 'better-sqlite3', 'node-pty', 'opencode-ai'].map((name) => [name, true]),
  )
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, dependencies: versions, allowScripts }),
  )
  const home = dirname(dirname(process.execPath))
  const headers = existsSync(join(home, 'include/node')) ? { npm_config_nodedir: home } : {}
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund'], {
    cwd: folder,
    env: environment(folder, headers),
    timeout: installWithinMs,
    maxBuffer: 64 * 1024 * 1024,
  })
  await writeFile(join(folder, 'complete'), '')
}
