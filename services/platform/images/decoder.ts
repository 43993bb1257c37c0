/** The image library, loaded on first use and restricted to the four accepted formats. */
import type sharp from 'sharp'

const loaders = ['Jpeg', 'Png', 'Nsgif', 'Webp'].map((format) => `VipsForeignLoad${format}Buffer`)

/** Loads the decoder, with one thread per image, no cache, and only the formats JPEG, PNG, GIF and WebP, for the whole process. */
export async function openDecoder(): Promise<typeof sharp> {
  const { default: open } = await import('sharp')
  open.cache(false)
  open.concurrency(1)
  open.block({ operation: ['VipsForeignLoad'] })
  open.unblock({ operation: loaders })
  return open
}
