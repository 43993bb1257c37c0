/** What of a repository is not as in any clone, in the words of the page that says it. */
import type { ShownRepository } from '#domain/api/projectSettings.schema.ts'

interface Said {
  /** Left out where the page has a list of them. */
  readonly submodules?: (count: number) => string
  readonly lfs: string
  readonly filters: (names: string) => string
  readonly shallow: string
}

export function factsOf(
  { submoduleCount, filters, isShallow }: ShownRepository,
  { submodules, ...said }: Said,
): readonly string[] {
  const others = filters.filter((filter) => filter !== 'lfs')
  return [
    ...(submodules !== undefined && submoduleCount > 0 ? [submodules(submoduleCount)] : []),
    ...(filters.includes('lfs') ? [said.lfs] : []),
    ...(others.length > 0 ? [said.filters(others.join(', '))] : []),
    ...(isShallow ? [said.shallow] : []),
  ]
}
