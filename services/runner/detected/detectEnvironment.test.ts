import { execFileSync } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeScene, testGit } from '../../../tests/runner/workspaceScene.ts'
import { detectEnvironment, environmentOf, nothingDetected } from './detectEnvironment.ts'

const sandbox = { isContainer: false, versions: new Map([['node', '20.19.0'] as const]) }
const detected = (files: Readonly<Record<string, string>>) =>
  detectEnvironment(
    { paths: new Set(Object.keys(files)), texts: new Map(Object.entries(files)), notes: [] },
    sandbox,
  )

test('of a repository without known files there is nothing to tell', () => {
  expect(detected({})).toEqual(nothingDetected)
})

const venv = "set -e\npython3 -m venv .venv\necho '*' > .venv/.gitignore\n"

describe('package managers become a setup command', () => {
  test.each<[Readonly<Record<string, string>>, string, readonly string[]]>([
    [{ 'package.json': '{}' }, 'npm install', ['registry.npmjs.org']],
    [{ 'package.json': '{}', 'package-lock.json': '' }, 'npm ci', ['registry.npmjs.org']],
    [
      { 'package.json': '{"packageManager":"pnpm@9.1.0+sha512.ab"}', 'pnpm-lock.yaml': '' },
      'npx --yes pnpm@9.1.0 install --frozen-lockfile',
      ['registry.npmjs.org'],
    ],
    [
      { 'package.json': '{"packageManager":"pnpm@9;evil"}', 'pnpm-lock.yaml': '' },
      'npx --yes pnpm@9 install --frozen-lockfile',
      ['registry.npmjs.org'],
    ],
    [
      { 'package.json': '{}', 'yarn.lock': '' },
      'npx --yes yarn@1 install --frozen-lockfile',
      ['registry.npmjs.org', 'registry.yarnpkg.com'],
    ],
    [
      { 'package.json': '{"packageManager":"yarn@4.5.0"}', 'yarn.lock': '', '.yarnrc.yml': '' },
      'npx --yes --package @yarnpkg/cli-dist@4.5.0 yarn install --immutable',
      ['registry.npmjs.org', 'registry.yarnpkg.com'],
    ],
    [
      { 'package.json': '{}', 'bun.lock': '' },
      'npx --yes bun install --frozen-lockfile',
      ['registry.npmjs.org'],
    ],
    [
      { 'requirements.txt': '' },
      `${venv}.venv/bin/pip install -r requirements.txt`,
      ['pypi.org', 'files.pythonhosted.org'],
    ],
    [
      { 'pyproject.toml': '[project]\n', 'uv.lock': '' },
      `${venv}.venv/bin/pip install uv\n.venv/bin/uv sync --frozen`,
      ['pypi.org', 'files.pythonhosted.org'],
    ],
    [
      { 'pyproject.toml': '[project]\n', 'poetry.lock': '' },
      `${venv}.venv/bin/pip install poetry\n.venv/bin/poetry install --no-interaction`,
      ['pypi.org', 'files.pythonhosted.org'],
    ],
    [
      { 'pyproject.toml': '[build-system]\n' },
      `${venv}.venv/bin/pip install -e .`,
      ['pypi.org', 'files.pythonhosted.org'],
    ],
    [{ 'pyproject.toml': '[tool.ruff]\n' }, '', []],
    [{ 'go.mod': 'module x\n' }, 'go mod download', ['proxy.golang.org', 'sum.golang.org']],
    [{ 'Cargo.toml': '', 'Cargo.lock': '' }, 'cargo fetch --locked', ['index.crates.io', 'static.crates.io']],
    [{ 'pom.xml': '' }, 'mvn -q -B dependency:go-offline', ['repo.maven.apache.org']],
    [{ 'pom.xml': '', mvnw: '' }, 'sh ./mvnw -q -B dependency:go-offline', ['repo.maven.apache.org']],
    [
      { 'build.gradle.kts': '' },
      'gradle --no-daemon dependencies',
      ['repo.maven.apache.org', 'plugins.gradle.org', 'plugins-artifacts.gradle.org'],
    ],
    [
      { Gemfile: '', 'Gemfile.lock': '' },
      "set -e\nbundle config set --local path vendor/bundle\nbundle install\necho '*' > vendor/bundle/.gitignore",
      ['rubygems.org', 'index.rubygems.org'],
    ],
  ])('%j', (files, setupCommand, hosts) => {
    const found = detected(files)
    expect(found.setupCommand).toBe(setupCommand)
    expect(found.hosts.map(({ host }) => host)).toEqual(hosts)
  })
})

test('several languages are set up one after the other, each with its hosts', () => {
  expect(detected({ 'package.json': '{}', 'package-lock.json': '', 'go.mod': 'go 1.24\n' })).toEqual({
    found: [
      { file: 'package-lock.json', says: 'Packages of npm' },
      { file: 'go.mod', says: 'Go modules' },
      { file: 'go.mod', says: 'go >=1.24' },
    ],
    setupCommand: 'set -e\nnpm ci\ngo mod download',
    hosts: [
      { host: 'registry.npmjs.org', from: 'package-lock.json' },
      { host: 'proxy.golang.org', from: 'go.mod' },
      { host: 'sum.golang.org', from: 'go.mod' },
    ],
    variables: [],
    ports: [],
    notes: [],
  })
})

