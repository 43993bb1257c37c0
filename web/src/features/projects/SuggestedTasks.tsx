/** A few tasks to begin with, each a button. */
import { Button } from '../../ui/Button.tsx'
import { suggestions } from './suggestions.ts'

interface SuggestedTasksProps {
  /** They are for the sample repository, which they know. */
  readonly ofSample: boolean
  readonly onChoose: (words: string) => void
}

export function SuggestedTasks({ ofSample, onChoose }: SuggestedTasksProps) {
  return (ofSample ? suggestions.ofSample : suggestions.ofAny).map((words) => (
    <Button
      key={words}
      size="touch"
      className="h-auto! min-h-11 max-w-full py-1 text-left whitespace-normal! md:min-h-8"
      onClick={() => onChoose(words)}
    >
      {words}
    </Button>
  ))
}
