/**
 * Messages that begin with a slash. The agent accepts some commands. Commands that work only in the agent's own terminal are refused, in most cases
 * with a sentence that says what to do instead. All other messages are plain text, because a path can begin with a slash too.
 */
import type { AgentName } from '../agents.ts'
import { refuse } from '../kernel/errors.ts'
import type { QueuedMessage } from './phase.ts'

export interface SlashCommand {
  readonly name: string
  /** A few words for what to type after the name; `null` when nothing follows the name. */
  readonly argument: string | null
  readonly help: string
  /** Whether the command is useful only after the task's first turn. */
  readonly needsTurn: boolean
}

const offered: Readonly<Partial<Record<AgentName, readonly SlashCommand[]>>> = {
  claude: [
    {
      name: 'compact',
      argument: 'what to keep',
      help: 'Sum up the conversation to make room',
      needsTurn: true,
    },
    { name: 'context', argument: null, help: 'Show what fills the conversation', needsTurn: true },
    { name: 'cost', argument: null, help: 'Show what this conversation has used', needsTurn: true },
    {
      name: 'code-review',
      argument: 'how thorough',
      help: 'Look for faults in the changes',
      needsTurn: true,
    },
    { name: 'simplify', argument: null, help: 'Make the changes simpler and clearer', needsTurn: true },
    { name: 'init', argument: null, help: 'Write a CLAUDE.md for this repository', needsTurn: false },
  ],
}

/** The agent's own commands that people can use, in the order in which they are shown. */
export const slashCommandsOf = (agent: AgentName): readonly SlashCommand[] => offered[agent] ?? []

const goesOn = 'Each task is a single conversation that continues by itself.'
const ofProject = "Network access and environment variables are in the project's settings."
const ofOperator = 'The operator of this server configures the agent.'
const chooseModel = 'Use the model picker instead.'
const ownFiles = 'The agent reads CLAUDE.md in the repository. Ask it to change that file.'

/** For each refused command, a sentence that says what to do instead; `null` when Flightdeck has nothing similar. */
const refused: Readonly<Partial<Record<AgentName, Readonly<Record<string, string | null>>>>> = {
  claude: {
    clear: 'Create a new task to start over, or send /compact to summarize this conversation.',
    reset: 'Create a new task to start over, or send /compact to summarize this conversation.',
    new: 'Create a new task to start a new conversation.',
    model: chooseModel,
    help: 'Type / in the message box to see the commands that work here.',
    'security-review': 'Ask in your own words, for example: review the changes for security issues.',
    resume: goesOn,
    continue: goesOn,
    rewind: goesOn,
    branch: goesOn,
    fork: goesOn,
    rename: 'Rename the task instead.',
    exit: 'Use Stop to end a turn. The agent exits by itself.',
    quit: 'Use Stop to end a turn. The agent exits by itself.',
    status: 'The status is shown above the chat.',
    tasks: 'Your tasks are on the dashboard.',
    diff: 'The changes are shown beside the chat.',
    copy: 'Copy a message from its menu.',
    export: 'Copy a message from its menu.',
    'add-dir': 'The agent can only access its workspace.',
    permissions: ofProject,
    sandbox: ofProject,
    config: ofOperator,
    login: ofOperator,
    logout: ofOperator,
    upgrade: ofOperator,
    mcp: ofOperator,
    plugin: ofOperator,
    'reload-plugins': ofOperator,
    'reload-skills': ofOperator,
    memory: ownFiles,
    hooks: ownFiles,
    agents: ownFiles,
    skills: ownFiles,
    'output-style': ownFiles,
    plan: 'Ask for a plan in your own words, then tell the agent to go ahead.',
    autocompact: 'Send /compact to summarize the conversation.',
    background: null,
    btw: null,
    bug: null,
    color: null,
    effort: null,
    fast: null,
    feedback: null,
    focus: null,
    heapdump: null,
    ide: null,
    'list-agents': null,
    'privacy-settings': null,
    'release-notes': null,
    statusline: null,
    'terminal-setup': null,
    theme: null,
    vim: null,
  },
}

/** The lower-case word after a slash at the beginning of the message, whether or not a command has this name; empty when there is none. */
export const commandNamed = (message: string): string => /^\/([a-z][a-z-]*)(?=\s|$)/.exec(message)?.[1] ?? ''

/** Why the message is refused, in a sentence; `null` when it is accepted. `first` says that the task has no conversation yet. */
export function refusalOfCommand(agent: AgentName, message: string, first = false): string | null {
  const name = commandNamed(message)
  if (first && slashCommandsOf(agent).some((command) => command.name === name && command.needsTurn))
    return `/${name} works on a conversation, and there is none yet. Describe the task first.`
  const commands = refused[agent] ?? {}
  const instead = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (instead === undefined) return null
  const sentences = [`/${name} is a command of the agent's own terminal, and does not work here.`, instead]
  return sentences.filter((sentence) => sentence !== null).join(' ')
}

/** The names of the commands that are refused for an agent. */
export const refusedCommands = (agent: AgentName): readonly string[] => Object.keys(refused[agent] ?? {})

/**
 * The refusal of a turn's message for the reason from `refusalOfCommand`; `undefined` when the message is accepted. Shell commands are never refused.
 */
export function refusalOfWords(
  { kind, agent }: Pick<QueuedMessage, 'kind' | 'agent'>,
  message: string,
  field: 'message' | 'description',
  begins = false,
) {
  const sentence = kind === 'turn' ? refusalOfCommand(agent, message, begins) : null
  return sentence === null ? undefined : refuse('invalid_input', sentence, field)
}
