/** Checks a file without blocking the page. It is loaded when somebody chooses a file to check. */
import type { Checked, ToCheck } from './checkInWorker.ts'
import { checkBundle, NoSignatures, textOf } from './checkBundle.ts'

self.addEventListener('message', ({ data }: MessageEvent<ToCheck>) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it answers the page that started it
  void check(data).then((answer) => self.postMessage(answer))
})

async function check({ file, keys }: ToCheck): Promise<Checked> {
  try {
    const text = textOf(new Uint8Array(await file.arrayBuffer()))
    if (text === undefined) return { kind: 'failed', why: 'no_text' }
    const lines = text.split('\n')
    if (lines.at(-1) === '') lines.pop()
    const { verdict, faults, taskId, events, signedBy, fingerprint, withheld, erased } = await checkBundle(
      lines,
      keys,
    )
    return {
      kind: 'checked',
      verdict,
      faults: faults.slice(0, 20).map(({ kind, where, why }) => `${kind} ${where}: ${why}`),
      taskId,
      events,
      fingerprint: signedBy === null ? null : fingerprint,
      withheld: Object.values(withheld).reduce((sum, count) => sum + count, 0),
      erased,
    }
  } catch (fault) {
    return { kind: 'failed', why: fault instanceof NoSignatures ? 'no_signatures' : 'unreadable' }
  }
}
