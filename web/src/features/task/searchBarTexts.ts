/** Texts of a search bar; `label` names what it searches. */
export const searchBarTexts = <Label extends string>(label: Label) =>
  ({ label, previous: 'Previous match', next: 'Next match', close: 'Close search' }) as const
