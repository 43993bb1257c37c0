/** The test vectors of audit bundles in `tests/data/proof`, as they are derived from the stored log. */
import { writeKeyLink, keyFingerprint } from '../../domain/proof/logKeys.ts'
import { BundleRecord } from '../../domain/proof/auditBundle.schema.ts'
import { originOf, signedBytes } from '../../domain/proof/bundleHashes.ts'
import { fromBase64 } from '../../domain/kernel/base64.ts'
import { cryptography } from '../../services/platform/seals/cryptography.ts'
import { bundleOf, keptEnvelopes, plaintextOf, signingKey } from './auditBundles.ts'
import { present } from './present.ts'

export const sealedAt = [7, 20, 33] as const

const recordIn = (line: string | undefined) => BundleRecord.parse(JSON.parse(line ?? ''))

/** The header of a bundle. */
export function headerOf(lines: readonly string[]) {
  const header = recordIn(lines[0])
  if (header.kind !== 'header') throw new Error('There is no header.')
  return header
}

/** A line of the file of seals, for the seal under which a bundle was made. */
export function sealLine(bundle: readonly string[], revision: number): string {
  const { checkpoint, heads } = headerOf(bundle)
  const at = new Date(Date.UTC(2026, 10, 24, 0, 0, 10 * revision)).toISOString()
  return JSON.stringify({ revision, at, checkpoint, heads })
}

/** The contents of the files, by file name. */
export async function bundleVectors(): Promise<Readonly<Record<string, string>>> {
  const whole = await bundleOf({ sealedAt })
  const { logId, epoch } = headerOf(whole)
  const [key, old] = [signingKey(originOf({ logId, epoch }), 7), signingKey(originOf({ logId, epoch }), 6)]
  const oldKey = { publicKey: old.verifier.publicKey, sign: old.sign }
  const link = writeKeyLink(cryptography, { logId, epoch }, oldKey, key.verifier.publicKey)
  const erased = keptEnvelopes
    .filter(({ type, meta }) => type.startsWith('TerminalOutput') && meta.content !== null)
    .slice(0, 2)
  const partly = await bundleOf({
    sealedAt,
    links: [link],
    olderKeys: [old.vkey],
    withheld: ['tools'],
    contentOf: (event) => (erased.includes(event) ? { kind: 'erased' } : undefined),
  })
  const sizes = [...sealedAt, keptEnvelopes.length]
  const seals = await Promise.all(
    sizes.map(async (size, revision) => sealLine(await bundleOf({ size }), revision)),
  )
  const records = partly.map((line) => recordIn(line))
  const eventWith = (kind: string) => {
    const record = records.find((each) => each.kind === 'event' && each.content.kind === kind)
    return present(record?.kind === 'event' ? record : undefined)
  }
  const withheld = eventWith('withheld')
  const manifest = present(records.find((each) => each.kind === 'manifest'))
  const seal = present(records.find((each) => each.kind === 'seal'))
  const payload = present(manifest.kind === 'manifest' ? fromBase64(manifest.payload) : undefined)
  const vectors = {
    fingerprint: {
      verifierKey: key.vkey,
      publicKey: Buffer.from(key.verifier.publicKey).toString('hex'),
      fingerprint: keyFingerprint(cryptography.sha256, key.verifier.publicKey),
    },
    dsse: {
      line: manifest,
      statement: Buffer.from(payload).toString('utf8'),
      signedBytes: Buffer.from(signedBytes(cryptography, 'application/vnd.in-toto+json', payload)).toString(
        'base64',
      ),
    },
    seal: { line: seals.at(-1), fileName: 'seals.ndjson' },
    link: { from: old.vkey, to: key.vkey, note: link },
    withheld: { line: withheld, plaintext: plaintextOf(withheld.event.id) },
    erased: { line: eventWith('erased') },
    consistency: { line: seal, checkpoint: headerOf(partly).checkpoint },
  }
  const lines = (each: readonly string[]) => `${each.join('\n')}\n`
  return {
    'bundle.ndjson': lines(whole),
    'partly.ndjson': lines(partly),
    'seals.ndjson': lines(seals),
    'keys.txt': lines([vectors.fingerprint.fingerprint, key.vkey]),
    'bundleVectors.json': `${JSON.stringify(vectors, null, 1)}\n`,
  }
}
