/** Which toolchains of a host are found, and what of them a command in a sandbox sees: programs, and no credentials. */
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolchainName } from '#platform/config/config.ts'
import { toolchainNames } from '#platform/config/valueTypes.ts'
import { findTestSandbox } from '../../../../tests/runner/testSandbox.ts'
import { makeScene, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { sandboxSearchPath } from '../layout.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { hiddenPlaces, matching } from './hostPaths.ts'
import { findToolchains } from './toolchains.ts'

/** Below a folder that a sandbox does not have, unlike /tmp. */
const root = await mkdtemp('/var/tmp/flightdeck-toolchains-')
afterAll(() => rm(root, { recursive: true, force: true }))
const home = join(root, 'home')

const program = (says: string) => `#!/bin/sh\necho ${says}\n`
const programs: Readonly<Record<string, string>> = {
  'home/.cargo/bin/cargo': program('cargo'),
  'home/.rustup/toolchains/stable/bin/rustc': program('rustc'),
  'home/.rustup/settings.toml': 'version = "12"\n',
  'home/.pyenv/shims/python3': program('python'),
  'home/.pyenv/libexec/pyenv': program('pyenv'),
  'home/.pyenv/versions/3.13/bin/python3': program('python'),
  'home/.nvm/versions/node/v22/bin/node': program('node'),
  'home/.nvm/versions/node/v22/include/node/node.h': '',
  'home/.nvm/versions/node/v22/lib/node_modules/npm/package.json': '{}',
  'home/go/bin/gopls': program('gopls'),
  'go/bin/go': program('go'),
  'go/pkg/tool/link': program('link'),
  'jdk-21/bin/java': program('java'),
  'jdk-21/release': 'JAVA_VERSION="21"\n',
  'jdk-21/conf/management/management.properties': '',
  'maven/bin/mvn': program('mvn'),
  'maven/boot/plexus.jar': '',
  'maven/conf/logging/simplelogger.properties': '',
  'gradle/bin/gradle': program('gradle'),
  'gradle/lib/gradle.jar': '',
}
/** Files beside the programs that tell how to sign in somewhere. */
const credentials = [
  'home/.cargo/credentials.toml',
  'home/.cargo/config.toml',
  'home/.m2/settings.xml',
  'home/.npmrc',
  'home/.netrc',
  'home/.pypirc',
  'home/.config/go/env',
  'home/.pyenv/versions/3.13/pip.conf',
  'home/.pyenv/versions/3.13/etc/jupyter/config.json',
  'home/.pyenv/versions/3.13/.condarc',
  'home/.pyenv/versions/3.13/condarc',
  'home/.pyenv/versions/3.13/condarc.d/private.yml',
  'home/.pyenv/versions/3.13/conda-meta/state',
  'home/.pyenv/versions/3.13/envs/work/.condarc',
  'home/.nvm/versions/node/v22/etc/npmrc',
  'home/.nvm/versions/node/v22/lib/node_modules/npm/npmrc',
  'home/go/pkg/mod/cache/private.zip',
  'jdk-21/conf/management/jmxremote.password',
  'maven/conf/settings.xml',
  'gradle/init.d/registry.gradle',
  'gradle/gradle.properties',
]

async function write(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), content)
  await chmod(join(root, path), 0o755)
}

const environment = {
  HOME: home,
  PATH: ['/nowhere', 'jdk/bin', 'maven/bin', 'gradle/bin', 'links', 'home/.nvm/versions/node/v22/bin']
    .map((path) => join(root, path))
    .join(':'),
  GOROOT: join(root, 'go'),
}
const system = { readOnly: ['/usr'], symlinks: [], emptyFolders: [], emptyFiles: [] }

for (const [path, content] of Object.entries(programs)) await write(path, content)
for (const path of credentials) await write(path, 'the-password')
await symlink('jdk-21', join(root, 'jdk'))
await mkdir(join(root, 'home/.pyenv/bin'))
await symlink('../libexec/pyenv', join(root, 'home/.pyenv/bin/pyenv'))
await chmod(root, 0o755)
/** A home with programs of its own, and no toolchain. */
const person = join(root, 'person')
for (const name of ['java', 'cargo', 'go']) await write(`person/bin/${name}`, program(name))
await symlink('person', `${person}-link`)

const find = (
  given: Readonly<Record<string, string | undefined>> = environment,
  allowed: readonly ToolchainName[] = toolchainNames,
) => findToolchains({ environment: given, allowed, system })

