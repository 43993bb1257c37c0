/** Removes secrets from feedback, before anything of it is cut or recorded. */
import { setImmediate } from 'node:timers/promises'
import { projectStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { ProjectSecrets } from '#platform/credentials/projectSecrets.ts'
import type { HostFeedback } from '#platform/ports/codeHostFeedback.ts'
import { diffWithout, soughtFor, textWithout } from '#platform/redaction/scan.ts'

/** Removes the project's secrets, and anything that looks like a token. */
export interface Redaction {
  readonly text: (words: string) => string
  /** Redacts lines of a diff; their leading signs stay. */
  readonly hunk: (hunk: string) => string
}

/** Makes the redaction for a project with its current secrets. */
export async function redactionOf(
  {
    commands,
    projectSecrets,
  }: {
    readonly commands: Pick<Commands, 'load'>
    readonly projectSecrets: Pick<ProjectSecrets, 'valuesOf'>
  },
  projectId: string,
): Promise<Redaction> {
  const { state } = await commands.load(projectDecider, projectStream(projectId))
  const names = state.kind === 'project' ? [...state.secrets.keys()] : []
  const sought = soughtFor([...(await projectSecrets.valuesOf(projectId, names)).values()])
  const text = (words: string) => textWithout(sought, words)
  // `diffWithout` finds a hunk only at the beginning of a line after the first, so the hunk gets a line break in front, which is removed afterwards.
  const hunk = (lines: string) =>
    lines.startsWith('@@ ') ? diffWithout(sought, `\n${lines}`).slice(1) : text(lines)
  return { text, hunk }
}

/** Removes secrets from the new parts of feedback. Parts whose key is known are skipped, since they are not recorded again. */
export async function withoutSecrets(
  found: HostFeedback,
  isKnown: (key: string) => boolean,
  redaction: () => Promise<Redaction>,
): Promise<HostFeedback> {
  const shown = async <Words extends { readonly id: string; readonly body: string }>(
    kind: string,
    all: readonly Words[],
    change: (words: Words, by: Redaction) => Words,
  ): Promise<readonly Words[]> => {
    const some: Words[] = []
    for (const words of all) {
      if (isKnown(`${kind} ${words.id}`)) some.push(words)
      else {
        some.push(change(words, await redaction()))
        // Yields to other work: redacting one text takes a millisecond at most, but all texts together may take longer.
        await setImmediate()
      }
    }
    return some
  }
  return {
    reviews: await shown('review', found.reviews, (one, by) => ({ ...one, body: by.text(one.body) })),
    lines: await shown('line', found.lines, (one, by) => ({
      ...one,
      path: by.text(one.path),
      hunk: by.hunk(one.hunk),
      body: by.text(one.body),
    })),
    comments: await shown('comment', found.comments, (one, by) => ({ ...one, body: by.text(one.body) })),
  }
}
