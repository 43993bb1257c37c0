/** Limits of the HTTP API that several calls share. */

export const limits = {
  descriptionLength: 50_000,
  messageLength: 50_000,
  nameLength: 200,
  /** The most messages of a task that may wait in its queue. */
  queueLength: 100,
  repositoriesPage: 100,
  pageSize: 5_000,
  /** The length of its texts, in characters, at which a page of terminal output ends. */
  terminalLength: 16_000_000,
} as const
