/** The keys that sign seals, stored in the vault. The newest one signs, and the others stay known. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { z } from 'zod'
import type { LogIdentity } from '#domain/log.ts'
import { originOf } from '#domain/proof/bundleHashes.ts'
import { verifierKey, writeVerifierKey, type VerifierKey } from '#domain/proof/checkpoint.ts'
import { keyFingerprint, withLinkedKeys, writeKeyLink } from '#domain/proof/logKeys.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { cryptography, rawPublicKey } from './cryptography.ts'

const scope = 'seals'
const secretName = 'signing keys'
const Stored = z
  .array(
    z.strictObject({
      privateKey: z.base64(),
      since: z.iso.datetime(),
      /** The note in which the previous key names this one; missing for the first key. */
      link: z.string().optional(),
    }),
  )
  .min(1)
type Stored = z.infer<typeof Stored>

export interface PublishedKey {
  readonly fingerprint: string
  readonly verifierKey: string
}

/** The keys of a log, newest first. A log signs under a name that is unique to the log and its epoch: `originOf`. */
export interface SigningKeys {
  readonly verifiers: readonly VerifierKey[]
  /** The keys in text form, for people and bundles. */
  readonly vkeys: readonly string[]
  /** The keys in text form, each with the fingerprint by which people compare keys. */
  readonly published: readonly PublishedKey[]
  /** Notes in which a key names its successor, newest first. */
  readonly links: readonly string[]
  /** The first key, and all keys that are its direct or indirect successors by the notes in `links`. Signatures by any other key may be forged. */
  readonly vouched: readonly VerifierKey[]
  /** Signs with the newest key. */
  readonly sign: (message: Uint8Array) => Uint8Array
}

type KeyVault = Pick<Vault, 'getSecret' | 'putSecret'>

/** The keys with which the log is signed; `undefined` before the first key was created. */
export async function signingKeys(
  vault: Pick<Vault, 'getSecret'>,
  identity: LogIdentity,
): Promise<SigningKeys | undefined> {
  const stored = await storedKeys(vault)
  return stored && keysOf(stored, identity)
}

/** The log's signing keys; creates the first key if there is none. Only one process at a time may call this. */
export async function openSigningKeys(
  vault: KeyVault,
  identity: LogIdentity,
  clock: Clock,
): Promise<SigningKeys> {
  return (await signingKeys(vault, identity)) ?? replaceSigningKey(vault, identity, clock)
}

/**
 * Creates a key that signs from now on, and a note in which the previous key names it. Earlier keys stay known, so that their signatures can still be
 * verified.
 */
export async function replaceSigningKey(
  vault: KeyVault,
  identity: LogIdentity,
  clock: Clock,
): Promise<SigningKeys> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const before = (await storedKeys(vault)) ?? []
  const newest = before.length === 0 ? undefined : keysOf(before, identity)
  const made = {
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    since: clock.now().toISOString(),
    ...(newest ? { link: linkTo(rawPublicKey(publicKey), newest, identity) } : {}),
  }
  const stored = [made, ...before]
  await vault.putSecret(scope, secretName, JSON.stringify(stored))
  return keysOf(stored, identity)
}

async function storedKeys(vault: Pick<Vault, 'getSecret'>): Promise<Stored | undefined> {
  const secret = await vault.getSecret(scope, secretName)
  return secret === undefined ? undefined : Stored.parse(JSON.parse(secret))
}

function linkTo(next: Uint8Array, { verifiers: [old], sign }: SigningKeys, identity: LogIdentity): string {
  if (old === undefined) throw new Error('There is no key to sign with.')
  return writeKeyLink(cryptography, identity, { publicKey: old.publicKey, sign }, next)
}

function keysOf(stored: Stored, identity: LogIdentity): SigningKeys {
  const keys = stored.map(({ privateKey }) =>
    createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' }),
  )
  const verifiers = keys.map((key) =>
    verifierKey(cryptography.sha256, originOf(identity), rawPublicKey(createPublicKey(key))),
  )
  const links = stored.flatMap(({ link }) => link ?? [])
  const first = verifiers.slice(-1).map(({ publicKey }) => publicKey)
  const vouched = new Set(withLinkedKeys(cryptography, identity.logId, first, links).map((key) => key.join()))
  return {
    verifiers,
    vkeys: verifiers.map(writeVerifierKey),
    published: verifiers.map((key) => ({
      fingerprint: keyFingerprint(cryptography.sha256, key.publicKey),
      verifierKey: writeVerifierKey(key),
    })),
    links,
    vouched: verifiers.filter(({ publicKey }) => vouched.has(publicKey.join())),
    sign(message) {
      const [newest] = keys
      if (newest === undefined) throw new Error('There is no key to sign with.')
      return new Uint8Array(sign(null, message, newest))
    },
  }
}
