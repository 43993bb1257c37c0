/**
 * The interface to every coding agent: how its CLI is started, sent messages and interrupted, and the events that it reports. The tests beside each
 * agent check this contract.
 */
import type { RepositoryHook } from '#domain/api/projectSettings.schema.ts'
import type { AgentModel } from '#domain/api/server.schema.ts'
import type { AgentName } from '#domain/agents.ts'
import type { EventOf } from '#domain/kernel/event.schema.ts'
import type { ContextUse } from '#domain/task/contextEvents.ts'
import type { ToolKind } from '#domain/task/events.ts'
import type { AgentMode, Answer, QuestionAsked } from '#domain/task/questionEvents.ts'
import type { OwnInstructions } from '#domain/user/instructions.ts'
import type { ModelApiName } from '../model/apis.ts'
import type { ModelUsage } from '../model/meter.ts'
import type { AbilityFile } from '../workspace/git/abilityFiles.ts'
import type { Located, WhereToLook } from './locate.ts'
import type { OwnTool } from './ownTools.ts'

/** The reports of an agent, in the order in which they happen. */
export type AgentEvent =
  /** The agent's session is open; repeated for each turn of a process that runs several. */
  | { readonly type: 'session'; readonly sessionId: string; readonly model: string }
  /** The agent took up messages, by the ids that they were sent with: its next call to the model includes them. */
  | { readonly type: 'taken_up'; readonly messageIds: readonly string[] }
  /**
   * The agent starts something that nobody asked for, such as waking up by itself. The events after this one are unasked until the agent takes up a
   * message, or until its `end`.
   */
  | { readonly type: 'unasked' }
  /** More of a text that is being written. */
  | { readonly type: 'text_delta'; readonly messageKey: string; readonly text: string }
  /** A whole text; `cut` when it was interrupted. Each key that had a delta gets exactly one `text` event. */
  | { readonly type: 'text'; readonly messageKey: string; readonly text: string; readonly cut: boolean }
  /** An interrupted text or thought is rewritten under its key, from its beginning. */
  | { readonly type: 'text_restarted'; readonly messageKey: string }
  | { readonly type: 'thinking_delta'; readonly messageKey: string; readonly text: string }
  | { readonly type: 'thinking'; readonly messageKey: string; readonly text: string; readonly cut: boolean }
  /** A whole text that a sub-agent wrote for the main agent, and not for the person. */
  | SubagentWords
  | ToolStarted
  /** A tool has finished. Each tool that started gets this event, also when the agent dies first. */
  | ToolFinished
  /** The usage of a model since the last report. The cost is the CLI's own estimate. */
  | ModelUsed
  /** How full the model's context is, reported at most once for each call to the model; `null` when that is no longer known. */
  | { readonly type: 'context'; readonly context: ContextUse | null }
  /** The conversation had grown too long for the model, so the agent summarized it without being asked. */
  | { readonly type: 'compacted' }
  /** A notice for the person that is neither text nor error: a retry, or a refused tool. */
  | { readonly type: 'notice'; readonly text: string }
  | AgentQuestion
  /** The agent no longer waits for the answers to its request. */
  | { readonly type: 'question_withdrawn'; readonly requestId: string }
  /** A text to write to the agent's standard input: a line that its protocol requires, or a message that was held back. */
  | { readonly type: 'write'; readonly text: string }
  /** The models that the agent reported; each can be requested. */
  | { readonly type: 'models'; readonly models: readonly AgentModel[] }
  /** The states of the agent's MCP servers at its start; reported before the agent's `session` event. */
  | { readonly type: 'mcp_servers'; readonly servers: readonly FoundMcpServer[] }
  | AgentError
  | AgentEnd
  /** A line that the parser could not read, cut to 1,000 characters. */
  | { readonly type: 'unknown'; readonly line: string }

export interface FoundMcpServer {
  readonly name: string
  readonly isConnected: boolean
  /** The names of the server's tools. */
  readonly tools: readonly string[]
}

