/** A witness as specified in c2sp.org/tlog-witness: it cosigns a checkpoint only if the log extends the last checkpoint that it saw. */
import { toBase64 } from '#domain/kernel/base64.ts'
import { parseCheckpoint, parseNote } from '#domain/proof/checkpoint.ts'
import type { Placed, SealedLogView, SecondPlace } from './secondPlaces.ts'
import type { OutsideSeal } from './sealsFile.ts'

const answerTimeoutMs = 10_000
/** An answer of a witness with more characters than this is refused. */
const longestAnswer = 16_384

/** Makes a second place that sends seals to a witness. `url` is the address below which the witness has `add-checkpoint`. */
export function witness(url: string): SecondPlace {
  const address = `${url.replace(/\/+$/, '')}/add-checkpoint`
  let seen = 0
  return {
    name: `the witness at ${new URL(url).host}`,
    async put(seal, log, signal) {
      const size = parseCheckpoint(parseNote(seal.checkpoint)?.text ?? '')?.size ?? 0
      let answer = await ask(address, seal, log, { older: Math.min(seen, size), size, signal })
      if (answer.status === 409) {
        const known = sizeIn(answer.text)
        if (known > size)
          return contradicted(`has seen ${known} events of this log, and this seal is over ${size}`)
        answer = await ask(address, seal, log, { older: known, size, signal })
      }
      if (answer.status === 422) return contradicted('has seen another beginning of this log')
      if (answer.status !== 200)
        throw new Error(`The witness answered ${answer.status}: ${answer.text.slice(0, 200)}`)
      const cosigned = cosignedNote(seal.checkpoint, answer.text)
      seen = size
      return { kind: 'held', cosigned }
    },
  }
}

function contradicted(what: string): Placed {
  const why = `The witness ${what}: the log was changed, or put back from an older copy. Run: npm start -- verify, or after a restore: npm start -- restored`
  return { kind: 'contradicted', why }
}

/** The size that a witness names in the body of a 409. */
function sizeIn(text: string): number {
  if (!/^\d{1,15}\n?$/.test(text)) throw new Error('The witness answered 409 without a size.')
  return Number(text)
}

/**
 * The checkpoint with the cosignatures in `lines`, the witness's answer. Throws when `lines` contains anything else, or a signature in the log's
 * name.
 */
function cosignedNote(checkpoint: string, lines: string): string {
  const [before, after] = [parseNote(checkpoint), parseNote(`${checkpoint}${lines}`)]
  const own = new Set(before?.signatures.map(({ name }) => name))
  const added = after?.signatures.slice(before?.signatures.length) ?? []
  if (added.length === 0 || after?.text !== before?.text || added.some(({ name }) => own.has(name)))
    throw new Error('The witness answered with something else than its signature.')
  return `${checkpoint}${lines}`
}

async function ask(
  address: string,
  { checkpoint }: OutsideSeal,
  log: SealedLogView,
  { older, size, signal }: { readonly older: number; readonly size: number; readonly signal: AbortSignal },
): Promise<{ readonly status: number; readonly text: string }> {
  const proof = await log.consistency(older, size)
  if (proof === undefined) throw new Error('The trees of the log cannot prove what the witness asks for.')
  const body = [`old ${older}`, ...proof.map(toBase64), '', checkpoint].join('\n')
  const answer = await fetch(address, {
    method: 'POST',
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]),
    redirect: 'error',
  })
  return { status: answer.status, text: await shortText(answer) }
}

/** The text of the answer. Throws when it is longer than a witness's answer can reasonably be. */
async function shortText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (text.length > longestAnswer) throw new Error('The answer of the witness is too long.')
  }
  return text + decoder.decode()
}
