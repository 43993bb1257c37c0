/** `npm run lint`: keeps words out of the product that readers stumble over, and subjects of commits short. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The words that must not occur, also as a part of an identifier, and what to write instead. */
const instead = {
  anew: 'again, from the start, or a verb with re-',
  whosoever: 'whoever',
  thereby: 'so',
  thereof: 'of it',
  whereof: 'of which',
  hitherto: 'until now',
  spoiled: 'unusable or damaged',
  wish: 'the role of the value: a request, options, a new task',
}
/** A name that occurs in recorded events, and so cannot change. */
const recorded = /startsAnew/g
const longestSubject = 72
/** The rule does not apply to commits from before this day. */
const ruleSince = '2026-11-28'

const words = new RegExp(`(?<![a-z])(${Object.keys(instead).join('|')})(?![a-z])`, 'gi')

/** @param {readonly string[]} args */
const git = (args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)

/** The product's own files without tests, which quote what people write. */
const files = git(['ls-files', 'domain', 'services', 'web/src']).filter(
  (file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file),
)
const faults = files.flatMap((file) =>
  readFileSync(`${root}/${file}`, 'utf8')
    .split('\n')
    .flatMap((line, index) =>
      [
        ...line
          .replaceAll(recorded, '')
          .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
          .matchAll(words),
      ].map(([word]) => {
        const known = Object.entries(instead).find(([name]) => name === word.toLowerCase())
        return `${file}:${index + 1}: "${word}": write ${known?.[1]}.`
      }),
    ),
)
const subjects = git(['log', `--since=${ruleSince}`, '--no-merges', '--format=%h %s'])
for (const line of subjects) {
  const subject = line.slice(line.indexOf(' ') + 1)
  if (subject.length > longestSubject)
    faults.push(`${line}: a subject has at most ${longestSubject} characters.`)
}
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1
