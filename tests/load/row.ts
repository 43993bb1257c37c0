/** What a bench is made of: rows, and the lines of figures that they measure, each beside its floor. */

/** A figure, and beside it what the least that could do the job needs, measured in the same run. */
export interface Line {
  readonly name: string
  readonly unit: 'ms' | 'a second' | 'MB' | 'requests'
  readonly figure: number
  readonly floor: { readonly name: string; readonly figure: number }
}

export interface Row {
  /** What `npm run bench -- <name>` calls it. */
  readonly name: string
  /** Takes too long to be among all. */
  readonly onlyByName?: true
  /** When it counts as hanging, in milliseconds, where 20 minutes are too short. */
  readonly withinMs?: number
  /** What must be known to read its figures; printed with them. */
  readonly remark?: string
  measure(scene: Scene): Promise<readonly Line[]>
}

/** Where a row is measured. */
export interface Scene {
  /** A folder of the row's own, on the project's disk; it is gone when the row has ended. */
  readonly folder: string
  /** A data folder with a person, a project, 1,000 tasks and a long terminal, made once for all rows. Rows use it in turn. */
  seeded(): Promise<Seeded>
  /** What is to be undone when the row has ended, however it ends; the last comes first. */
  atEnd(undo: () => Promise<unknown>): void
}

export interface Seeded {
  readonly dataDir: string
  /** The person's bearer token. */
  readonly token: string
  readonly taskIds: readonly string[]
  /** The task whose terminal is long. */
  readonly longTaskId: string
}
