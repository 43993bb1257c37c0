/** Stamps: a stamp records the inputs with which a step last succeeded, so that the step is only repeated when they have changed. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Tests are left out, because they do not change what is built. */
const test = /\.test\.tsx?$/

/**
 * The files in some files and folders without tests, in an order that does not depend on the disk. A missing folder has no files.
 * @param {string} root
 * @param {readonly string[]} paths relative to the root
 * @returns {string[]} relative to the root
 */
function filesUnder(root, paths) {
  return paths.flatMap((path) => {
    const kind = statSync(join(root, path), { throwIfNoEntry: false })
    if (!kind) return []
    return kind.isFile() ? [path] : filesBelow(root, path)
  })
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {string[]}
 */
function filesBelow(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !test.test(name))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) return filesBelow(root, path)
      return entry.isFile() ? [path] : []
    })
}

/** A file that was changed a moment ago may change again at the same time on the file system's clock. */
const settledMs = 2_000

/**
 * A hash of what the file system says about files: names, sizes and times of change. While it stays, so do their contents, and it takes a fifth of the
 * time of a fingerprint. `undefined` when a file was changed just now.
 * @param {string} root
 * @param {readonly string[]} paths files and folders, relative to the root
 * @param {number} settled a file that was changed after this time was changed just now
 */
export function glance(root, paths, settled = Date.now() - settledMs) {
  const hash = createHash('sha256')
  for (const file of filesUnder(root, paths)) {
    // Nobody can set `ctime`, unlike `mtime`: it is new even when an older copy of a file is put back.
    const { size, ino, ctimeMs } = statSync(join(root, file))
    if (ctimeMs > settled) return undefined
    hash.update(`${file}\n${size} ${ino} ${ctimeMs}\n`)
  }
  return hash.digest('hex')
}

/**
 * A hash of the names and contents of files, without tests.
 * @param {string} root
 * @param {readonly string[]} paths files and folders, relative to the root
 */
export function fingerprint(root, paths) {
  const hash = createHash('sha256')
  for (const file of filesUnder(root, paths)) {
    const content = readFileSync(join(root, file))
    // The length separates the end of one file from the name of the next.
    hash.update(`${file}\n${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

/**
 * Whether the step of this stamp last succeeded with this fingerprint.
 * @param {string} stamp path of the stamp
 * @param {string} fingerprint
 */
export function isStamped(stamp, fingerprint) {
  try {
    return readFileSync(stamp, 'utf8') === fingerprint
  } catch {
    return false
  }
}

/**
 * Writes the stamp of a step that has nothing to do, if that is possible.
 * @param {string} stamp path of the stamp
 * @param {string} fingerprint
 */
export function remember(stamp, fingerprint) {
  try {
    writeFileSync(stamp, fingerprint)
  } catch {
    // The folder may belong to somebody else, or its disk may be full. The next start then only compares contents again.
  }
}

/**
 * Removes the stamp, runs the step, and writes the stamp when the step has succeeded, so that half a step never counts as done.
 * @template T
 * @param {string} stamp path of the stamp
 * @param {string} fingerprint of what the step starts from
 * @param {() => Promise<T>} step
 * @returns {Promise<T>}
 */
export async function stamped(stamp, fingerprint, step) {
  rmSync(stamp, { force: true })
  const result = await step()
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, fingerprint)
  return result
}
