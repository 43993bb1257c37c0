/** Which comments on an issue name the App. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { IssueAsk } from '#domain/project/issues.ts'
import { isMentionedIn, mayMention, type ListedComment, type Naming } from '#domain/project/issueAsks.ts'

/** How many people who mention the App on one issue are considered: each costs a question about their rights. */
const maxPeople = 10
/** Comments of one issue that are read to see whether they name the App. */
const maxRead = 100
/** How many comments of one person are read: somebody else may have edited the mention out of the latest. */
const maxOfPerson = 3
/** How many older comments of a person are read. */
const maxEarlier = 10

export interface Mentions<Comment> {
  /** The comments, oldest first. */
  readonly comments: readonly Comment[]
  readonly leftOut: LeftOut
}

/** Whose comments were left out, as there were too many. */
export interface LeftOut {
  /** People who are known here, the latest writer first. */
  readonly known: readonly IssueAsk['author'][]
  /** Whether anybody was left out, known here or not. */
  readonly isAnybody: boolean
}

/**
 * Comments that may ask for the issue: the latest three of each person that name the App. If there are too many, those of people who are known here
 * come first, so that strangers cannot displace them, and everybody's last comment comes before earlier ones, so that nobody displaces others by
 * writing often.
 */
export async function mentioning<Comment extends ListedComment>(
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

/** Reads everybody's last comment first, then the one before it, until one of each person is found. Returns the people who had to be left out. */
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
      // Untrusted text: it may be crafted to be slow to parse.
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

/** Adds the earlier comments that name the App, of a person of whom one was found. */
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
