/** The parts of a bench: rows, and the lines of figures that they measure, each with its floor. */

/** A figure, and for comparison the figure of the least that could do the job, measured in the same run. */
export interface Line {
  readonly name: string
  readonly unit: 'ms' | 'a second' | 'MB' | 'requests' | 'handles' | 'files'
  readonly figure: number
  readonly floor: { readonly name: string; readonly figure: number }
}

export interface Row {
  /** The name for `npm run bench -- <name>`. */
  readonly name: string
  /** Whether the row takes too long to run without being named. */
  readonly onlyByName?: true
  /** When the row counts as hanging, in milliseconds, if 20 minutes are too short. */
  readonly withinMs?: number
  /** An explanation that is needed to read the figures; printed with them. */
  readonly remark?: string
  measure(scene: Scene): Promise<readonly Line[]>
}

/** What a row needs for measuring. */
export interface Scene {
  /** A folder of the row's own, on the project's disk; it is removed when the row has ended. */
  readonly folder: string
  /** A data folder with a person, a project, 1,000 tasks and a long terminal, made once for all rows. Rows use it one after the other. */
  seeded(): Promise<Seeded>
  /** Registers what must be undone when the row has ended, however it ends; the last registration is undone first. */
  atEnd(undo: () => Promise<unknown>): void
}

export interface Seeded {
  readonly dataDir: string
  /** The person's bearer token. */
  readonly token: string
  readonly taskIds: readonly string[]
  /** The task with the long terminal. */
  readonly longTaskId: string
}
