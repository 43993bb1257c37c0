/** A witness by c2sp.org/tlog-witness: it cosigns a checkpoint only if its log goes on from the last one that it saw. */
import { toBase64 } from '#domain/kernel/base64.ts'
import { parseCheckpoint, parseNote } from '#domain/proof/checkpoint.ts'
import type { Placed, SealedLogView, SecondPlace } from './secondPlaces.ts'
import type { OutsideSeal } from './sealsFile.ts'

const answersWithinMs = 10_000

/** `url` is the prefix below which `add-checkpoint` is. */
export function witness(url: string): SecondPlace {
  const address = `${url.replace(/\/+$/, '')}/add-checkpoint`
  /** How many events it has seen. */
  let seen = 0
  return {
    name: `the witness at ${new URL(url).host}`,
    async put(seal, log) {
      const size = parseCheckpoint(parseNote(seal.checkpoint)?.text ?? '')?.size ?? 0
      let answer = await ask(address, seal, log, { older: Math.min(seen, size), size })
      if (answer.status === 409) {
        const known = Number((await answer.text()).trim())
        if (!Number.isSafeInteger(known)) throw new Error('The witness answered 409 without a size.')
        if (known > size)
          return contradicted(`has seen ${known} events of this log, and this seal is over ${size}`)
        answer = await ask(address, seal, log, { older: known, size })
      }
      if (answer.status === 422) return contradicted('has seen another beginning of this log')
      if (!answer.ok)
        throw new Error(`The witness answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`)
      seen = size
      return { kind: 'held', cosigned: `${seal.checkpoint}${await answer.text()}` }
    },
  }
}

function contradicted(what: string): Placed {
  const why = `The witness ${what}: the log was changed, or put back from an older copy. Run: npm start -- verify, or after a restore: npm start -- restored`
  return { kind: 'contradicted', why }
}

async function ask(
  address: string,
  { checkpoint }: OutsideSeal,
  log: SealedLogView,
  { older, size }: { readonly older: number; readonly size: number },
): Promise<Response> {
  const proof = await log.consistency(older, size)
  if (proof === undefined) throw new Error('The trees of the log cannot prove what the witness asks for.')
  const body = [`old ${older}`, ...proof.map(toBase64), '', checkpoint].join('\n')
  return fetch(address, {
    method: 'POST',
    body,
    signal: AbortSignal.timeout(answersWithinMs),
    redirect: 'error',
  })
}
