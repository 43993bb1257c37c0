/** The versions of programs that a repository's files ask for, compared with those in the sandbox. */
import { z } from 'zod'
import { jsonOf } from '#platform/json.ts'

export const programs = ['node', 'python', 'go', 'rust', 'java'] as const
export type Program = (typeof programs)[number]

export interface WantedVersion {
  readonly file: string
  readonly program: Program
  /** The version in the notation of the program's own tools: `22`, `>=3.11`, `^20 || ^22`, `lts/*`. */
  readonly version: string
}

/** How to find the versions in each file that may name some. Nothing in these files is ever run. */
export const versionFiles: Readonly<
  Record<string, (text: string) => readonly Omit<WantedVersion, 'file'>[]>
> = {
  '.nvmrc': (text) => only('node', firstLine(text)),
  '.node-version': (text) => only('node', firstLine(text)),
  '.python-version': (text) => only('python', firstLine(text)),
  '.java-version': (text) => only('java', firstLine(text)),
  '.tool-versions': (text) => ofTools(text.matchAll(/^[ \t]*([\w-]+)[ \t]+([^\s#]+)/gm)),
  'mise.toml': (text) =>
    ofTools(
      tableOf(text, 'tools').matchAll(
        /^[ \t]*"?([\w-]+)"?[ \t]*=[ \t]*(?:\[|\{[ \t]*version[ \t]*=)?[ \t]{0,9}["']([^"'\n]+)/gm,
      ),
    ),
  'package.json': (text) => only('node', PackageFile.safeParse(jsonOf(text)).data?.engines.node),
  'pyproject.toml': (text) =>
    only('python', /^[ \t]*requires-python[ \t]*=[ \t]*["']([^"'\n]+)/m.exec(text)?.[1]),
  'go.mod': (text) => atLeast('go', /^go[ \t]+([\d.]+)/m.exec(text)?.[1]),
  'Cargo.toml': (text) => atLeast('rust', /^[ \t]*rust-version[ \t]*=[ \t]*["']([\d.]+)/m.exec(text)?.[1]),
  'rust-toolchain.toml': (text) => only('rust', /^[ \t]*channel[ \t]*=[ \t]*["']([^"'\n]+)/m.exec(text)?.[1]),
  'pom.xml': (text) =>
    atLeast('java', /<(?:maven\.compiler\.release|java\.version)>\s*(\d+)\s*</.exec(text)?.[1]),
  'build.gradle': (text) => atLeast('java', gradleJava.exec(text)?.[1]),
  'build.gradle.kts': (text) => atLeast('java', gradleJava.exec(text)?.[1]),
}

const gradleJava = /JavaLanguageVersion\.of\((\d+)\)/
const PackageFile = z.object({ engines: z.object({ node: z.string() }) })

const toolNames: Readonly<Record<string, Program>> = {
  node: 'node',
  nodejs: 'node',
  python: 'python',
  go: 'go',
  golang: 'go',
  rust: 'rust',
  java: 'java',
}

const maxVersionsOfFile = 10

/** The versions that the files ask for. A text that does not look like a version is left out. */
export function wantedVersions(texts: ReadonlyMap<string, string>): readonly WantedVersion[] {
  return [...texts].flatMap(([file, text]) =>
    (versionFiles[file]?.(text) ?? [])
      .map((wanted) => ({ ...wanted, file, version: wanted.version.trim() }))
      .filter(({ version }) => /^[\w.+<>=~^|*, /!-]{1,60}$/.test(version))
      .slice(0, maxVersionsOfFile),
  )
}

/**
 * A sentence for each version that the sandbox certainly does not have. In `versions`, a missing program has `null`, and a program of unknown version
 * has no entry.
 */
export function versionNotes(
  wanted: readonly WantedVersion[],
  versions: ReadonlyMap<Program, string | null>,
): readonly string[] {
  return wanted.flatMap(({ file, program, version }) => {
    const has = versions.get(program)
    if (has === undefined) return []
    const asks = `${file} asks for ${program} ${version}`
    if (has === null) return [`${asks}. The sandbox has no ${program} on its PATH.`]
    return meets(version, has) === false ? [`${asks}. The sandbox has ${program} ${has}.`] : []
  })
}

/** Whether the version `has` satisfies the request `wanted`; `null` when that depends on a part that is not understood, such as `lts/*`. */
export function meets(wanted: string, has: string): boolean | null {
  const choices = wanted.split('||').map((choice) => {
    const parts = choice
      .trim()
      // In npm's ranges of two versions, both ends are included.
      .replace(/^(\S+)\s+-\s+(\S+)$/, '>=$1 <=$2')
      .replaceAll(/([<>=~^!])\s+/g, '$1')
      .split(/[\s,]+/)
    return allOf(parts.map((part) => meetsOne(part, numbersOf(has))))
  })
  if (choices.includes(true)) return true
  return choices.includes(null) ? null : false
}

function allOf(answers: readonly (boolean | null)[]): boolean | null {
  if (answers.includes(false)) return false
  return answers.includes(null) ? null : true
}

const constraint = /^(>=|<=|>|<|\^|~=|~|==|=)?(?:[a-z]+-)?v?(\d+(?:\.\d+){0,2})(?:\.[x*])*$/i

function meetsOne(part: string, has: readonly number[]): boolean | null {
  const [, operator = '', version = ''] = constraint.exec(part) ?? []
  if (version === '') return null
  const wanted = numbersOf(version)
  const order = compared(has, wanted)
  const sameUpTo = (count: number) => compared(has, wanted.slice(0, Math.max(1, count))) === 0
  switch (operator) {
    case '>=':
      return order >= 0
    case '>':
      return order > 0
    case '<=':
      return order <= 0
    case '<':
      return order < 0
    case '^':
      return order >= 0 && sameUpTo(1)
    case '~':
      return order >= 0 && sameUpTo(Math.min(2, wanted.length))
    case '~=':
      return order >= 0 && sameUpTo(wanted.length - 1)
    default:
      return order === 0
  }
}

const numbersOf = (version: string): readonly number[] =>
  (version.match(/\d+/g) ?? []).slice(0, 3).map(Number)

/** Compares as many numbers as `wanted` has; positive when `has` is newer. */
function compared(has: readonly number[], wanted: readonly number[]): number {
  for (const [index, number] of wanted.entries()) {
    const difference = (has[index] ?? 0) - number
    if (difference !== 0) return difference
  }
  return 0
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0] ?? ''

function only(program: Program, version: string | undefined): readonly Omit<WantedVersion, 'file'>[] {
  return version === undefined || version === '' ? [] : [{ program, version }]
}

function atLeast(program: Program, version: string | undefined): readonly Omit<WantedVersion, 'file'>[] {
  return version === undefined ? [] : [{ program, version: `>=${version}` }]
}

function ofTools(lines: Iterable<RegExpExecArray>): readonly Omit<WantedVersion, 'file'>[] {
  return [...lines].flatMap(([, name = '', version]) => {
    const program = Object.hasOwn(toolNames, name) ? toolNames[name] : undefined
    return program === undefined ? [] : only(program, version)
  })
}

/** The lines of the table `name` in `text`, which is TOML. */
function tableOf(text: string, name: string): string {
  const [, after = ''] = text.split(new RegExp(String.raw`^\[${name}\][^\n]*$`, 'm'))
  return after.split(/^\[/m, 1)[0] ?? ''
}
