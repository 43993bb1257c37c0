/** A few tasks to begin with, each a button. */
import { Button } from '../../ui/form/Button.tsx'

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

/** Tasks that somebody may begin with, in a project that has none. */
const ofSample = [
  'Support days: 90061 seconds should read 1 d 1 h 1 min 1 s. Add a test.',
  'Add a README that explains what this library does, with an example.',
  'Find inputs that are not handled and add tests for them.',
] as const
const ofAny = [
  'Explain what this repository does and how to run it.',
  'Find a small bug and fix it. Add a test.',
  'Update the README to match the code.',
] as const

export const suggestions = { ofSample, ofAny } as const

/** What is written once a suggestion was chosen: it takes the place of another, and follows what somebody wrote themselves. */
export function withSuggestion(written: string, words: string): string {
  const own = written.trim()
  const isOwn = own !== '' && ![...ofSample, ...ofAny].some((each) => each === own)
  return isOwn ? `${own}\n${words}` : words
}
