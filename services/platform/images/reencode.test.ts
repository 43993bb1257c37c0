/** Whatever is sent as an image: only its pixels are kept, or it is refused with a sentence. */
import { crc32 } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'
import { describe, expect, test } from 'vitest'
import { imageLimits, imageTexts } from '#domain/api/images.ts'
import { mediaTypes, type MediaType } from '#domain/image.ts'
import { animation, picture } from '../../../tests/server/pictures.ts'
import { checkImage } from './reencode.ts'

const refusal = (sentence: string, code = 'invalid_input') => ({ code, message: sentence, field: 'image' })
const hidden = 'these words are not pixels'

describe.each(mediaTypes)('an image of type %s', (type) => {
  // Holds contract 5.7a.
  test('is kept in its format, with its size in pixels', async () => {
    const checked = await checkImage(await picture(type, 60, 40))
    expect(checked).toMatchObject({ mediaType: type, width: 60, height: 40 })
    const { format, width, height } = await sharp(checked.bytes).metadata()
    expect([`image/${format}`, width, height]).toEqual([type, 60, 40])
  })

  test('looks as it did', async () => {
    const sent = await picture(type, 60, 40)
    expect(await colourOf((await checkImage(sent)).bytes)).toEqual(await colourOf(sent))
  })

  test('that was checked before is taken again', async () => {
    const { bytes } = await checkImage(await picture(type, 60, 40))
    expect(await checkImage(bytes)).toMatchObject({ mediaType: type, width: 60, height: 40 })
  })

  test.each([
    ['a page', `<html><script>alert("${hidden}")</script>`],
    ['an archive', `PK\x03\x04${hidden}`],
    ['more of the same', hidden.repeat(10_000)],
  ])('loses what was hidden behind it: %s', async (_, tail) => {
    const { bytes } = await checkImage(Buffer.concat([await picture(type, 60, 40), Buffer.from(tail)]))
    expect(bytes.includes(hidden)).toBe(false)
  })

  test('that is cut off is refused, wherever it was cut', async () => {
    const whole = await picture(type, 60, 40)
    for (const length of [...fractions(whole.length), whole.length - 2, whole.length - 1]) {
      await expect(checkImage(whole.subarray(0, length))).rejects.toMatchObject({
        code: 'invalid_input',
        field: 'image',
      })
    }
  })

  test('whose bytes were changed is kept as pixels or refused, and nothing else', async () => {
    const whole = await picture(type, 60, 40)
    for (let at = 12; at < whole.length; at += Math.ceil(whole.length / 60)) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 0xff
      const checked = await checkImage(changed).catch((fault: unknown) => fault)
      expect(checked).toSatisfy(
        (outcome: object) => 'bytes' in outcome || ('field' in outcome && outcome.field === 'image'),
      )
    }
  })

  test('is at most 8,000 pixels a side', async () => {
    const [wide, high] = [await picture(type, 8_001, 8), await picture(type, 8, 8_001)]
    await expect(checkImage(wide)).rejects.toMatchObject(refusal(imageTexts.pixels))
    await expect(checkImage(high)).rejects.toMatchObject(refusal(imageTexts.pixels))
    expect(await checkImage(await picture(type, 8_000, 8))).toMatchObject({ width: 8_000 })
  })
})

