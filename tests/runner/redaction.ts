/** The result of redaction, computed as plainly as possible without regard to time: the real redaction is compared with it. */
import { redacted } from '#platform/redaction/scan.ts'
import { formsOf } from '#platform/redaction/secretForms.ts'

const prefixed: readonly (readonly [string, RegExp, number])[] = [
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'].map((prefix) => [prefix, /\w/, 20] as const),
  ['sk-ant-', /[\w-]/, 20],
  ['AKIA', /[A-Z0-9]/, 16],
  ['ASIA', /[A-Z0-9]/, 16],
]
const webToken = /^eyJ[\w-]{8,1021}\.eyJ[\w.-]*/
const begin = /^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/
const end = /^-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/
const longestBlock = 64 * 1024

/** Decides about every position of the text separately. */
export function naivelyRedacted(text: string, secrets: readonly string[]): string {
  const forms = formsOf(secrets)
  const hidden = Array.from({ length: text.length }, () => false)
  const hide = (from: number, to: number) => hidden.fill(true, from, to)
  let blockUntil = 0
  for (let at = 0; at < text.length; at += 1) {
    const rest = text.slice(at)
    for (const form of forms) {
      if (rest.startsWith(form)) hide(at, at + form.length)
      else if (rest.length >= 8 && form.startsWith(rest)) hide(at, text.length)
    }
    for (const [prefix, run, least] of prefixed) {
      if (!rest.startsWith(prefix)) continue
      let length = prefix.length
      while (length < rest.length && run.test(rest.charAt(length))) length += 1
      if (length >= prefix.length + least) hide(at, at + length)
    }
    hide(at, at + (webToken.exec(rest)?.[0].length ?? 0))
    const ended = at < blockUntil ? (end.exec(rest)?.[0].length ?? 0) : 0
    if (ended > 0) {
      hide(at, at + ended)
      blockUntil = 0
    }
    const begun = begin.exec(rest)?.[0].length ?? 0
    if (begun > 0) {
      hide(at, at + begun)
      blockUntil = at + longestBlock
    }
    if (at < blockUntil) hide(at, at + 1)
  }
  let shown = ''
  for (const [at, isHidden] of hidden.entries())
    if (!isHidden) shown += text.charAt(at)
    else if (hidden[at - 1] !== true) shown += redacted
  return shown
}
