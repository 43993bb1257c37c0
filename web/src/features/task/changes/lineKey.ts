/** What a line of a file's diff is known by, in whichever view: its numbers on both sides. Pure. */
import type { DiffLine } from './parseDiff.ts'

export function lineKey({ before, after }: Pick<DiffLine, 'before' | 'after'>): string {
  return `${before ?? ''}:${after ?? ''}`
}
