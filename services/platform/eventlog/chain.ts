/**
 * The hash chain of a stream, and the digests with which a recorded content can be verified without its key. This is version 1 of the format in
 * `docs/log-format.md`.
 */
import { canonicalJson } from '#domain/kernel/canonicalJson.ts'
import type { EventMeta, StoredEvent } from '#domain/kernel/event.ts'
import type { EventToAppend } from '#platform/ports/eventStore.ts'
import { sha256 } from '#platform/hashes.ts'
import { takeRandom } from '#platform/randomPool.ts'

/** The version of `hashOf` and of `SaltedContent`. It must be increased when `hashOf` covers other data or has another form. */
export const scheme = 1 as const

/** The event's hash in its stream's chain, SHA-256 in hex. The position is not included, because a log may be moved to another engine. */
export function hashOf(
  event: Omit<EventToAppend, 'meta'> & { readonly meta: Omit<EventMeta, 'hash'> },
): string {
  const { id, stream, revision, type, version, at, data, meta } = event
  // All of `meta` is hashed, so that nothing can be added to it. It contains the ciphertext only as a digest, so that the ciphertext can be left out.
  return sha256(canonicalJson({ scheme, id, stream, revision, type, version, at, data, meta }))
}

/** The plaintext that is encrypted for an event's content. The salt prevents guessing a short content from its commitment. */
export interface SaltedContent {
  readonly scheme: typeof scheme
  readonly content: unknown
  /** 16 random bytes in base64url. */
  readonly salt: string
}

/** Checked by hand, since every content that is read is checked, and a schema takes several times as long. */
export function isSalted(value: unknown): value is SaltedContent {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length === 3 &&
    'scheme' in value &&
    value.scheme === scheme &&
    'content' in value &&
    'salt' in value &&
    typeof value.salt === 'string' &&
    /^[\w-]{22}$/.test(value.salt)
  )
}

export function salted(content: unknown): SaltedContent {
  return { scheme, content, salt: takeRandom(16).toString('base64url') }
}

/** The bytes that are encrypted. Their hash is the commitment. */
export function bytesOf(salted: SaltedContent): Buffer {
  return Buffer.from(canonicalJson(salted))
}

/** The public digests of an encrypted content. They prove to somebody who is shown the plaintext that it was recorded. */
export function proofOf(plain: Uint8Array, sealed: Uint8Array): NonNullable<EventMeta['content']> {
  return { sealed: sha256(sealed), commitment: sha256(plain) }
}

/** The digests that can be computed from a stored event alone. */
export interface Digests {
  readonly hash: string
  /** The hash of the encrypted content; `null` without content. */
  readonly sealed: string | null
}

export function digestsOf(event: StoredEvent): Digests {
  const { position: _position, ...linked } = event
  const { hash: _hash, ...meta } = event.meta
  const sealed = event.content === null ? null : sha256(Buffer.from(event.content, 'base64'))
  return { hash: hashOf({ ...linked, meta }), sealed }
}

/** The rule of the format that a stored event breaks. */
export type ChainFault = 'revision' | 'prev' | 'hash' | 'sealed_content'

/** The first rule that the event breaks as the successor of `before` (`null` at the start of a stream); `undefined` when it breaks none. */
export function chainFaultOf(
  event: StoredEvent,
  before: { readonly revision: number; readonly meta: Pick<EventMeta, 'hash'> } | null,
  digests: Digests = digestsOf(event),
): ChainFault | undefined {
  const { revision, meta } = event
  if (revision !== (before?.revision ?? -1) + 1) return 'revision'
  if (meta.prev !== (before?.meta.hash ?? '')) return 'prev'
  if (digests.hash !== meta.hash) return 'hash'
  return digests.sealed === (meta.content?.sealed ?? null) ? undefined : 'sealed_content'
}
