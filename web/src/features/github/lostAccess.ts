/** The code of the fault when the server has lost its access to a person's account at the code host. */
export const lostAccess = 'github_not_connected'

interface TaskFaults {
  readonly status: string
  readonly failure: { readonly code: string } | null
  readonly publishingFault?: string | undefined
}

/** Whether the task's last turn or the publishing of its work failed because the server lost access to the account of the task's owner. */
export function tellsOfLostAccess({ status, failure, publishingFault }: TaskFaults): boolean {
  return publishingFault === lostAccess || (status === 'failed' && failure?.code === lostAccess)
}
