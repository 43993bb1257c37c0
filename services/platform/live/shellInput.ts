/** What a person types into a shell, encrypted on its way between processes: it may be a password, and is never recorded. */
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import type { Vault } from '#platform/ports/vault.ts'

interface Place {
  readonly taskId: string
  readonly shellId: string
}

const placeOf = ({ taskId, shellId }: Place) =>
  [scopeOfStream(taskStream(taskId)), `shell-input#${shellId}`] as const

export async function sealInput(vault: Pick<Vault, 'seal'>, place: Place, text: string): Promise<string> {
  return Buffer.from(await vault.seal(...placeOf(place), Buffer.from(text, 'utf8'))).toString('base64')
}

/** The input; `undefined` when the task's key no longer exists. */
export async function openInput(
  vault: Pick<Vault, 'open'>,
  place: Place,
  sealed: string,
): Promise<Uint8Array | undefined> {
  return vault.open(...placeOf(place), Buffer.from(sealed, 'base64'))
}