/** An MCP server that an agent is started with. */
export type McpServerForAgent = {
  readonly name: string
  /** The names of tools that the agent must not use. */
  readonly toolsOff: readonly string[]
} & (
  | {
      /** A server with Streamable HTTP; the token `bearer` authorizes the agent's requests. */
      readonly kind: 'http'
      readonly url: string
      readonly bearer: string
    }
  | {
      readonly kind: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      /** Variables for the server. The agent's environment has these variables as well. */
      readonly env: Readonly<Record<string, string>>
    }
)

/** The turn is over. If a process exits without this event, it has failed or was stopped. */
export interface AgentEnd {
  readonly type: 'end'
  readonly ok: boolean
  readonly sessionId: string
  readonly durationMs: number
  readonly turns: number
  /**
   * The messages whose turn has ended, by the ids that they were sent with; none when nobody had asked for the turn. Absent if the agent does not
   * report it.
   */
  readonly answers?: readonly string[]
}

/** The agent asks a person and waits. One request may have several questions, which are answered together. */
export interface AgentQuestion {
  readonly type: 'question'
  /** The id of the request for `AgentDialogue.answer`, made from the agent's own id. */
  readonly requestId: string
  readonly asked: readonly AskedQuestion[]
}

type Asked = EventOf<typeof QuestionAsked>
export type AskedQuestion = Readonly<
  Pick<Asked['data'], 'kind' | 'allowsText' | 'multiple'> & Asked['content']
>

export interface SubagentWords {
  readonly type: 'subagent_words'
  /** The id of the tool call that started the sub-agent. */
  readonly parentToolId: string
  readonly isThought: boolean
  readonly text: string
}

export interface ToolStarted {
  readonly type: 'tool_started'
  readonly toolId: string
  /** If a sub-agent uses this tool, the id of the tool call that started the sub-agent; `null` for the main agent. */
  readonly parentToolId: string | null
  readonly kind: ToolKind
  /** The tool's name in the agent's words, or a name of ours if the agent gives none. */
  readonly name: string
  /** The thing that the tool works on: a path relative to the workspace, a command, a pattern, an address. At most 2,000 characters. */
  readonly target: string
  /** The tool's input as JSON, with long strings shortened; at most 16,384 characters. */
  readonly input: string
}

export interface ToolFinished {
  readonly type: 'tool_finished'
  readonly toolId: string
  readonly ok: boolean
  readonly exitCode: number | null
  /** The tool's result in one line; may be empty. */
  readonly summary: string
  /** The tool's output; for an edit, the hunks of its diff. At most 65,536 characters, shortened in the middle. */
  readonly output: string
  /** The images in the output, as base64 and unchecked. */
  readonly images?: readonly string[]
  /** The number of lines that an edit added to its file; `null` when that is unknown, or when the tool edits nothing. */
  readonly additions: number | null
  readonly deletions: number | null
}

export interface ModelUsed extends ModelUsage {
  readonly type: 'usage'
  /** The cost in US dollars; 0 when the agent estimates none. */
  readonly costUsd: number
}

export interface AgentError {
  readonly type: 'error'
  readonly code:
    | 'unauthorized'
    | 'bad_model'
    | 'rate_limited'
    | 'overloaded'
    | 'api_error'
    /** The account of the key has no credit left. */
    | 'no_credit'
    /** The conversation has more tokens than the model accepts. */
    | 'prompt_too_long'
    /** The request has more bytes than the model's API accepts. */
    | 'request_too_large'
    | 'budget'
    | 'max_turns'
    | 'aborted'
    /** The session to resume does not exist: a new one has to be started. */
    | 'unknown_session'
    | 'other'
  readonly message: string
  readonly httpStatus: number | null
}

/** Converts an agent's output to events, without I/O. It remembers the output so far. */
export interface AgentParser {
  /** Reads the next characters, which may end anywhere. */
  push(chunk: string): readonly AgentEvent[]
  /** Called at the end of the output: ends the texts and tools that are still open. */
  end(): readonly AgentEvent[]
}

