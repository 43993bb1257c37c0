/** Texts of the history of a task and of its replay. */
import { searchBarTexts } from '../searchBarTexts.ts'

const plural = (count: number, one: string, many: string) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

export const texts = {
  notFetched: 'Failed to fetch the history',
  changesNotFetched: 'Failed to fetch the changes of this moment',
  loading: 'Reading the history',
  loaded: (count: number, total: number) =>
    `${count.toLocaleString('en')} of ${plural(total, 'event', 'events')} read`,
  entries: (entries: number, pieces: number) =>
    pieces === 0
      ? plural(entries, 'entry', 'entries')
      : `${plural(entries, 'entry', 'entries')} (${plural(pieces, 'piece', 'pieces')} of output)`,
  output: (pieces: number) => `${plural(pieces, 'piece', 'pieces')} of output`,
  laterOutput: 'Output',
  erasedOutput: 'erased',
  idle: (length: string) => `${length} idle`,
  gap: (length: string) => `${length} without an entry`,
  day: (date: string, zone: string) => `${date}, times in ${zone}`,
  empty: 'Nothing has happened yet',
  emptyWhy: 'What people, agents and the server do in this task is listed here.',
  nothingFound: 'Nothing in the history matches',
  nothingFoundWhy: 'Choose another filter, or look for other words.',
  showAll: 'Show everything',
  missing: (stream: 'task' | 'terminal', revision: number) =>
    `${stream === 'task' ? 'The record of this task' : 'The terminal'} cannot be read from event ${revision.toLocaleString('en')} on. Everything before it is shown.`,
  erased: (count: number) =>
    `The words of ${plural(count, 'event', 'events')} were erased. When they happened is still known.`,
  unknownMoment: 'This task has no such moment. The link may be of another task.',

  filters: {
    label: 'Show',
    all: 'All',
    turns: 'Turns',
    commands: 'Commands',
    commits: 'Commits',
    failures: 'Failures',
  },
  actors: { label: 'Done by', all: 'Everybody' },
  find: {
    ...searchBarTexts('Find in history'),
    found: (count: number) => plural(count, 'match', 'matches'),
    none: 'No matches',
  },
  replay: 'Replay',
  auditRecord: 'Audit record',
  save: 'Save',
  more: 'History actions',
  hints: {
    replay: 'Replay from the start',
    audit: 'Save or check the audit record',
    save: 'Save the replay as a file',
  },
  section: {
    turn: (number: number) => `Turn ${number}`,
    command: (number: number) => `Command ${number}`,
  },
  who: { runner: 'Flightdeck', code_host: 'GitHub' },
  jump: {
    label: 'Show this moment in',
    chat: 'Show in the chat',
    terminal: 'Show in the terminal',
    changes: 'Show in the changes',
  },

  dock: {
    readOnly: 'You can write again when you are back to live.',
    queue: 'In the queue then',
    erased: 'This message was erased.',
  },
  changes: {
    loading: 'Reading the changes of this moment',
    none: 'No changes yet',
    noneWhy: 'At this moment the task had changed no files.',
    notInFile: 'Not part of this file',
    gone: (added: number, deleted: number) =>
      `The diff of this moment is no longer kept. It had ${plural(added, 'line', 'lines')} added and ${deleted} deleted.`,
    truncated: 'This diff is very large, so part of it is not shown.',
  },

  audit: {
    title: 'Audit record',
    why: 'A file with every event of this task, its proofs and the seal of the log. Anybody can check it without this server.',
    withhold: 'Leave out',
    categories: {
      prompts: 'Messages of people',
      answers: 'Answers of the agent',
      tools: 'Tool calls',
      output: 'Output of the terminal',
      details: 'Names of branches, commits and pull requests',
    },
    stillVerifies: 'What is left out is named as such, and the record still verifies.',
    leave: 'Close',
    save: 'Save the record',
  },

  bar: {
    label: 'Replay',
    name: 'Replay.',
    /** The sentence in the replay bar: the shown time, its day, and the latest turn at that time. */
    says: (time: string, day: string, turn: string) =>
      `You see the task as it was at ${time} on ${day}, ${turn}.`,
    harmless: 'Nothing you do here changes it.',
    inTurn: (number: number) => `in turn ${number}`,
    beforeTurns: 'before its first turn',
    fork: 'Start a new task from here',
    back: 'Back to live',
  },

  scrubber: {
    label: 'Position in the task',
    controls: 'Replay controls',
    play: 'Play',
    pause: 'Pause',
    previousEvent: 'Previous event',
    nextEvent: 'Next event',
    previousTurn: 'Previous turn',
    nextTurn: 'Next turn',
    speed: 'Speed',
    times: (speed: number) => `${speed}×`,
    copyLink: 'Copy a link to this moment',
    link: 'Link',
    keys: 'Keys of the replay',
    place: (index: number, count: number) => `${index.toLocaleString('en')} of ${count.toLocaleString('en')}`,
    /** The slider's position in words for screen readers: the turn, the time and the event. */
    value: (time: string, index: number, count: number, turn: string) =>
      `${time}, event ${index.toLocaleString('en')} of ${count.toLocaleString('en')}, ${turn}`,
    marks: 'Failures, commits and pull requests',
    idle: (length: string) => `Nothing happened for ${length}`,
  },
  keys: [
    ['Space, K', 'Play or pause'],
    ['J, L', '10 seconds back, forward'],
    ['←, →', '5 seconds back, forward'],
    [',  .', 'Previous event, next event'],
    ['Shift ←, Shift →', 'Previous turn, next turn'],
    ['F, Shift F', 'Next failure, previous failure'],
    ['0 to 9', 'To that tenth of the task'],
    ['Home, End', 'To the beginning, to the end'],
    ['<, >', 'Slower, faster'],
    ['?', 'Show these keys'],
  ],
  keyToLive: ['Esc', 'Back to live'],
  keysTitle: 'Keys of the replay',
  close: 'Close',
} as const
