/** A bar above the composer: what the agent waits for, and a button that leads to the question. */
import { CircleQuestionMark } from 'lucide-react'
import { useSelector } from 'react-redux'
import { Button } from '../../../ui/form/Button.tsx'
import { FailureNote } from '../FailureNote.tsx'
import { openQuestions, selectOpenTask } from '../taskSlice.ts'
import { texts } from './texts.ts'

export function OpenQuestions({ onReload }: { readonly onReload: () => void }) {
  const { questions } = useSelector(selectOpenTask)
  const open = openQuestions(questions)
  const [first] = open
  if (first === undefined)
    return questions.load.kind === 'failed' ? (
      <FailureNote className="m-2 md:mx-0" onRetry={onReload}>
        {texts.bar.notRead}
      </FailureNote>
    ) : null
  return (
    <section
      aria-label={texts.bar.label}
      className="flex items-center gap-2 border-t border-line bg-panel py-1 pr-1 pl-3 text-ui md:mb-2 md:rounded-panel md:border"
    >
      <CircleQuestionMark className="size-3.5 flex-none text-warn" />
      <p className="min-w-0 flex-1 truncate">
        {open.length > 1 ? (
          texts.bar.several(open.length)
        ) : (
          <>
            <span className="text-muted">{texts.bar.one[first.kind]}</span>{' '}
            {first.kind !== 'plan' && (first.title ?? texts.erased)}
          </>
        )}
      </p>
      <Button size="small" onClick={() => goTo(first.questionId)}>
        {texts.bar.go}
      </Button>
    </section>
  )
}

/** How many times to look for a card that may still be rendering, and the pause in between in milliseconds. */
const looks = { most: 20, everyMs: 50 } as const

function goTo(questionId: string, look = 1): void {
  const card = document.getElementById(`question-${questionId}`)
  if (card === null) {
    if (look < looks.most) setTimeout(() => goTo(questionId, look + 1), looks.everyMs)
    return
  }
  card.scrollIntoView({ block: 'nearest' })
  card.focus({ preventScroll: true })
}
