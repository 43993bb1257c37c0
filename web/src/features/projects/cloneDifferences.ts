/** Describes how cloning a repository differs from a plain `git clone`, in the texts of the page that shows it. */
import type { ShownRepository } from '#domain/api/projectSettings.schema.ts'

interface FactTexts {
  /** The text about a number of submodules. A page that lists the submodules itself leaves it out. */
  readonly submodules?: (count: number) => string
  readonly lfs: string
  readonly filters: (names: string) => string
  readonly shallow: string
}

export function cloneDifferences(
  { submoduleCount, filters, isShallow }: ShownRepository,
  { submodules, ...texts }: FactTexts,
): readonly string[] {
  const others = filters.filter((filter) => filter !== 'lfs')
  return [
    ...(submodules !== undefined && submoduleCount > 0 ? [submodules(submoduleCount)] : []),
    ...(filters.includes('lfs') ? [texts.lfs] : []),
    ...(others.length > 0 ? [texts.filters(others.join(', '))] : []),
    ...(isShallow ? [texts.shallow] : []),
  ]
}
