/** Tar archives of plain files, as POSIX has them (ustar); nothing else is written or read. Pure. */

export interface TarFile {
  readonly path: string
  readonly content: Buffer
}

const block = 512

/** What ends an archive. */
export const tarEnd = Buffer.alloc(2 * block)

/** One file; `null` where its path does not fit: 255 bytes, of which the last name has at most 100. Owner and time are left out. */
export function tarEntry(path: string, content: Uint8Array): Buffer | null {
  const fitting = splitPath(path)
  if (!fitting) return null
  const header = Buffer.alloc(block)
  header.write(fitting.name, 0, 'utf8')
  header.write('0000600\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124)
  header.write('00000000000\0', 136)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  header.write(fitting.prefix, 345, 'utf8')
  header.write(`${checksum(header).toString(8).padStart(6, '0')}\0 `, 148)
  const filling = Buffer.alloc((block - (content.length % block)) % block)
  return Buffer.concat([header, content, filling])
}

/** The files of an archive, `null` when it is not one of plain files alone, whole to its end. */
export function readTar(tar: Buffer): readonly TarFile[] | null {
  const files: TarFile[] = []
  for (let at = 0; at + block <= tar.length;) {
    const header = tar.subarray(at, at + block)
    if (header.every((byte) => byte === 0)) return files
    const isOurs = header.toString('latin1', 257, 265) === 'ustar\x0000' && header[156] === plainFile
    const size = octal(header.subarray(124, 136))
    const isWhole = size !== null && at + block + size <= tar.length
    if (!isOurs || !isWhole || octal(header.subarray(148, 156)) !== checksum(header)) return null
    const prefix = text(header.subarray(345, 500))
    const name = text(header.subarray(0, 100))
    const content = tar.subarray(at + block, at + block + size)
    files.push({ path: prefix === '' ? name : `${prefix}/${name}`, content })
    at += block + Math.ceil(size / block) * block
  }
  return null
}

function splitPath(path: string): { readonly prefix: string; readonly name: string } | null {
  if (path === '' || path.includes('\0')) return null
  if (Buffer.byteLength(path) <= 100) return { prefix: '', name: path }
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)]
    if (Buffer.byteLength(name) > 100) return null
    if (name !== '' && Buffer.byteLength(prefix) <= 155) return { prefix, name }
  }
  return null
}

/** The sum of a header's bytes, with spaces where the sum itself stands. */
function checksum(header: Buffer): number {
  return header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0)
}

function octal(field: Buffer): number | null {
  const digits = /^([0-7]+)[\0 ]*$/.exec(field.toString('latin1'))?.[1]
  return digits === undefined ? null : Number.parseInt(digits, 8)
}

function text(field: Buffer): string {
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end === -1 ? field.length : end)
}

const plainFile = 0x30