test("the devcontainer's own commands come before ours, as they are", () => {
  const { setupCommand, hosts } = detected({
    'package.json': '{}',
    '.devcontainer.json': JSON.stringify({ postCreateCommand: 'make a; make b\n# \u001B[31mdone' }),
  })
  expect(setupCommand).toBe('make a; make b\n# \u001B[31mdone')
  expect(hosts).toEqual([{ host: 'registry.npmjs.org', from: 'package.json' }])
})

test('several commands end with the first that fails, also within one of them', () => {
  const postCreateCommand = { a: 'cd web && npm ci', b: 'true # done' }
  expect(
    detected({ '.devcontainer/devcontainer.json': JSON.stringify({ postCreateCommand }) }).setupCommand,
  ).toBe('set -e\n(\ncd web && npm ci\n)\n(\ntrue # done\n)')
})

// Attacks detected: a setup command that is too long for a project, by a long version or by many small commands.
test.each([
  [
    {
      'package.json': JSON.stringify({ packageManager: `pnpm@9${'9'.repeat(200_000)}` }),
      'pnpm-lock.yaml': '',
    },
  ],
  [{ '.devcontainer.json': JSON.stringify(manyCommands()) }],
])('a setup command that no project can have is not proposed (%#)', (files) => {
  const { setupCommand, notes } = detected(files)
  expect(setupCommand).toBe('')
  expect(notes).toEqual(['The setup command would be longer than a project can have. It is not proposed.'])
})

/** Commands that are each short enough, but not as one script. */
function manyCommands() {
  const group = Object.fromEntries(Array.from({ length: 800 }, (_, at) => [`c${at}`, 'a&']))
  return { onCreateCommand: group, updateContentCommand: group, postCreateCommand: group }
}

// Attacks detected: versions and names of package managers with what a shell would run.
test.each(['$(id)', '`id`', '22; id', '22\nid', "22' id", '22 && id', '../22', '22|id', '22\u0000', '22>x'])(
  'nothing of the version %j reaches the setup command',
  (version) => {
    const files = {
      '.nvmrc': version,
      '.tool-versions': `nodejs ${version}\n`,
      'rust-toolchain.toml': `[toolchain]\nchannel = "${version}"\n`,
      'package.json': JSON.stringify({ packageManager: `pnpm@${version}`, engines: { node: version } }),
      'pnpm-lock.yaml': '',
      'go.mod': `module x\n\ngo ${version}\n`,
    }
    expect(detected(files).setupCommand).toMatch(
      /^set -e\nnpx --yes pnpm(?:@22)? install --frozen-lockfile\ngo mod download$/,
    )
  },
)

test('a file that is no JSON leaves the proposal of the others, and versions are compared', () => {
  const { setupCommand, notes } = detected({
    '.devcontainer.json': 'image: node',
    'package.json': '{"engines":{"node":"^22"}}',
  })
  expect(setupCommand).toBe('npm install')
  expect(notes).toEqual([
    '.devcontainer.json is not a JSON object, even without comments. Nothing of it is followed.',
    'package.json asks for node ^22. The sandbox has node 20.19.0.',
  ])
})

// Attacks detected: a link to a file of the machine in place of a version file.
// Attacks detected: a devcontainer file of megabytes.
// Attacks detected: a file that is not UTF-8.
test('of a commit, links and large files are not read, and other bytes are no fault', async () => {
  const scene = await makeScene({
    'package.json': '{}',
    '.devcontainer.json': `{"postCreateCommand":"make"}${' '.repeat(3_000_000)}`,
    'mise.toml/child': 'a folder',
    '.tool-versions': Buffer.concat([Buffer.of(0xff, 0xfe, 0), Buffer.from('\nnodejs 22\n')]),
  })
  onTestFinished(() => scene.remove())
  const git = (input: string, ...args: readonly string[]) =>
    execFileSync('git', ['--git-dir', scene.remote, ...args], { input, encoding: 'utf8' })
  const target = git('/etc/passwd', 'hash-object', '-w', '--stdin').trim()
  const link = `120000 blob ${target}\t.nvmrc\n`
  const commit = git(`${git('', 'ls-tree', 'main')}${link}`, 'mktree').trim()
  const found = await environmentOf(testGit, { gitDir: scene.remote, commit }, sandbox)
  expect(found.setupCommand).toBe('npm install')
  expect(found.found.map(({ says }) => says)).toEqual(['Packages of npm, without a lock file', 'node 22'])
  expect(found.notes).toEqual([
    '.devcontainer.json is larger than 256 KiB and is not read.',
    '.nvmrc is not a plain file and is not read.',
    '.tool-versions asks for node 22. The sandbox has node 20.19.0.',
  ])
})
