/**
 * Lists as plain data: the files of a setup's home that are kept for agents and later tasks, and the files of a repository that decide what a setup
 * installs.
 */

const wordsIn = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Caches and toolchains below a home. Files with settings or passwords are not below these paths, or are named in `neverKept`. */
export const keptInHome = wordsIn(`
  .cache .local/bin .local/lib .local/share .local/state/mise .asdf
  .npm/_cacache .npm-global .nvm .fnm .volta .yarn/berry .yarn/cache .pnpm-store .bun/bin .bun/install .deno
  .pyenv .virtualenvs
  .rustup .cargo/bin .cargo/git .cargo/registry .cargo/env
  go/bin go/pkg
  .m2/repository .m2/wrapper .gradle/caches .gradle/wrapper .ivy2/cache .sdkman
  .rbenv .gem/ruby .bundle/cache .composer/cache .nuget/packages
`)

/**
 * Paths below `keptInHome` that are not kept. At some of them, programs store passwords and tokens. At the others, programs of agents look for
 * settings and plugins.
 */
export const neverKept = wordsIn(`
  .cache/huggingface/token .cache/huggingface/stored_tokens
  .local/share/keyrings .local/share/gh .local/share/containers/auth.json
  .local/share/pypoetry/auth.toml .local/share/uv/credentials
  .local/share/claude .local/share/opencode .local/share/cursor-agent .cache/claude .cache/opencode .cache/gemini
`)

const lockFiles = new Set(
  wordsIn(`
    package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock bun.lockb deno.lock
    poetry.lock uv.lock pdm.lock Pipfile.lock go.sum Cargo.lock Gemfile.lock composer.lock packages.lock.json mix.lock
    pom.xml gradle.lockfile build.gradle build.gradle.kts
    rust-toolchain rust-toolchain.toml .nvmrc .node-version .python-version .tool-versions mise.toml
  `),
)

/** Whether a file, by its name without folders, decides what a setup installs. */
export function isLockFile(name: string): boolean {
  return lockFiles.has(name) || /^requirements.*\.txt$/.test(name)
}