/** A person's message. `id` is a UUID for this sending only, because an agent may ignore a message whose id was sent before. */
export interface AgentMessage {
  readonly text: string
  /** The message's images; none for an agent that reads images from files. */
  readonly images: readonly AgentImage[]
  readonly id: string
}

/** The dialogue with one process: converts its output, and returns what to write to its standard input. No I/O. */
export interface AgentDialogue extends AgentParser {
  /** The text to write once, when the process starts. */
  readonly opening?: string
  /**
   * The text that sends a message. During a turn, this may be called only for an agent that can be steered, and steers the turn. Empty when a later
   * `write` event sends the message.
   */
  message(message: AgentMessage): string
  /** The text that stops the turn, after which an `aborted` error and an `end` follow; `null` when SIGINT must be used instead. */
  interrupt(): string | null
  /** The text that makes the following turns use this model and effort, for an agent with `choosesLive`. */
  choose?(use: ModelUse): string
  /** The text that answers a request, with one answer for each of its questions. Empty when the agent no longer waits. */
  answer(requestId: string, answers: readonly Answer[]): string
}

/** The model and effort for the agent; `null` leaves the choice to the agent. */
export interface ModelUse {
  readonly model: string | null
  readonly effort: string | null
}

export interface DialogueRequest {
  /** The model that the process was launched with. */
  readonly model: string | null
  readonly mode: AgentMode
  /** The session to resume, for an agent that opens it in the dialogue; none by default. */
  readonly session?: string | null
  /** The path of the repository in the sandbox; `/workspace` by default. */
  readonly workspace?: string
  /** The rules that a person has allowed 'always in this task'; none by default. */
  readonly allowedRules?: readonly string[]
  /** The MCP servers, for an agent that is told about them in the dialogue; none by default. */
  readonly mcpServers?: readonly McpServerForAgent[]
}

export interface AgentImage {
  readonly mediaType: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'
  readonly base64: string
}

/** How an agent reaches its model. */
export type ModelAccess =
  | (BrokerAccess & {
      readonly kind: 'socket'
      /** The path of the broker's socket in the sandbox. */
      readonly socketPath: string
    })
  | (BrokerAccess & {
      readonly kind: 'loopback'
      /** The broker's address on the sandbox's loopback, without a path. */
      readonly origin: string
    })
  /** The agent calls its model itself, with the real key, which enters the sandbox. */
  | { readonly kind: 'key'; readonly apiKey: string }

interface BrokerAccess {
  /** The token by which the broker knows this run. */
  readonly runToken: string
  /** Whether the scripted model answers: then the requested model does not matter. */
  readonly scripted: boolean
}

export interface LaunchRequest {
  /** The CLI's path in the sandbox. */
  readonly binary: string
  /** The session. The id of a new session is only a proposal: the `session` event has the id that the agent chose. */
  readonly session: { readonly kind: 'new' | 'resume'; readonly id: string }
  /** The chosen model, passed on only when the agent accepts it; `null` leaves the choice to the agent. */
  readonly model: string | null
  readonly mode: AgentMode
  /** The rules that a person has allowed 'always in this task', in the agent's notation. */
  readonly allowedRules: readonly string[]
  /** The access to the model, of the kind that `Agent.access` names. */
  readonly access: ModelAccess
  /** Whether the agent runs as root, without a sandbox. */
  readonly isRoot: boolean
  /** The MCP servers; none by default, and for an agent that supports none. */
  readonly mcpServers?: readonly McpServerForAgent[]
}

export interface Launch {
  readonly argv: readonly string[]
  /** Variables for the CLI in addition to `HOME`, `PATH` and the like. They include the run's token, or the key of an agent that needs it. */
  readonly env: Readonly<Record<string, string>>
}

/** A file that an agent finds in its home when it starts. */
export interface HomeFile {
  /** The path relative to the home. */
  readonly path: string
  readonly content: string | Uint8Array
  /** Whether the file is written only if it is missing, because the CLI keeps its own state in it. */
  readonly onlyOnce: boolean
  readonly isExecutable?: boolean
}

