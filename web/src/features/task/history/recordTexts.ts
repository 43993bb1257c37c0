/** Texts about the state of a record, and how to check it. */
const events = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'event' : 'events'}`

export const recordTexts = {
  notFetched: 'The state of the record could not be read',
  reading: 'Reading the state of the record',
  offline: 'Offline: the state of the record is unknown',
  lastKnown: 'as it was known last',
  sealed: (age: string) => `Sealed ${age} ago`,
  verified: 'verified by this server',
  checkedSoFar: (checked: number, total: number) =>
    `checked ${checked.toLocaleString('en')} of ${events(total)}`,
  key: (fingerprint: string) => `key ${fingerprint}…`,
  notSealed: 'Not sealed yet',
  off: 'Sealing is off on this server',
  notSealedYet: (count: number) => `The newest ${events(count)} ${count === 1 ? 'is' : 'are'} not sealed yet`,
  damaged: (stream: 'task' | 'terminal', revision: number) =>
    `Record damaged: event ${revision.toLocaleString('en')} of the ${stream === 'task' ? 'task' : 'terminal'} is not as it was recorded`,

  how: 'How do I know?',
  title: 'What is known of this record',
  sealTitle: 'The seal',
  sealSays: (at: string, covered: number, total: number) =>
    `At ${at} this server signed a statement of its whole log. ${
      covered >= total
        ? `All ${events(total)} of this task are`
        : `${events(covered)} of the ${total.toLocaleString('en')} of this task are`
    } in it: whoever keeps the seal can tell if one is changed later.`,
  noSeal:
    'No statement of this log was signed yet. Until then, somebody who can write to the database could change the newest events, with all their hashes.',
  noSealing:
    'This server was told to sign nothing (SEAL_SECONDS=0). Somebody who can write to the database could change events, with all their hashes.',
  checkTitle: 'The check',
  checkSays: (at: string, checked: number) =>
    `Since ${at} this server has computed the hashes of ${events(checked)} again. Each is as it was recorded, and follows the one before it. This is the server's own word: a server that lies would say it too.`,
  damageSays: (stream: 'task' | 'terminal', revision: number) =>
    `Event ${revision.toLocaleString('en')} of the ${stream === 'task' ? 'task' : 'terminal'} was changed after it was recorded, or cannot be read. What is before it is as it was recorded.`,
  keyTitle: 'The key',
  keySays:
    'The seals are signed with the key that has this fingerprint. Compare it with the one that you got elsewhere: from the operator, or from a pull request.',
  check: 'Check it yourself',
  close: 'Close',

  command: {
    title: 'Check it without this server',
    says: 'Save the record, and run this where Node 20 or later is:',
    copy: 'Copy the command',
    expected: 'The first line must be:',
    first: 'whole',
    seals:
      'seals.ndjson is a copy of the seals that is kept outside: ask whoever runs this server. Without one leave out --seal; the first line is then “whole, not witnessed”.',
    noKey: 'No key has signed yet, so there is nothing to hold the record against.',
  },
  file: {
    title: 'Check it in this browser',
    key: 'Key that must have signed',
    keyHelp: 'This is what this server says. Better: the one that you got elsewhere.',
    drop: 'Drop an audit record here, or choose a file. It stays in this browser.',
    checking: 'Checking the record',
    verdicts: {
      whole: 'Whole: nothing was changed, removed, added or moved, and this key signed it',
      intact: 'Intact, but no key was given: it may be signed by anybody',
      not_whole: 'Not whole',
      unknown_key: 'Signed by another key than the one above',
      newer_format: 'Made in a newer format than this page knows',
      older_format: 'Made in an older format: save the record again',
    },
    failed: {
      no_text: 'This file is no text, so it is no audit record',
      no_signatures:
        'This browser cannot check signatures here: it needs HTTPS and Ed25519. Use the command above.',
      unreadable: 'This file cannot be checked: it is no audit record',
      too_large: 'This file is too large to be checked in a page. Use the command above.',
      too_long: 'The check took too long, and was stopped. Use the command above.',
      not_loaded: 'The verifier could not be loaded. Check your connection and try again.',
    },
    signedBy: (fingerprint: string) => `Signed by ${fingerprint}`,
    holds: (count: number, withheld: number, erased: number) =>
      `${events(count)}, ${withheld.toLocaleString('en')} contents left out, ${erased.toLocaleString('en')} erased`,
    otherTask: 'It is the record of another task than this one.',
  },
} as const
