/** The comments on a plan that were written so far, each with the passage that it comments on. */
import { X } from 'lucide-react'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import type { AnswerDraft } from './answerDraft.ts'
import { texts } from './texts.ts'
import type { Answering } from './useAnswer.ts'

interface PlanCommentsProps {
  readonly comments: AnswerDraft['comments']
  readonly edit: Answering['edit']
}

export function PlanComments({ comments, edit }: PlanCommentsProps) {
  return (
    <section aria-label={texts.plan.comments(comments.length)} className="grid gap-2">
      <p aria-hidden="true" className="text-meta font-medium text-muted">
        {texts.plan.comments(comments.length)}
      </p>
      <ol className="grid gap-2">
        {comments.map(({ quote, text }, index) => (
          // Two comments may be the same, so the index is the key.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index} className="flex items-start gap-2 border-t border-line-soft pt-2">
            <div className="min-w-0 flex-1">
              <blockquote className="line-clamp-2 border-l-2 border-line pl-2 text-meta wrap-anywhere text-muted">
                {quote}
              </blockquote>
              <p className="mt-1 wrap-anywhere whitespace-pre-wrap">{text}</p>
            </div>
            <IconButton
              icon={X}
              label={texts.plan.remove}
              size="row"
              onClick={() => edit({ comments: comments.filter((_, at) => at !== index) })}
            />
          </li>
        ))}
      </ol>
    </section>
  )
}