/** The files and instructions that a repository and a person give an agent, in addition to the instruction files in the workspace. */
export interface Brought extends OwnInstructions {
  /** The ability files of the repository, such as skills and commands, from the commit that the work began from. */
  readonly files: readonly AbilityFile[]
  /** The hooks of the repository that the project's owner allowed; none by default. */
  readonly hooks?: readonly RepositoryHook[]
}

/** How an agent reaches its model: through the broker, over a unix socket or the loopback, with the named API; or directly with its key. */
export type AgentAccess =
  | {
      readonly kind: 'socket' | 'loopback'
      readonly api: ModelApiName
      /** `false` for an agent whose tools the built-in scripted model does not know. */
      readonly scripted?: false
      /** Set when the token of a person's subscription may be used instead of a key. */
      readonly subscriptions?: true
    }
  | { readonly kind: 'key' }

/** How an agent's CLI is used. */
export interface Agent {
  readonly name: AgentName
  /** Finds the agent's program on this machine. */
  locate(where: WhereToLook): Promise<Located>
  /** The name in the `Co-Authored-By` line of the agent's commits. */
  readonly author: string
  /**
   * How many turns a process runs. `many`: it reads message after message on standard input, and exits when standard input is closed. `one`: it reads
   * one message, up to the end of standard input, and exits with the turn.
   */
  readonly turns: 'many' | 'one'
  /** The folders of the home with the agent's sessions, from which another runner can resume a session. */
  readonly sessionFolders: readonly string[]
  readonly access: AgentAccess
  /**
   * `told`: the agent's events report the usage of its models before an `end`. `metered`: they do not, and the broker's count is used instead, as for
   * any agent whose process ends without an `end`.
   */
  readonly usage: 'told' | 'metered'
  /** Whether the process reliably exits when its input is closed after its `end` event. Any other process is killed instead. */
  readonly leavesByItself: boolean
  /**
   * The files of the agent's home. `present` are the names of the instruction files and `heededFiles` that the repository has; `workspace` is the
   * path of the repository in the sandbox.
   */
  home(present: ReadonlySet<string>, workspace: string, brought: Brought): readonly HomeFile[]
  /** `message` when the agent finds no instructions in its home: then the first message of a session brings them. */
  readonly instructions?: 'message'
  /** Files of a repository that change the result of `home`, in addition to the instruction files. */
  readonly heededFiles?: readonly string[]
  /** Folders of the home that hold only the files of `home`: they are emptied before each start. */
  readonly ownFolders?: readonly string[]
  /**
   * Files of a repository with which the agent would run programs that nobody asked for. No setting makes the agent ignore these files, so it does
   * not start if one of them exists.
   */
  readonly refusedFiles?: readonly string[]
  /** The tools of our own MCP server that the agent is given, because it has no such tools itself; none by default. */
  readonly ownTools?: readonly OwnTool[]
  /** `false` when single tools of a local MCP server cannot be kept from the agent. */
  readonly hidesTools?: false
  /** A sentence that says in which case the agent connects to no MCP server; absent if it always connects. */
  readonly mcpLimit?: string
  /** The models to choose from until the agent has reported its own models. Other models can be requested by their names. */
  readonly models: readonly AgentModel[]
  /** Whether the agent repeats failed calls to its model without saying so. The person is then told about the failed calls that the broker saw. */
  readonly retriesSilently?: true
  /** Whether a running process can change its model and effort; `false` by default. */
  readonly choosesLive?: boolean
  /** The part of the agent's standard error that a person sees. */
  shownStderr(text: string, scripted: boolean): string
  /** The command that starts the agent. Throws when the agent cannot use this kind of access. */
  launch(request: LaunchRequest): Launch
  /** Makes the dialogue with one process. */
  dialogue(request: DialogueRequest): AgentDialogue
  /** Why the agent ended without an `end` event; `null` when `said`, the last part of its standard error, names no known fault. */
  faultOf(said: string, exitCode: number | null): AgentError | null
  /** Whether the agent accepts images in a message, or reads them from files that the message names: only an agent that starts for each turn may. */
  readonly images: 'inline' | 'files'
}
