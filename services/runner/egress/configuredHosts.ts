/** Which hosts package managers are configured with, read from their files as plain text: nothing of them is ever run. Pure. */
import { AllowedHost } from '#domain/api/projectSettings.schema.ts'
import { reachOf } from './addresses.ts'
import { hostAndPort, isLoopback } from './allowList.ts'

export type Format = keyof typeof patterns

/** For each format, how an address is written; one may be followed by more, with commas, bars or blanks between them. */
const patterns = {
  npmrc: /^[ \t]*(?:@[^:\s]+:)?registry\s*=\s*(\S+)/gm,
  npmLock: /"resolved":\s*"([^"]+)"/g,
  yarnrc: /^[ \t]*npmRegistryServer:\s*["']?([^\s"']+)/gm,
  yarnLock: /^[ \t]+resolved "([^"#]+)/gm,
  pip: /^[ \t]*(?:index-url|extra-index-url|find-links)\s*=((?:\s*https?:\S+)+)/gm,
  requirements: /^[ \t]*(?:-i|-f|--index-url|--extra-index-url|--find-links)[ =]\s*(\S+)/gm,
  uvLock: /\b(?:registry|url) = "([^"]+)"/g,
  cargo: /^[ \t]*(?:registry|index|source)\s*=\s*"(?:(?:sparse|registry)\+)?([^"]+)"/gm,
  maven: /<url>\s*([^<\s]+)\s*<\/url>/g,
  gems: /^[ \t]*(?:source\s+["']|remote: |BUNDLE_MIRROR[\w.]*:\s*["']?)([^\s"']+)/gm,
} as const

/** The format of each file in a repository. */
export const repositoryFiles: ReadonlyMap<string, Format> = new Map([
  ['.npmrc', 'npmrc'],
  ['.yarnrc.yml', 'yarnrc'],
  ['package-lock.json', 'npmLock'],
  ['yarn.lock', 'yarnLock'],
  ['pip.conf', 'pip'],
  ['requirements.txt', 'requirements'],
  ['uv.lock', 'uvLock'],
  ['.cargo/config.toml', 'cargo'],
  ['Cargo.lock', 'cargo'],
  ['Gemfile', 'gems'],
  ['Gemfile.lock', 'gems'],
  ['.mvn/settings.xml', 'maven'],
])

const most = 20

/** The hosts in such a file, each once, as an allow-list takes them. Loopback and private addresses are left out. */
export function hostsIn(format: Format, text: string): readonly string[] {
  const found = new Set<string>()
  const meant = format === 'maven' ? withoutComments(text) : text
  for (const [, written = ''] of meant.matchAll(patterns[format]))
    for (const word of written.split(/[\s,|]+/)) {
      const host = hostOf(word)
      if (host !== undefined) found.add(host)
      if (found.size >= most) return [...found]
    }
  return [...found]
}

/** The examples of an XML file are in its comments. */
function withoutComments(text: string): string {
  return text
    .split('<!--')
    .map((part, index) => {
      const end = part.indexOf('-->')
      return index === 0 ? part : end < 0 ? '' : part.slice(end + 3)
    })
    .join('')
}

function hostOf(word: string): string | undefined {
  if (!/^https?:\/\//i.test(word) || !URL.canParse(word)) return undefined
  const url = new URL(word)
  // A password in the address is no part of the host.
  const allowed = AllowedHost.safeParse(url.host)
  if (!allowed.success) return undefined
  const { host } = hostAndPort(allowed.data)
  const isHere = isLoopback(host) || (/^[\d.]+$|:/.test(host) && reachOf(host) !== 'public')
  return isHere ? undefined : allowed.data
}
