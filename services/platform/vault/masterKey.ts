/** Loads the master key: from the configuration, or from a file that is created at the first start. */
import { randomBytes, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode, ifAbsent, syncFolder, writeNewFile } from '../files.ts'
import { UnusableMasterKey } from '../ports/faults.ts'
import { keyBytes } from './sealing.ts'

/**
 * The 32-byte master key: `configured` (base64 or hex) if given, else the content of `file`, which is created with mode 0600 if it is missing. Throws
 * `UnusableMasterKey`, which says what to do.
 */
export async function loadMasterKey(source: {
  configured: string | undefined
  file: string
}): Promise<Uint8Array> {
  const { configured, file } = source
  if (configured !== undefined) {
    const key = parse(configured)
    if (key !== undefined) return key
    throw new UnusableMasterKey(
      'MASTER_KEY must be 32 bytes in base64 or hex. `openssl rand -base64 32` makes one.',
    )
  }
  try {
    return (await read(file)) ?? (await make(file))
  } catch (fault) {
    if (fault instanceof UnusableMasterKey) throw fault
    throw new UnusableMasterKey(
      `The master key in ${file} can't be read or created. Make the folder writable, or set MASTER_KEY.`,
      { cause: fault },
    )
  }
}

function parse(text: string): Uint8Array | undefined {
  const trimmed = text.trim()
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex')
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return Buffer.from(trimmed, 'base64')
  return undefined
}

async function read(file: string): Promise<Uint8Array | undefined> {
  const handle = await open(file, constants.O_RDONLY).catch(ifAbsent)
  if (handle === undefined) return undefined
  try {
    // Checks the opened file rather than the name, so that the file cannot be replaced between check and read.
    const { mode } = await handle.stat()
    if ((mode & 0o077) !== 0) {
      throw new UnusableMasterKey(`The master key in ${file} can be read by others. Run: chmod 600 ${file}`)
    }
    const key = parse(await handle.readFile('utf8'))
    if (key !== undefined) return key
    throw new UnusableMasterKey(
      `${file} holds no master key: it must be 32 bytes in base64 or hex. Put back its copy.`,
    )
  } finally {
    await handle.close()
  }
}

async function make(file: string): Promise<Uint8Array> {
  const draft = `${file}.${randomUUID()}`
  const key = randomBytes(keyBytes)
  try {
    await writeNewFile(draft, `${key.toString('base64')}\n`)
    // Creating a link is atomic, and never replaces a key that another process created in the meantime.
    await link(draft, file)
  } catch (fault) {
    const other = hasCode(fault, 'EEXIST') ? await read(file) : undefined
    if (other === undefined) throw fault
    return other
  } finally {
    await rm(draft, { force: true })
  }
  await syncFolder(dirname(file))
  return key
}
