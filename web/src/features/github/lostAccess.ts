/** The code of the fault that the server acts for a person no more at the code host. */
export const lostAccess = 'github_not_connected'

interface Told {
  readonly status: string
  readonly failure: { readonly code: string } | null
  readonly publishingFault?: string | undefined
}

/** Whether the last that a task tells is that its owner's access is lost: of its turn, or of publishing its work. */
export function tellsOfLostAccess({ status, failure, publishingFault }: Told): boolean {
  return publishingFault === lostAccess || (status === 'failed' && failure?.code === lostAccess)
}
