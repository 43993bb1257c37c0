/** Commands of an agent's own terminal: what they would do there, they do not do here. */
import type { AgentName } from './events.ts'

const goesOn = 'Each task is one conversation, which goes on by itself.'
const ofProject = "What the agent may reach, and what its environment holds, is in the project's settings."
const ofOperator = 'The agent is set up by whoever runs this server.'
const chooseModel = 'Choose the model of the task instead.'
const ownFiles = 'Of a repository the agent reads CLAUDE.md: ask it to change that file.'

/** What to do instead, by name; `null`: nothing is like it here. */
const refused: Readonly<Record<AgentName, Readonly<Record<string, string | null>>>> = {
  claude: {
    clear: 'Start a new task for a new conversation, or send /compact to sum this one up.',
    reset: 'Start a new task for a new conversation, or send /compact to sum this one up.',
    new: 'Start a new task for a new conversation.',
    model: chooseModel,
    help: 'Type / into the message to see the commands that work here.',
    'security-review': 'Ask for it in words, as in: look for security faults in the changes.',
    resume: goesOn,
    continue: goesOn,
    rewind: goesOn,
    branch: goesOn,
    fork: goesOn,
    rename: 'Rename the task instead.',
    exit: 'Stop ends a turn; the agent leaves by itself.',
    quit: 'Stop ends a turn; the agent leaves by itself.',
    status: 'Whether the agent runs is shown above the chat.',
    tasks: 'Your tasks are on the dashboard.',
    diff: 'The changes are shown beside the chat.',
    copy: 'Each message has a button that copies it.',
    export: 'Each message has a button that copies it.',
    'add-dir': 'The agent sees its workspace alone.',
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
    plan: 'Ask for a plan in words, and send the next message when you like it.',
    autocompact: 'Send /compact to sum the conversation up.',
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
  cursor: {},
}

/** Why a message is not given to an agent, in a sentence; `null` where it is. */
export function refusalOfCommand(agent: AgentName, message: string): string | null {
  const name = /^\/([a-z][a-z-]*)(?=\s|$)/.exec(message)?.[1] ?? ''
  const instead = Object.hasOwn(refused[agent], name) ? refused[agent][name] : undefined
  if (instead === undefined) return null
  const sentences = [`/${name} is a command of the agent's own terminal, and does not work here.`, instead]
  return sentences.filter((sentence) => sentence !== null).join(' ')
}

/** The names of an agent's commands that are refused. */
export const refusedCommands = (agent: AgentName): readonly string[] => Object.keys(refused[agent])
