/** Texts about how freely an agent works. */
export const modeTexts = {
  label: 'Mode',
  short: { plan: 'Plan first', free: 'Work freely', ask: 'Ask first' },
  filter: 'Search modes...',
  none: 'No modes found',
  fromNextTurn: 'Changes apply from the next turn.',
  changed: 'Mode changed',
  changedWhen: 'It applies from the next turn.',
  notChanged: "Couldn't change the mode",
} as const
