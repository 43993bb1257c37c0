/** Which comments on an issue name the App. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isMentionedIn, mayMention, mostAsks, type ListedComment } from '#domain/project/issueAsks.ts'

/**
 * Comments that may ask for the issue, oldest first: of each person the latest that names the App, and of all the latest few. Whoever writes
 * often pushes nobody out.
 */
export async function mentioning<Comment extends ListedComment>(
  comments: readonly Comment[],
  slug: string,
): Promise<readonly Comment[]> {
  const latest = new Map<string | undefined, Comment>()
  for (const one of mayMention(comments, slug)) {
    if (latest.size === mostAsks) break
    if (latest.has(one.author?.id)) continue
    // Anybody may have written them, to be long to read.
    await nextTurn()
    if (isMentionedIn(one.body, slug)) latest.set(one.author?.id, one)
  }
  return [...latest.values()].toReversed()
}
