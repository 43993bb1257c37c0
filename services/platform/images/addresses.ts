/**
 * Addresses of images and artifacts. Each gives access to one of them for a quarter of an hour at most, and contains, encrypted, everything that is
 * needed to open it. So no read model is queried, and no file name appears in logs of addresses.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { z } from 'zod'
import { BlobRef } from '#domain/kernel/ids.schema.ts'
import { ArtifactType } from '#domain/task/artifactEvents.ts'
import type { AddressOf, SealedImage } from '#domain/views/images.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { Vault } from '#platform/ports/vault.ts'

export interface ImageAddresses {
  /**
   * Makes an address without a host, valid for 10 to 15 minutes. For the same image, the address stays the same within each period of five minutes.
   */
  readonly addressOf: AddressOf
  /** The image that an address opens, and for how many more seconds; `undefined` for an expired or foreign address. */
  openedBy(imageId: string, grant: string): { image: SealedImage; secondsLeft: number } | undefined
}

export const grantName = 'grant'

const shortestMs = 10 * 60_000
const stepMs = 5 * 60_000
const ivBytes = 12
const tagBytes = 16

const Grant = z.object({
  scope: z.string(),
  blob: BlobRef,
  mediaType: ArtifactType,
  name: z.string(),
  /** The end of the address's validity, in milliseconds since 1970. */
  until: z.number(),
})

export function imageAddresses(engines: { vault: Pick<Vault, 'deriveKey'>; clock: Clock }): ImageAddresses {
  const key = engines.vault.deriveKey('image-address')
  const ivKey = engines.vault.deriveKey('image-address-iv')
  const now = () => engines.clock.now().getTime()

  /**
   * Encrypts with AES-256-GCM. The IV is a keyed hash of the image's id and the plaintext. So equal plaintexts give the same address, and different
   * ones have different IVs.
   */
  function seal(imageId: string, plain: string): string {
    const hash = createHmac('sha256', ivKey).update(`${imageId}\n`).update(plain).digest()
    const iv = hash.subarray(0, ivBytes)
    const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
    cipher.setAAD(Buffer.from(imageId))
    const sealed = [cipher.update(plain, 'utf8'), cipher.final()]
    return Buffer.concat([iv, cipher.getAuthTag(), ...sealed]).toString('base64url')
  }

  function open(imageId: string, grant: string): unknown {
    const bytes = Buffer.from(grant, 'base64url')
    const iv = bytes.subarray(0, ivBytes)
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(imageId)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
    const plain = [decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]
    return JSON.parse(Buffer.concat(plain).toString('utf8'))
  }

  return {
    addressOf({ imageId, scope, blob, mediaType, name }) {
      const until = Math.ceil(now() / stepMs) * stepMs + shortestMs
      const grant = seal(imageId, JSON.stringify({ scope, blob, mediaType, name, until }))
      return `/api/images/${imageId}?${grantName}=${grant}`
    },
    openedBy(imageId, grant) {
      let granted: z.infer<typeof Grant>
      try {
        granted = Grant.parse(open(imageId, grant))
      } catch {
        return undefined
      }
      const { until, ...sealed } = granted
      const secondsLeft = Math.floor((until - now()) / 1_000)
      return secondsLeft < 1 ? undefined : { image: { imageId, ...sealed }, secondsLeft }
    },
  }
}