describe('toolchains', () => {
  test('are found by variables, by programs on the PATH, and where they usually are', async () => {
    const found = await find()
    expect(found.names.filter((name) => name !== 'chrome')).toEqual([
      'go',
      'rust',
      'java',
      'maven',
      'gradle',
      'node',
      'python',
    ])
    expect(found.env).toMatchObject({
      RUSTUP_HOME: join(home, '.rustup'),
      JAVA_HOME: join(root, 'jdk-21'),
      PYENV_ROOT: join(home, '.pyenv'),
    })
    const own = ['go/bin', 'home/go/bin', 'home/.cargo/bin', 'jdk-21/bin', 'maven/bin', 'gradle/bin']
    const later = ['home/.nvm/versions/node/v22/bin', 'home/.pyenv/shims', 'home/.pyenv/bin']
    const expected = [...own, ...later].map((path) => join(root, path))
    expect(found.env.PATH).toBe(`${expected.join(':')}:${sandboxSearchPath}`)
  })

  test('are left out when the operator does not allow them, or they are in the home of a sandbox', async () => {
    expect(await find(environment, [])).toEqual({ names: [], system, env: { PATH: sandboxSearchPath } })
    const { names, env } = await find({ HOME: home, GOROOT: '/usr/local/go', PATH: '' }, ['rust'])
    expect([names, env.PATH]).toEqual([['rust'], `${join(home, '.cargo/bin')}:${sandboxSearchPath}`])
  })

  // Attacks toolchains: a variable of the server names a folder that is no toolchain.
  test.each([
    ['the root', { JAVA_HOME: '/', GOPATH: '/', GOROOT: '/' }],
    ['the home', { JAVA_HOME: person, GOPATH: person, CARGO_HOME: person }],
    ['a link to the home', { GOPATH: `${person}-link`, CARGO_HOME: `${person}-link` }],
    ['a folder of something else', { JAVA_HOME: join(root, 'maven'), GOROOT: join(root, 'jdk-21') }],
    ['a folder that a sandbox has itself', { GOPATH: '/tmp', CARGO_HOME: '/proc/self/root' }],
    ['no absolute path', { GOPATH: '.', CARGO_HOME: 'home' }],
    ['nothing', { GOPATH: '', CARGO_HOME: '/nowhere' }],
  ])('a variable that names %s shows nothing', async (_, variables) => {
    const { system: seen } = await find({ PATH: '', HOME: person, ...variables }, ['go', 'rust', 'java'])
    expect(seen).toEqual(system)
  })

  // Attacks toolchains: a link with the name of a program, to show the folder that it leads to.
  // Attacks toolchains: a folder of a toolchain is a link to the root, or to folders whose credentials would not be hidden.
  test('a folder of one that is a link to elsewhere is not shown', async () => {
    const linked = 'linked/.pyenv'
    for (const path of ['shims/python3', 'libexec/pyenv']) await write(`${linked}/${path}`, program('python'))
    await write('elsewhere/3.13/pip.conf', 'the-password')
    await symlink(join(root, 'elsewhere'), join(root, linked, 'versions'))
    await symlink('/', join(root, linked, 'bin'))
    const { system: seen } = await find({ PATH: '', HOME: join(root, 'linked') }, ['python'])
    expect(seen.readOnly.slice(1)).toEqual(['libexec', 'shims'].map((path) => join(root, linked, path)))
  })

  test('a program that only starts the real one shows no folder of its own', async () => {
    await write('alone/bin/mvn', program('mvn'))
    await symlink(join(root, 'alone/bin/mvn'), join(root, 'alone/bin/java'))
    const found = await find({ PATH: join(root, 'alone/bin') }, ['java', 'maven'])
    expect(found).toEqual({ names: [], system, env: { PATH: sandboxSearchPath } })
  })
})

// Attacks toolchains: a link in a toolchain to what is not shown.
test('a pattern stands for what is there, and a link to what is not shown hides nothing', async () => {
  expect(await matching([`${root}/jdk-*/release`, `${root}/*/nothing`, '/nowhere/*'])).toEqual([
    `${root}/jdk-21/release`,
  ])
  await symlink('/etc/shadow', join(root, 'outside'))
  await symlink(join(root, 'maven/conf/settings.xml'), join(root, 'go/inside'))
  const links = [join(root, 'outside'), join(root, 'go/inside')]
  expect(await hiddenPlaces(links, [root])).toEqual({
    emptyFolders: [],
    emptyFiles: [join(root, 'maven/conf/settings.xml')],
  })
})

const { sandbox, note } = await findTestSandbox(undefined, undefined, {
  environment,
  allowed: toolchainNames,
})

