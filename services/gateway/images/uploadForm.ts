/** Reads the multipart form of an image upload: exactly one complete file, within the limits. */
import type { IncomingMessage } from 'node:http'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import { imageLimits, imageTexts } from '#domain/api/images.ts'
import { Fault } from '#domain/kernel/errors.ts'

export interface ImageFile {
  /** The file name in the form, which can be any text. */
  readonly name: string
  readonly bytes: Buffer
}

const field = 'image'
/** The maximum number of bytes in the form in addition to the file, for boundaries and headers. */
const besideBytes = 256 * 1_024
const limits = {
  fileSize: imageLimits.bytes,
  // Files in other fields than `image` are ignored, but a form with more files than this is refused.
  files: 4,
  fields: 20,
  fieldNameSize: 100,
  fieldSize: 16 * 1_024,
  parts: 20,
  headerPairs: 20,
  headerSize: 8 * 1_024,
}

const oneImage = 'Upload one image at a time, in the form field image.'
const noForm = 'Upload the image as multipart/form-data, in the form field image.'
const broken = 'The form is incomplete or malformed.'

/**
 * Reads the file in the field `image`. Throws `unsupported_type` when there is no form, `too_large` above 10 MiB, `too_slow` when the form takes too
 * long, and `invalid_input` for missing, surplus or broken parts. After an error, the rest of the request is not read. `watch` gets a function that
 * refuses the form, and returns a function that ends the watching.
 */
export async function readImageForm(
  request: IncomingMessage,
  withinMs: number,
  watch: (refuse: (fault: Fault) => void) => () => void,
): Promise<ImageFile> {
  const form = openForm(request.headers)
  let stop = () => {}
  try {
    return await new Promise<ImageFile>((resolve, reject) => {
      let file: ImageFile | undefined
      let bytes = 0
      const count = (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > imageLimits.bytes + besideBytes) reject(tooLarge())
      }
      // The request also emits `close` after it was read to its end, which is no fault.
      const gone = () => request.complete || reject(new Fault('invalid_input', broken))
      const unwatch = watch(reject)
      const timer = setTimeout(() => reject(new Fault('too_slow')), withinMs)
      stop = () => {
        unwatch()
        clearTimeout(timer)
        request.off('data', count)
        request.off('close', gone)
      }
      form.on('file', (name, stream, fileName) => {
        // When a file stream fails, the form fails too and reports the error.
        stream.on('error', () => undefined)
        if (name !== field) return void stream.resume()
        if (file !== undefined) return reject(new Fault('invalid_input', oneImage, field))
        file = { name: fileName, bytes: Buffer.alloc(0) }
        collect(stream, (bytes) => (file = { name: fileName, bytes }), reject)
      })
      for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
        form.on(limit, () => reject(new Fault('invalid_input', oneImage, field)))
      form.on('error', () => reject(new Fault('invalid_input', broken)))
      form.on('finish', () =>
        file === undefined ? reject(new Fault('invalid_input', oneImage, field)) : resolve(file),
      )
      request.on('data', count)
      request.on('close', gone)
      request.pipe(form)
    })
  } finally {
    stop()
    request.unpipe(form)
    form.on('error', () => undefined)
    form.destroy()
  }
}

function openForm(headers: IncomingMessage['headers']): BusboyInstance {
  const type = headers['content-type'] ?? ''
  if (!/^multipart\/form-data\s*;/i.test(type)) throw new Fault('unsupported_type', noForm)
  if (Number(headers['content-length'] ?? 0) > imageLimits.bytes + besideBytes) throw tooLarge()
  try {
    return new Busboy({ headers: { ...headers, 'content-type': type }, limits })
  } catch {
    // The parser refuses the headers, for example because the boundary is missing.
    throw new Fault('unsupported_type', noForm)
  }
}

function collect(
  stream: BusboyFileStream,
  done: (bytes: Buffer) => void,
  refuse: (fault: Fault) => void,
): void {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.once('limit', () => refuse(tooLarge()))
  stream.once('end', () => done(Buffer.concat(chunks)))
}

function tooLarge(): Fault {
  return new Fault('too_large', imageTexts.size, field)
}
