/** Texts about the keys and subscription tokens with which agents use their models. */
import { providerLabels, type KeyKind, type KeyProvider } from '#domain/agentKeys.ts'

const things: Readonly<Record<KeyKind, string>> = { api_key: 'Key', subscription: 'Subscription token' }

export const keyTexts = {
  add: 'Add Key',
  addTo: (name: string) => `Add Key: ${name}`,
  replace: 'Replace',
  replaceOf: (name: string) => `Replace: ${name}`,
  remove: 'Remove',
  removeOf: (name: string) => `Remove: ${name}`,
  stored: (kind: KeyKind, ending: string) =>
    ending === '' ? `${things[kind]} stored` : `${things[kind]} ending in ${ending}`,
  set: (age: string) => `Set ${age === 'Just now' ? 'just now' : age}`,
  checked: 'Accepted when it was entered',
  notChecked: 'Not checked: the provider gave no answer about it when it was entered',
  value: 'API key',
  token: 'Subscription token',
  save: 'Save Key',
  checking: 'Checking...',
  cancel: 'Cancel',
  saved: 'Key saved',
  savedUnchecked: 'Key saved, but not checked: the provider gave no answer about it',
  notSaved: 'Failed to save key',
  removed: 'Key removed',
  notRemoved: 'Failed to remove key',
  removeTitle: (name: string) => `Remove the key for ${name}?`,
  removing: 'Removing...',
} as const

export const providers: readonly { readonly name: KeyProvider; readonly label: string }[] = [
  { name: 'anthropic', label: `${providerLabels.anthropic} (Claude)` },
  { name: 'openai', label: `${providerLabels.openai} (Codex)` },
  { name: 'google', label: `${providerLabels.google} (Gemini)` },
]
