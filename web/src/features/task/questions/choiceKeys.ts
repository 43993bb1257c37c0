/**
 * The keys that answer in a card: a number chooses the option with that number or takes it back, the arrow keys move between options, and Enter with
 * Ctrl or Cmd sends.
 */
import type { KeyboardEvent } from 'react'
import { takesText } from '../../../actions/keys.ts'
import { isComposingKey } from '../../../ui/isComposingKey.ts'

/**
 * Marks the elements that a number key chooses, in their order. An input is clicked; a button only gets the focus, because pressing it acts at once.
 */
export const choice = { 'data-choice': '' } as const
/** Marks the button that Enter with Ctrl or Cmd presses. */
export const sends = { 'data-sends': '' } as const

export function onChoiceKey(event: KeyboardEvent<HTMLElement>): void {
  if (isComposingKey(event.nativeEvent)) return
  const { currentTarget: card, target, key } = event
  if (key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault()
    event.stopPropagation()
    card.querySelector<HTMLButtonElement>('[data-sends]')?.click()
    return
  }
  if (takesText(target) || event.ctrlKey || event.metaKey || event.altKey) return
  const choices = [...card.querySelectorAll<HTMLInputElement | HTMLButtonElement>('[data-choice]')]
  const chosen = /^[1-9]$/.test(key) ? choices[Number(key) - 1] : neighbour(choices, event)
  if (chosen === undefined) return
  event.preventDefault()
  event.stopPropagation()
  chosen.focus()
  if (!(chosen instanceof HTMLInputElement)) return
  // A click takes a chosen option back: a number does that, and moving to it does not.
  if (/^[1-9]$/.test(key) || (chosen.type === 'radio' && !chosen.checked)) chosen.click()
}

const steps: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }

/**
 * The choice after or before the focused one. If the card itself has the focus, it is the first or the last choice; in other parts of the card, the
 * arrow keys scroll.
 */
function neighbour(
  choices: readonly HTMLElement[],
  { currentTarget: card, target, key }: KeyboardEvent<HTMLElement>,
): (typeof choices)[number] | undefined {
  const step = steps[key]
  if (step === undefined || choices.length === 0) return undefined
  const at = choices.findIndex((one) => one === target)
  if (at === -1) return target === card ? choices.at(step === 1 ? 0 : -1) : undefined
  return choices.at((at + step) % choices.length)
}
