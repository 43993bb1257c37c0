/** A repository by owner and name, which may change. */
export interface RepositoryName {
  readonly owner: string
  readonly name: string
}
