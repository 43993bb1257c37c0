/** Reads which skills, commands and subagents a repository defines in its `.claude` folder. */
import type { RepositoryAbility } from '#domain/api/abilities.schema.ts'
import { abilityLimits } from '#domain/api/abilities.ts'
import type { AbilityFile } from '../workspace/git/abilityFiles.ts'

/** Front matter is read only from this many bytes at the start of a file. */
const longestRead = 8_192
const isName = /^[\p{L}\p{N}_][\p{L}\p{N}_:.-]*$/u

export function abilitiesIn(files: readonly AbilityFile[]): readonly RepositoryAbility[] {
  return files.flatMap(({ path, content }) => {
    const [, folder, inside = ''] = /^\.claude\/(skills|commands|agents)\/(.+)$/.exec(path) ?? []
    if (folder === undefined) return []
    const front = frontMatterOf(content.toString('utf8', 0, longestRead))
    const described = (kind: RepositoryAbility['kind'], name: string | undefined): RepositoryAbility[] =>
      name !== undefined && name.length <= abilityLimits.nameLength && isName.test(name)
        ? [
            {
              kind,
              name,
              description: shown(front.get('description') ?? '', abilityLimits.descriptionLength),
              argument: front.has('argument-hint') ? shown(front.get('argument-hint') ?? '', 60) : null,
            },
          ]
        : []
    if (folder === 'skills') return described('skill', /^([^/]+)\/SKILL\.md$/.exec(inside)?.[1])
    const file = /^(.+)\.md$/.exec(inside)?.[1]
    if (file === undefined) return []
    return folder === 'commands'
      ? described('command', file.replaceAll('/', ':'))
      : described('subagent', front.get('name'))
  })
}

/** Reads the `key: value` lines of a front matter. An indented line continues the value above it; other lines are skipped. */
export function frontMatterOf(text: string): ReadonlyMap<string, string> {
  const lines = text.split(/\r?\n/)
  const end = lines.indexOf('---', 1)
  const values = new Map<string, string>()
  if (lines[0] !== '---' || end === -1) return values
  let key = ''
  for (const line of lines.slice(1, end)) {
    const [, found, value = ''] = /^([\w-]{1,64}):\s*(.*)$/.exec(line) ?? []
    if (found !== undefined) {
      key = found
      values.set(key, /^[|>][+-]?$/.test(value) ? '' : unquoted(value.trim()))
    } else if (key !== '' && /^\s+\S/.test(line)) {
      values.set(key, `${values.get(key) ?? ''} ${line.trim()}`.trim())
    }
  }
  return values
}

const unquoted = (value: string): string => /^(["'])(.*)\1$/.exec(value)?.[2] ?? value

/** Puts a text from the repository on one line and cuts it to `most` characters. */
function shown(text: string, most: number): string {
  const line = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}
