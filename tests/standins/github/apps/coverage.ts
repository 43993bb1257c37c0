/** Which repositories an installation includes. */
import { sameName } from '../../../../services/codehost/state/accounts.ts'
import type { Installation } from '../state.ts'

/** Whether an installation includes the repository. */
export const isOn = (
  installation: Pick<Installation, 'account' | 'repositoryIds'>,
  repository: { readonly id: number; readonly owner: string },
): boolean =>
  sameName(installation.account, repository.owner) &&
  (installation.repositoryIds === null || installation.repositoryIds.includes(repository.id))
