/** A repository by its names, which may change. */
export interface RepositoryName {
  readonly owner: string
  readonly name: string
}
