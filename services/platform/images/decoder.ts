/** The image library, loaded on first use and restricted to the four accepted formats. */
import type sharp from 'sharp'

const loaders = ['Jpeg', 'Png', 'Nsgif', 'Webp'].map((format) => `VipsForeignLoad${format}Buffer`)

/**
 * Loads the library with one thread per image, no cache, and only the decoders for JPEG, PNG, GIF and WebP. These settings apply to the whole
 * process.
 */
export async function openDecoder(): Promise<typeof sharp> {
  const { default: open } = await import('sharp')
  open.cache(false)
  open.concurrency(1)
  open.block({ operation: ['VipsForeignLoad'] })
  open.unblock({ operation: loaders })
  return open
}
