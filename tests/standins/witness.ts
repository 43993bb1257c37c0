/** A stand-in for a witness of c2sp.org/tlog-witness: it stores the last checkpoint of each log, and cosigns one that continues from there. */
import { generateKeyPairSync, createPublicKey, sign } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { fromBase64, toBase64 } from '../../domain/kernel/base64.ts'
import {
  parseCheckpoint,
  parseNote,
  type Checkpoint,
  type VerifierKey,
} from '../../domain/proof/checkpoint.ts'
import { verifyConsistency } from '../../domain/proof/merkleTree.ts'
import { signedCheckpoint } from '../../domain/proof/sealNotes.ts'
import { cryptography, rawPublicKey } from '../../services/platform/seals/cryptography.ts'

export interface Witness {
  readonly url: string
  /** The witness's key, as text. */
  readonly vkey: string
  /** The status codes of all answers so far. */
  readonly answers: readonly number[]
  /** The last checkpoint of the log; `undefined` when the witness has seen none. */
  seen(origin: string): Checkpoint | undefined
  close(): Promise<void>
}

/** `trusted` gives the keys of the logs that the witness knows. */
export async function startWitness(trusted: () => Promise<readonly VerifierKey[]>): Promise<Witness> {
  const logs = new Map<string, Checkpoint>()
  const answers: number[] = []
  const { privateKey } = generateKeyPairSync('ed25519')
  const name = 'witness.example'
  const key = rawPublicKey(createPublicKey(privateKey))
  // A cosignature has a type of its own (4), and contains a time.
  const head = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(4), key])
  const keyId = cryptography.sha256(head).slice(0, 4)
  const cosign = (note: string, time: number): string => {
    const message = `cosignature/v1\ntime ${time}\n${note}`
    const stamp = Buffer.alloc(8)
    stamp.writeBigUInt64BE(BigInt(time))
    return toBase64(Buffer.concat([keyId, stamp, sign(null, Buffer.from(message), privateKey)]))
  }
  const vkey = `${name}+${Buffer.from(keyId).toString('hex')}+${toBase64(Buffer.concat([Buffer.of(4), key]))}`
  const answerTo = async (body: string): Promise<readonly [number, string]> => {
    const [lines = '', ...rest] = body.split('\n\n')
    const note = rest.join('\n\n')
    const [old = '', ...hashes] = lines.split('\n')
    const older = Number(/^old (\d+)$/.exec(old)?.[1] ?? Number.NaN)
    const proof = hashes.map(fromBase64)
    const claimed = parseCheckpoint(parseNote(note)?.text ?? '')
    if (!claimed || !Number.isSafeInteger(older) || proof.length > 63) return [400, '']
    if (signedCheckpoint(cryptography, note, await trusted()) === undefined) return [403, '']
    const known = logs.get(claimed.origin)
    if (older > claimed.size) return [400, '']
    if (older !== (known?.size ?? 0)) return [409, `${known?.size ?? 0}\n`]
    const before = known ?? { size: 0, root: cryptography.sha256(new Uint8Array(0)) }
    const whole = proof.flatMap((hash) => hash ?? [])
    if (!verifyConsistency(cryptography.sha256, before, claimed, whole)) return [422, '']
    logs.set(claimed.origin, claimed)
    const time = Math.floor(Date.now() / 1_000)
    return [200, `\u2014 ${name} ${cosign(parseNote(note)?.text ?? '', time)}\n`]
  }
  const http = createServer(async (request, response) => {
    const isAsked = request.method === 'POST' && request.url === '/add-checkpoint'
    const [status, body] = isAsked ? await answerTo(await text(request)) : ([404, ''] as const)
    answers.push(status)
    response.writeHead(status, { 'content-type': status === 409 ? 'text/x.tlog.size' : 'text/plain' })
    response.end(body)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const address = http.address()
  if (address === null || typeof address === 'string') throw new Error('The witness does not listen.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    vkey,
    answers,
    seen: (origin) => logs.get(origin),
    close: () => new Promise((resolve) => void http.close(() => resolve())),
  }
}
