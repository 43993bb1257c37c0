/** Takes secrets out of texts that are whole. */
import type { Automaton } from './automaton.ts'
import { goOn, newScan } from './scan.ts'

export function textWithout(sought: Automaton, text: string): string {
  return goOn(sought, newScan(), text, true)
}

export function diffWithout(sought: Automaton, diff: string): string {
  const whole = (text: string) => goOn(sought, newScan({ linesStay: true }), text, true)
  const [head = '', ...hunks] = diff.split(/^(?=@@ )/m)
  const shown = hunks.map((hunk) => {
    const [title = '', ...lines] = hunk.split('\n')
    const bodies = whole(lines.map((line) => line.slice(1)).join('\n')).split('\n')
    return [whole(title), ...lines.map((line, at) => line.slice(0, 1) + (bodies[at] ?? ''))].join('\n')
  })
  return head + shown.join('')
}
