/** Finds a repository's package managers, the commands that install its packages, and the hosts of the packages. */
import { z } from 'zod'
import { jsonOf } from '#platform/json.ts'

/** The files of a repository at well-known paths. `texts` has the contents that matter and could be read. */
export interface RepositoryFiles {
  readonly paths: ReadonlySet<string>
  readonly texts: ReadonlyMap<string, string>
}

export interface PackageManager {
  /** The file from which the package manager was recognized. */
  readonly file: string
  readonly says: string
  /** Lines of a shell script. If one of them fails, the script must end. */
  readonly commands: readonly string[]
  readonly hosts: readonly string[]
}

/** Files whose existence matters, but not their content. */
export const lockFiles = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  '.yarnrc.yml',
  'bun.lock',
  'uv.lock',
  'poetry.lock',
  'Cargo.lock',
  'mvnw',
  'gradlew',
] as const

const npm = ['registry.npmjs.org']
const yarn = [...npm, 'registry.yarnpkg.com']
const pypi = ['pypi.org', 'files.pythonhosted.org']
const crates = ['index.crates.io', 'static.crates.io']
const maven = 'repo.maven.apache.org'

/** The second line keeps the folder of the virtual environment out of the task's changes; newer versions of Python write the same file. */
const virtualEnvironment = ['python3 -m venv .venv', "echo '*' > .venv/.gitignore"]

export function packageManagersOf(files: RepositoryFiles): readonly PackageManager[] {
  const { paths } = files
  const has = (path: string) => paths.has(path)
  const gradle = ['build.gradle', 'build.gradle.kts'].find(has)
  const found = [
    has('package.json') && nodeOf(files),
    pythonOf(files),
    has('go.mod') &&
      manager('go.mod', 'Go modules', ['go mod download'], ['proxy.golang.org', 'sum.golang.org']),
    has('Cargo.toml') &&
      manager('Cargo.toml', 'Rust crates', [`cargo fetch${has('Cargo.lock') ? ' --locked' : ''}`], crates),
    has('pom.xml') &&
      manager(
        'pom.xml',
        'Maven dependencies',
        [`${has('mvnw') ? 'sh ./mvnw' : 'mvn'} -q -B dependency:go-offline`],
        [maven],
      ),
    gradle !== undefined && gradleOf(gradle, has('gradlew')),
    has('Gemfile') && rubyGems,
  ]
  return found.filter((one) => one !== false)
}

function manager(
  file: string,
  says: string,
  commands: readonly string[],
  hosts: readonly string[],
): PackageManager {
  return { file, says, commands, hosts }
}

const PackageFile = z.object({ packageManager: z.string() })

function nodeOf({ paths, texts }: RepositoryFiles): PackageManager {
  const { packageManager = '' } = PackageFile.safeParse(jsonOf(texts.get('package.json') ?? '')).data ?? {}
  const [, name = '', version = ''] = /^(pnpm|yarn)(@\d[\w.-]*)/.exec(packageManager) ?? []
  const pinned = (of: string) => (name === of ? version : '')
  const isModernYarn = paths.has('.yarnrc.yml')
  const byLockFile: readonly (readonly [string, string, string, readonly string[]])[] = [
    ['package-lock.json', 'Packages of npm', 'npm ci', npm],
    ['npm-shrinkwrap.json', 'Packages of npm', 'npm ci', npm],
    ['pnpm-lock.yaml', 'Packages of pnpm', `npx --yes pnpm${pinned('pnpm')} install --frozen-lockfile`, npm],
    isModernYarn
      ? [
          'yarn.lock',
          'Packages of Yarn',
          `npx --yes --package @yarnpkg/cli-dist${pinned('yarn')} yarn install --immutable`,
          yarn,
        ]
      : ['yarn.lock', 'Packages of Yarn 1', 'npx --yes yarn@1 install --frozen-lockfile', yarn],
    ['bun.lock', 'Packages of Bun', 'npx --yes bun install --frozen-lockfile', npm],
  ]
  const [file, says, command, hosts] = byLockFile.find(([path]) => paths.has(path)) ?? [
    'package.json',
    'Packages of npm, without a lock file',
    'npm install',
    npm,
  ]
  return manager(file, says, [command], hosts)
}

function pythonOf({ paths, texts }: RepositoryFiles): PackageManager | false {
  const found = (file: string, says: string, ...lines: readonly string[]) =>
    manager(file, says, [...virtualEnvironment, ...lines.map((line) => `.venv/bin/${line}`)], pypi)
  if (paths.has('uv.lock'))
    return found('uv.lock', 'Python packages of uv', 'pip install uv', 'uv sync --frozen')
  if (paths.has('poetry.lock'))
    return found(
      'poetry.lock',
      'Python packages of Poetry',
      'pip install poetry',
      'poetry install --no-interaction',
    )
  if (paths.has('requirements.txt'))
    return found('requirements.txt', 'Python packages', 'pip install -r requirements.txt')
  // A pyproject.toml without the table `project` or `build-system` only configures tools.
  const isPackage = /^\[(?:project|build-system)\]/m.test(texts.get('pyproject.toml') ?? '')
  return isPackage && found('pyproject.toml', 'A Python package', 'pip install -e .')
}

function gradleOf(file: string, hasWrapper: boolean): PackageManager {
  const hosts = [maven, 'plugins.gradle.org', 'plugins-artifacts.gradle.org']
  return hasWrapper
    ? manager(
        file,
        'Gradle dependencies',
        ['sh ./gradlew --no-daemon dependencies'],
        [...hosts, 'services.gradle.org', 'downloads.gradle.org'],
      )
    : manager(file, 'Gradle dependencies', ['gradle --no-daemon dependencies'], hosts)
}

const rubyGems = manager(
  'Gemfile',
  'Ruby gems',
  ['bundle config set --local path vendor/bundle', 'bundle install', "echo '*' > vendor/bundle/.gitignore"],
  ['rubygems.org', 'index.rubygems.org'],
)