describe('metadata', () => {
  const exif = { IFD0: { Copyright: hidden, Artist: hidden }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } }

  test.each(['image/jpeg', 'image/png', 'image/webp'] as const)('is not kept: %s', async (type) => {
    const sent = await written(sharp(await picture('image/png', 60, 40)), type)
      .withExif(exif)
      .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${hidden}</x:xmpmeta>`)
      .withIccProfile('p3')
      .toBuffer()
    expect(sent.includes(hidden)).toBe(true)
    const { bytes } = await checkImage(sent)
    expect(bytes.includes(hidden)).toBe(false)
    const { exif: kept, xmp, icc, orientation } = await sharp(bytes).metadata()
    expect([kept, xmp, icc, orientation]).toEqual([undefined, undefined, undefined, undefined])
  })

  test('is not kept: the comment of a GIF', async () => {
    const whole = await picture('image/gif', 60, 40)
    const comment = Buffer.concat([Buffer.of(0x21, 0xfe, hidden.length), Buffer.from(hidden), Buffer.of(0)])
    const sent = Buffer.concat([whole.subarray(0, -1), comment, Buffer.of(0x3b)])
    expect((await checkImage(sent)).bytes.includes(hidden)).toBe(false)
  })

  test('that says which side is up is followed', async () => {
    const sent = await sharp(await picture('image/png', 60, 40))
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    expect(await checkImage(sent)).toMatchObject({ width: 40, height: 60 })
  })
})

describe('an animation', () => {
  test.each(['image/gif', 'image/webp'] as const)('keeps its frames and their times: %s', async (type) => {
    const checked = await checkImage(await animation(type, 5, 60, 40))
    expect(checked).toMatchObject({ mediaType: type, width: 60, height: 40 })
    expect(await sharp(checked.bytes, { animated: true }).metadata()).toMatchObject({
      pages: 5,
      delay: Array.from({ length: 5 }, () => 120),
    })
  })

  test.each(['image/gif', 'image/webp'] as const)('has at most 200 frames: %s', async (type) => {
    expect(await checkImage(await animation(type, imageLimits.frames, 4, 4))).toMatchObject({ width: 4 })
    await expect(checkImage(await animation(type, imageLimits.frames + 1, 4, 4))).rejects.toMatchObject(
      refusal(imageTexts.frames),
    )
  })

  test('has at most 50 megapixels in all its frames', async () => {
    // The animation has four equal frames of 4,000 by 4,000 pixels, in a small file.
    const one = await white(4_000).gif().toBuffer()
    const head = 13 + 3 * 2 ** (((one[10] ?? 0) & 7) + 1)
    const frame = one.subarray(head, -1)
    const sent = Buffer.concat([one.subarray(0, head), ...Array(4).fill(frame), Buffer.of(0x3b)])
    expect(sent.length).toBeLessThan(1_000_000)
    await expect(checkImage(sent)).rejects.toMatchObject(refusal(imageTexts.pixels))
  })
})

describe('a file that says it is huge', () => {
  const huge = Buffer.alloc(13)
  huge.writeUInt32BE(2 ** 31 - 1, 0)
  huge.writeUInt32BE(2 ** 31 - 1, 4)
  huge.set([8, 6, 0, 0, 0], 8)
  test.each([
    [
      'a PNG',
      png([
        ['IHDR', huge],
        ['IDAT', Buffer.alloc(10)],
        ['IEND', Buffer.alloc(0)],
      ]),
    ],
    ['a GIF', gifOf(65_535, 65_535)],
    ['a WebP', webpOf(16_383, 16_383)],
    ['an animated WebP', webpOf(16_383, 16_383, true)],
  ])('is refused, and takes no memory: %s', async (_, sent) => {
    const before = process.memoryUsage().rss
    await expect(checkImage(sent)).rejects.toMatchObject({ code: 'invalid_input', field: 'image' })
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1_048_576)
  })

  test('as a JPEG of 65,500 by 65,500 pixels is refused', async () => {
    const sent = Buffer.from(await picture('image/jpeg', 60, 40))
    const frame = sent.indexOf(Buffer.of(0xff, 0xc0))
    sent.writeUInt16BE(65_500, frame + 5)
    sent.writeUInt16BE(65_500, frame + 7)
    await expect(checkImage(sent)).rejects.toMatchObject(refusal(imageTexts.pixels))
  })

  test('and is true to it, as 8,000 by 8,000 white pixels in some kilobytes, is refused', async () => {
    const sent = await white(8_000).png().toBuffer()
    expect(sent.length).toBeLessThan(500_000)
    await expect(checkImage(sent)).rejects.toMatchObject(refusal(imageTexts.pixels))
  })
})

describe('what is no image that is taken', () => {
  test.each([
    ['nothing', ''],
    ['a text', 'I am a picture.'],
    ['a page', '<!doctype html><script>alert(1)</script>'],
    [
      'an SVG',
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>',
    ],
    ['an archive', 'PK\x03\x04'],
    ['a PDF', '%PDF-1.7\n'],
    ['a TIFF', 'II*\0\x08\0\0\0'],
    ['a BMP', 'BM\0\0\0\0'],
    ['an AVIF', '\0\0\0\x20ftypavif'],
    ['a WAV', 'RIFF\x04\0\0\0WAVE'],
  ])('is refused: %s', async (_, text) => {
    await expect(checkImage(Buffer.from(text, 'latin1'))).rejects.toMatchObject(refusal(imageTexts.type))
  })

  test.each([
    ['GIF', 'GIF89a/*<script>*/=1;alert(1)//'],
    ['GIF of 13 bytes', 'GIF89a\x01\0\x01\0\0\0\0'],
    ['PNG', '\x89PNG\r\n\x1a\n<html>'],
    ['JPEG', '\xff\xd8\xff\xe0<html>'],
    ['WebP', 'RIFF\x04\0\0\0WEBPVP8 '],
    ['WebP of 12 bytes', 'RIFF\x04\0\0\0WEBP'],
  ])('is refused where it only begins like one: %s', async (_, text) => {
    await expect(checkImage(Buffer.from(text, 'latin1'))).rejects.toMatchObject(
      refusal(imageTexts.unreadable),
    )
  })

  test('is refused as a PNG whose pixels are another format', async () => {
    const inside = await picture('image/jpeg', 60, 40)
    const sent = png([
      ['IDAT', inside],
      ['IEND', Buffer.alloc(0)],
    ])
    await expect(checkImage(sent)).rejects.toMatchObject(refusal(imageTexts.unreadable))
  })
})

function white(side: number): Sharp {
  return sharp({ create: { width: side, height: side, channels: 3, background: 'white' } })
}

function fractions(length: number): readonly number[] {
  return [0.02, 0.1, 0.3, 0.5, 0.8, 0.95].map((part) => Math.floor(length * part))
}

/** The approximate colours of four places in the image, since two of the formats are lossy. */
async function colourOf(bytes: Buffer): Promise<readonly number[]> {
  const raw = await sharp(bytes).removeAlpha().resize(2, 2, { kernel: 'nearest' }).raw().toBuffer()
  return [...raw].map((level) => Math.round(level / 32))
}

function written(pixels: Sharp, type: MediaType): Sharp {
  if (type === 'image/jpeg') return pixels.jpeg()
  return type === 'image/png' ? pixels.png() : pixels.webp()
}

/** A PNG of these chunks, with right checksums. */
function png(chunks: readonly (readonly [type: string, data: Buffer])[]): Buffer {
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  return Buffer.concat([
    signature,
    ...chunks.map(([type, data]) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(data.length)
      const typed = Buffer.concat([Buffer.from(type), data])
      const sum = Buffer.alloc(4)
      sum.writeUInt32BE(crc32(typed))
      return Buffer.concat([length, typed, sum])
    }),
  ])
}

function gifOf(width: number, height: number): Buffer {
  const screen = Buffer.alloc(7)
  screen.writeUInt16LE(width, 0)
  screen.writeUInt16LE(height, 2)
  const image = Buffer.from([0x2c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0x4c, 1, 0, 0x3b])
  image.writeUInt16LE(width, 5)
  image.writeUInt16LE(height, 7)
  return Buffer.concat([Buffer.from('GIF89a'), screen, image])
}

/** A WebP that announces its size in a VP8X chunk, and has nothing else. */
function webpOf(width: number, height: number, isAnimated = false): Buffer {
  const chunk = Buffer.alloc(18)
  chunk.write('VP8X')
  chunk.writeUInt32LE(10, 4)
  chunk[8] = isAnimated ? 2 : 0
  chunk.writeUIntLE(width - 1, 12, 3)
  chunk.writeUIntLE(height - 1, 15, 3)
  const anim = Buffer.from('ANIM\x06\0\0\0\0\0\0\0\0\0', 'latin1')
  const body = Buffer.concat([Buffer.from('WEBP'), chunk, ...(isAnimated ? [anim] : [])])
  const head = Buffer.alloc(8)
  head.write('RIFF')
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}
