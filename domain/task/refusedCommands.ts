/** Commands of an agent's own terminal: what they would do there, they do not do here. */
import type { AgentName } from '../agents.ts'

const goesOn = 'Each task is a single conversation that continues by itself.'
const ofProject = "Network access and environment variables are in the project's settings."
const ofOperator = 'The operator of this server configures the agent.'
const chooseModel = 'Use the model picker instead.'
const ownFiles = 'The agent reads CLAUDE.md in the repository. Ask it to change that file.'

/** What to do instead, by name; `null`: nothing is like it here. */
const refused: Readonly<Record<AgentName, Readonly<Record<string, string | null>>>> = {
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
