/**
 * The author and the committer of a commit. Usually the person is both. If this server has a signing key, it signs its commits and is the committer.
 * The signature then says that this server made the commit. It says nothing about the person, whose key the server does not have.
 */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { UserDocument } from '#domain/views/users.ts'
import { CannotStart, run } from '#platform/childProcess.ts'
import { endedWell, lastWords } from '../git/git.ts'

export interface Person {
  readonly name: string
  readonly email: string
}

/** The account at the code host that has the public key, and the file with the private key. */
export interface CommitSigner extends Person {
  readonly keyFile: string
}

/** The fields of a person that commits need. */
export type Committer = Pick<UserDocument, 'id' | 'fullName' | 'githubUsername' | 'githubId' | 'email'>

/** The person as the author of commits. GitHub attributes the noreply address to them and never refuses it. */
export function identityOf(user: Committer, { noreplyDomain }: { readonly noreplyDomain: string }): Person {
  const { fullName, githubUsername, githubId, id, email } = user
  const isKnown = githubId !== null && githubUsername !== null
  return {
    name: fullName || githubUsername || 'Flightdeck',
    email: isKnown ? `${githubId}+${githubUsername}@${noreplyDomain}` : (email ?? `${id}@${noreplyDomain}`),
  }
}

/** The arguments of git before and after `commit-tree`, and the environment of git. */
interface CommitAs {
  readonly settings: readonly string[]
  readonly flags: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** How to call git for a commit by this person. */
export function commitAs(author: Person, signer: CommitSigner | undefined): CommitAs {
  const committer = signer ?? author
  const env = {
    ...variablesOf('AUTHOR', author),
    ...variablesOf('COMMITTER', committer),
  }
  if (!signer) return { settings: [], flags: [], env }
  const settings = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${signer.keyFile}`]
  return { settings, flags: ['-S'], env }
}

function variablesOf(role: 'AUTHOR' | 'COMMITTER', person: Person): Record<string, string> {
  const email = oneLine(person.email) || 'noreply@localhost'
  return { [`GIT_${role}_NAME`]: oneLine(person.name) || email, [`GIT_${role}_EMAIL`]: email }
}

/** The text without line breaks and other control characters. */
export function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim()
}

/**
 * Stores the key in a file for git. Only the user of this process can read the file, and no sandbox sees its folder. Throws, with the message of
 * ssh-keygen, if nothing can be signed with the key. Without a key, removes the file of an earlier start.
 */
export async function openCommitSigner(
  { root, path }: { readonly root: string; readonly path: string },
  signer: (Person & { readonly key: string }) | null,
): Promise<CommitSigner | undefined> {
  const keyFile = join(root, 'commit-signing-key')
  await rm(keyFile, { force: true })
  if (!signer) return undefined
  await writeFile(keyFile, `${signer.key.trim()}\n`, { mode: 0o600 })
  const why = await whyUnusable(keyFile, path)
  if (why === null) return { name: signer.name, email: signer.email, keyFile }
  await rm(keyFile, { force: true })
  throw new Error(`Nothing can be signed with COMMIT_SIGNING_KEY: ${why}.`)
}

/** Signs a short text, as git does. Returns the reason if that fails. */
async function whyUnusable(keyFile: string, path: string): Promise<string | null> {
  try {
    const signed = await run('ssh-keygen', ['-Y', 'sign', '-n', 'git', '-f', keyFile], {
      env: { PATH: path },
      input: 'Flightdeck',
      timeoutMs: 10_000,
      maxOutputBytes: 65_536,
    })
    return endedWell(signed) ? null : lastWords(signed)
  } catch (fault) {
    if (fault instanceof CannotStart) return 'ssh-keygen, of OpenSSH 8.1 or later, is not installed'
    throw fault
  }
}
