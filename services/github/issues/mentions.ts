/** Finds the comments on an issue that mention the App. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { IssueRequest } from '#domain/project/issues.ts'
import { isMentionedIn, mayMention, type ListedComment, type Naming } from '#domain/project/issueRequests.ts'

/** At most this many people who mention the App on one issue are considered, since the permission of each must be requested. */
const maxPeople = 10
/** The maximum number of comments of one issue that are searched for each person's latest mention. */
const maxRead = 100
/**
 * The maximum number of comments of one person that are returned: more than one, because the latest does not count if somebody else has edited it,
 * which the list does not show.
 */
const maxOfPerson = 3
/** The maximum number of older comments of a person that are searched. */
const maxEarlier = 10

export interface Mentions<Comment> {
  /** The comments that mention the App, oldest first. */
  readonly comments: readonly Comment[]
  readonly leftOut: LeftOut
}

/** The authors of comments that were left out because there were too many. */
export interface LeftOut {
  /** People with an account on this server, the latest writer first. */
  readonly known: readonly IssueRequest['author'][]
  /** Whether any comment was left out: of a person in `known`, or of somebody without an account on this server. */
  readonly isAnybody: boolean
}

/**
 * The comments that may request the issue: of each person, the latest three that mention the App. If these are too many, comments of people with an
 * account here come first, so that strangers cannot displace them. Each person's last comment comes before older ones, so that nobody displaces
 * others by writing often.
 */
export async function mentionsOf<Comment extends ListedComment>(
  comments: readonly Comment[],
  slug: string,
  isHere: (accountId: string) => Promise<boolean>,
): Promise<Mentions<Comment>> {
  const people = mayMention(comments, slug)
  const isMany =
    people.length > maxPeople || people.reduce((sum, one) => sum + one.comments.length, 0) > maxRead
  const known: Naming<Comment>[] = []
  const strangers: Naming<Comment>[] = []
  for (const one of people) (isMany && !(await isHere(one.author)) ? strangers : known).push(one)
  const left = { people: maxPeople, texts: maxRead }
  const found = new Set<Comment>()
  const knownLeft = await readThrough(known, slug, left, found)
  const strangersLeft = await readThrough(strangers, slug, left, found)
  for (const one of people) await readEarlier(one, slug, found)
  return {
    comments: comments.filter((one) => found.has(one)),
    leftOut: {
      known: knownLeft.flatMap((one) => one.comments[0]?.author ?? []),
      isAnybody: knownLeft.length > 0 || strangersLeft.length > 0,
    },
  }
}

/**
 * Searches each person's last comment for a mention, then the comment before it, and so on until a mention is found. Returns the people who had to be
 * left out.
 */
async function readThrough<Comment extends ListedComment>(
  people: readonly Naming<Comment>[],
  slug: string,
  left: { people: number; texts: number },
  found: Set<Comment>,
): Promise<readonly Naming<Comment>[]> {
  let open = people
  for (let depth = 0; open.length > 0; depth += 1) {
    const next: Naming<Comment>[] = []
    for (const [at, person] of open.entries()) {
      const one = person.comments[depth]
      if (one === undefined) continue
      if (left.people === 0 || left.texts === 0) return [...next, ...open.slice(at)]
      left.texts -= 1
      // Other work gets its turn first, since an untrusted text may take long to parse.
      await nextTurn()
      if (isMentionedIn(one.body, slug)) {
        found.add(one)
        left.people -= 1
      } else if (depth + 1 < person.comments.length) next.push(person)
    }
    open = next
  }
  return []
}

/** If `found` has a comment of this person, adds the person's earlier comments with a mention to `found`. */
async function readEarlier<Comment extends ListedComment>(
  { comments }: Naming<Comment>,
  slug: string,
  found: Set<Comment>,
): Promise<void> {
  const latest = comments.findIndex((one) => found.has(one))
  if (latest === -1) return
  let count = 1
  for (const one of comments.slice(latest + 1, latest + 1 + maxEarlier)) {
    if (count === maxOfPerson) return
    await nextTurn()
    if (!isMentionedIn(one.body, slug)) continue
    found.add(one)
    count += 1
  }
}
