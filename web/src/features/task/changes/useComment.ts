/** The comment that is being written, and the drafts of other comments. A draft is kept until it is sent or until there are too many newer ones. */
import { useState } from 'react'
import { commentDrafts, recall } from '../../../state/persisted.ts'
import { usePersisted } from '../../../state/usePersisted.ts'
import type { CommentTarget } from './list/useRange.ts'

/** How many drafts are kept; the oldest are dropped. */
const maxDrafts = 30

export function useComment(taskId: string) {
  const [drafts, keep] = usePersisted(commentDrafts)
  const [target, setTarget] = useState<CommentTarget | null>(null)
  const place = target === null ? '' : placeIn(taskId, target)
  const write = (text: string) => {
    // Another tab may have kept drafts meanwhile.
    const others = Object.entries({ ...drafts, ...recall(commentDrafts) }).filter(
      ([other]) => other !== place,
    )
    keep(Object.fromEntries([...others.slice(1 - maxDrafts), ...(text === '' ? [] : [[place, text]])]))
  }
  return {
    target,
    text: drafts[place] ?? '',
    write,
    open: setTarget,
    close: () => setTarget(null),
  }
}

export type Comment = ReturnType<typeof useComment>

function placeIn(taskId: string, { fileName, firstKey, lastKey }: CommentTarget): string {
  return JSON.stringify([taskId, fileName, firstKey, lastKey])
}
