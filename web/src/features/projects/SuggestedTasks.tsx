/** A few tasks to begin with, each as a button. */
import { Button } from '../../ui/form/Button.tsx'

interface SuggestedTasksProps {
  /** Whether the tasks are for the sample repository, whose content is known. */
  readonly ofSample: boolean
  readonly onChoose: (words: string) => void
}

export function SuggestedTasks({ ofSample, onChoose }: SuggestedTasksProps) {
  return suggestions[ofSample ? 'ofSample' : 'ofAny'].map((words) => (
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

export const suggestions = {
  ofSample: [
    'Support days: 90061 seconds should read 1 d 1 h 1 min 1 s. Add a test.',
    'Add a README that explains what this library does, with an example.',
    'Find inputs that are not handled and add tests for them.',
  ],
  ofAny: [
    'Explain what this repository does and how to run it.',
    'Find a small bug and fix it. Add a test.',
    'Update the README to match the code.',
  ],
} as const

/** Returns the draft with the suggestion `words`. They replace an earlier suggestion, but follow after a text that the person has written. */
export function withSuggestion(draft: string, words: string): string {
  const own = draft.trim()
  const isOwn =
    own !== '' &&
    !Object.values(suggestions)
      .flat()
      .some((each) => each === own)
  return isOwn ? `${own}\n${words}` : words
}
