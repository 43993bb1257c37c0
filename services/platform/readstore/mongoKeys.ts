/**
 * Keys of documents as MongoDB takes them. A key that starts with `$`, or holds a dot, is refused or misread by some servers, and one
 * with a NUL by all; the driver misreads `__proto__`. Such characters are written as `%` and their code, and so is `%` itself.
 */
import type { Document } from '../ports/readStore.ts'

/** The document with keys that can be stored: the very same when all of its keys can be. */
export function escaped(document: Document): { readonly document: Document; readonly hasEscapedKeys?: true } {
  return canBeStored(document)
    ? { document }
    : { document: renamed(document, (key) => key.replace(special, codeOf)), hasEscapedKeys: true }
}

/** The document as it was before `escaped`. */
export function unescaped(document: Document): Document {
  return renamed(document, decodeURIComponent)
}

const special = /[$.%\0]|^__proto__$/g

function codeOf(found: string): string {
  return `%${found.charCodeAt(0).toString(16).padStart(2, '0')}${found.slice(1)}`
}

function canBeStored(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(canBeStored)
  return Object.entries(value).every(([key, each]) => key.search(special) === -1 && canBeStored(each))
}

/** The key `id` is never another one. */
function renamed(document: Document, rename: (key: string) => string): Document {
  return { ...entriesOf(document, rename), id: document.id }
}

function entriesOf(value: object, rename: (key: string) => string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [rename(key), renamedIn(each, rename)]),
  )
}

function renamedIn(value: unknown, rename: (key: string) => string): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? value.map((each) => renamedIn(each, rename)) : entriesOf(value, rename)
}