describe.skipIf(!sandbox)(`a sandbox on a host with toolchains${note}`, () => {
  let scene: Scene
  let workspace: Workspace
  beforeAll(async () => {
    scene = await makeScene({ 'tools/own': program('tree'), 'tools/cargo': program('the-own-cargo') })
    workspace = await scene.prepare()
  })
  afterAll(() => scene.remove())

  async function shell(script: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const running = sandbox?.run({
      command: ['bash', '-c', script],
      env,
      workspace,
      readOnly: [],
      sockets: [],
      stdin: 'ignore',
      limits: { memoryBytes: 1024 ** 3, processes: 64, fileSizeBytes: 1024 ** 2, wallMs: 20_000 },
    })
    if (!running) return ''
    const [stdout, stderr] = await Promise.all([text(running.stdout), text(running.stderr), running.exited])
    return stdout + stderr
  }

  test('finds their programs', async () => {
    const names = ['go', 'gopls', 'cargo', 'java', 'mvn', 'gradle', 'node', 'python3', 'pyenv']
    const said = ['go', 'gopls', 'cargo', 'java', 'mvn', 'gradle', 'node', 'python', 'pyenv']
    expect(await shell(`for name in ${names.join(' ')}; do $name; done`)).toBe(`${said.join('\n')}\n`)
    expect(await shell('$RUSTUP_HOME/toolchains/stable/bin/rustc; $JAVA_HOME/bin/java')).toBe('rustc\njava\n')
  })

  // Attacks toolchains: the operator's credentials beside a toolchain are read.
  // Attacks toolchains: a program of a toolchain is changed or added.
  test('sees none of the credentials beside them, and can change nothing', async () => {
    const paths = credentials.map((path) => join(root, path)).join(' ')
    expect(await shell(`cat ${paths} 2>/dev/null; grep -rs the-password ${root}`)).toBe('')
    expect(await shell(`ls -A ${home} ${root}/maven/conf ${root}/gradle`)).toBe(
      `${root}/gradle:\nbin\nlib\n\n${home}:\n.cargo\n.nvm\n.pyenv\n.rustup\ngo\n\n${root}/maven/conf:\nlogging\n`,
    )
    const closed = ['.cargo/bin/x', '.rustup/x', '.m2', 'go/bin/gopls'].map((path) => join(home, path))
    expect(
      await shell(`for path in ${closed.join(' ')}; do (echo > $path) 2>/dev/null && echo $path; done`),
    ).toBe('')
  })

  test('searches the folders of the project first, in the tree and in the home', async () => {
    const script =
      'chmod +x tools/*; mkdir -p ~/bin; cp tools/own ~/bin/mine; own; mine; cargo; java; echo $PATH'
    const lines = (await shell(script, { PATH: './tools:$HOME/bin' })).trim().split('\n')
    expect(lines.slice(0, -1)).toEqual(['tree', 'tree', 'the-own-cargo', 'java'])
    expect(lines.at(-1)).toMatch(/^\/workspace\/tools:\/home\/agent\/bin:.*:\/usr\/bin:/)
    await expect(shell('true', { PATH: '/opt/bin' })).rejects.toThrow(RangeError)
  })

  test('starts also when one of them was removed from the host', async () => {
    await rm(join(root, 'gradle'), { recursive: true })
    expect(await shell('gradle; cargo')).toMatch(
      /gradle: command not found\ncargo\n$|^cargo\n.*gradle: command not found\n$/,
    )
  })

  test('shows them to a program that is started later, too', async () => {
    const running = sandbox?.run({
      command: ['cat'],
      env: {},
      workspace,
      readOnly: [],
      sockets: [],
      stdin: 'pipe',
      limits: { memoryBytes: 1024 ** 3, processes: 64, fileSizeBytes: 1024 ** 2, wallMs: 20_000 },
    })
    running?.stdout.resume()
    running?.stderr.resume()
    const later = await running?.exec({
      command: ['bash', '-c', 'chmod +x tools/*; own; java; echo $RUSTUP_HOME'],
      env: { PATH: './tools' },
    })
    expect(later && (await text(later.stdout))).toBe(`tree\njava\n${join(home, '.rustup')}\n`)
    running?.kill()
    await running?.exited
  })

  // Attacks toolchains: a toolchain has a program named git.
  test('git is run without them', async () => {
    await write('home/go/bin/git', program('the-wrong-git'))
    const { stdout } = await (sandbox?.gitFor(workspace)({ args: ['version'], timeoutMs: 10_000 }) ??
      Promise.reject(new Error('no sandbox')))
    expect(stdout.toString()).toMatch(/^git version/)
  })
})
