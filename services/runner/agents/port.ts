/**
 * What a coding agent's CLI is to the runner: how it is started, spoken to and interrupted, and one vocabulary for what it
 * reports, whichever agent it is. Held by the tests beside each agent.
 */
import type { AgentModel } from '#domain/api/server.schema.ts'
import type { AgentName } from '#domain/agents.ts'
import type { EventOf } from '#domain/kernel/event.schema.ts'
import type { ToolKind } from '#domain/task/events.ts'
import type { AgentMode, Answer, QuestionAsked } from '#domain/task/questionEvents.ts'
import type { OwnInstructions } from '#domain/user/instructions.ts'
import type { ModelApiName } from '../model/apis.ts'
import type { ModelUsage } from '../model/meter.ts'
import type { AbilityFile } from '../workspace/git/abilityFiles.ts'
import type { Located, WhereToLook } from './locate.ts'

/** What an agent reports, in the order in which it happens. */
export type AgentEvent =
  /** Its session is open; said again for each turn of a process that takes several. */
  | { readonly type: 'session'; readonly sessionId: string; readonly model: string }
  /** It took up messages, by the ids that they were sent with: it asks its model with them next. */
  | { readonly type: 'taken_up'; readonly messageIds: readonly string[] }
  /** It begins something that nobody asked for, such as waking up by itself. It lasts until the agent takes up a message, or to its `end`. */
  | { readonly type: 'unasked' }
  /** More of a text, as it is written. */
  | { readonly type: 'text_delta'; readonly messageKey: string; readonly text: string }
  /** The whole of a text; `cut` when it broke off. Each key that had a delta has one of these, sooner or later. */
  | { readonly type: 'text'; readonly messageKey: string; readonly text: string; readonly cut: boolean }
  /** A text that broke off is rewritten under its key, from its beginning. */
  | { readonly type: 'text_restarted'; readonly messageKey: string }
  | { readonly type: 'thinking_delta'; readonly messageKey: string; readonly text: string }
  | { readonly type: 'thinking'; readonly messageKey: string; readonly text: string; readonly cut: boolean }
  | ToolStarted
  /** Each tool that was started finishes, also when the agent dies first. */
  | ToolFinished
  /** What a model was used for since the last report of it. The cost is the CLI's own estimate. */
  | ModelUsed
  /** Something a person should know that is neither text nor error: a retry, a refusal of a tool. */
  | { readonly type: 'notice'; readonly text: string }
  | AgentQuestion
  /** The agent no longer waits for the answers to its request. */
  | { readonly type: 'question_withdrawn'; readonly requestId: string }
  /** To be written to the agent: what its protocol needs, and no person has to say. */
  | { readonly type: 'write'; readonly text: string }
  /** Its MCP servers, as it found them when it began; said before its `session`. */
  | { readonly type: 'mcp_servers'; readonly servers: readonly FoundMcpServer[] }
  | AgentError
  | AgentEnd
  /** A line that nobody understands, cut to 1,000 characters. */
  | { readonly type: 'unknown'; readonly line: string }

export interface FoundMcpServer {
  readonly name: string
  readonly isConnected: boolean
  /** Names of its tools, as the server calls them. */
  readonly tools: readonly string[]
}

/** An MCP server that an agent is started with. */
export type McpServerForAgent = {
  readonly name: string
  /** Names of tools that the agent must not use. */
  readonly toolsOff: readonly string[]
} & (
  | {
      /** Streamable HTTP; `bearer` authorizes its requests. */
      readonly kind: 'http'
      readonly url: string
      readonly bearer: string
    }
  | {
      readonly kind: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      /** Variables that the agent's environment has too. */
      readonly env: Readonly<Record<string, string>>
    }
)

/** The turn is over. Without this event, the agent did not end by itself. */
export interface AgentEnd {
  readonly type: 'end'
  readonly ok: boolean
  readonly sessionId: string
  readonly durationMs: number
  readonly turns: number
  /**
   * The messages whose turn has ended, by the ids that they were sent with; none when nobody had asked for it. Absent where the agent does not say.
   */
  readonly answers?: readonly string[]
}

/** The agent asks a person and waits. One request may ask several things, which are answered together. */
export interface AgentQuestion {
  readonly type: 'question'
  /** The agent's own id of the request. */
  readonly requestId: string
  readonly asked: readonly AskedQuestion[]
}

type Asked = EventOf<typeof QuestionAsked>
export type AskedQuestion = Readonly<
  Pick<Asked['data'], 'kind' | 'allowsText' | 'multiple'> & Asked['content']
>

export interface ToolStarted {
  readonly type: 'tool_started'
  readonly toolId: string
  /** The tool call of the sub-agent that uses this one; `null` for the agent's own. */
  readonly parentToolId: string | null
  readonly kind: ToolKind
  /** As the agent calls it. */
  readonly name: string
  /** What it works on, in a line: a path relative to the workspace, a command, a pattern, an address. */
  readonly target: string
  /** Its input as JSON, with long strings shortened; at most 16 KiB. */
  readonly input: string
}

export interface ToolFinished {
  readonly type: 'tool_finished'
  readonly toolId: string
  readonly ok: boolean
  readonly exitCode: number | null
  /** What came of it, in a line; may be empty. */
  readonly summary: string
  /** What it printed or answered, of an edit the hunks of its diff; at most 64 KiB, shortened in the middle. */
  readonly output: string
  /** The images among it, as base64 and unchecked. */
  readonly images?: readonly string[]
  /** Lines added to and deleted from the file it edited. */
  readonly additions: number | null
  readonly deletions: number | null
}

export interface ModelUsed extends ModelUsage {
  readonly type: 'usage'
  /** In US dollars. */
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
    /** The account of the key has nothing left to pay with. */
    | 'no_credit'
    /** The conversation has more tokens than the model takes. */
    | 'prompt_too_long'
    /** The request has more bytes than the model's API takes. */
    | 'request_too_large'
    | 'budget'
    | 'max_turns'
    | 'aborted'
    /** The session to resume is not there: a new one has to be started. */
    | 'unknown_session'
    | 'other'
  readonly message: string
  readonly httpStatus: number | null
}

/** Turns what an agent prints into events. Pure but for what it remembers of the stream. */
export interface AgentParser {
  /** Takes the next characters, cut anywhere. */
  push(chunk: string): readonly AgentEvent[]
  /** The stream is over: closes what it left open. */
  end(): readonly AgentEvent[]
}

/** A person's message. `id` is a UUID of this sending alone: a message with an id that was sent before is passed over. */
export interface AgentMessage {
  readonly text: string
  /** None for an agent that reads images from files. */
  readonly images: readonly AgentImage[]
  readonly id: string
}

/** The dialogue with one process: reads what it prints, and says what to write to its standard input. No I/O. */
export interface AgentDialogue extends AgentParser {
  /** Sent while a turn runs, it steers that turn where the process takes many. Empty when it is written later, by a `write` event. */
  message(message: AgentMessage): string
  /** Asks to stop the turn: an `aborted` error and an `end` follow. `null`: SIGINT is the way. */
  interrupt(): string | null
  /** Answers a request, one answer for each thing that it asked. Empty when nobody waits any more. */
  answer(requestId: string, answers: readonly Answer[]): string
}

export interface DialogueRequest {
  /** The model that the process was asked to use. */
  readonly model: string | null
  readonly mode: AgentMode
  /** The session to resume, for an agent that opens it in the dialogue; none by default. */
  readonly session?: string | null
  /** Where the sandbox has the repository; `/workspace` by default. */
  readonly workspace?: string
  /** What a person has allowed 'always in this task'; nothing by default. */
  readonly allowedRules?: readonly string[]
}

export interface AgentImage {
  readonly mediaType: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'
  readonly base64: string
}

/** How an agent reaches its model. */
export type ModelAccess =
  | (BrokerAccess & {
      readonly kind: 'socket'
      /** Where the sandbox has the broker's socket. */
      readonly socketPath: string
    })
  | (BrokerAccess & {
      readonly kind: 'loopback'
      /** The broker's address on the sandbox's loopback, without a path. */
      readonly origin: string
    })
  /** By itself, with the real key, which enters the sandbox. */
  | { readonly kind: 'key'; readonly apiKey: string }

interface BrokerAccess {
  /** The broker knows this run by it. */
  readonly runToken: string
  /** The scripted model answers: which model is asked for makes no difference. */
  readonly scripted: boolean
}

export interface LaunchRequest {
  /** The CLI's path as the sandbox sees it. */
  readonly binary: string
  /** The id of a new session is a proposal: what the agent made of it is in its `session` event. */
  readonly session: { readonly kind: 'new' | 'resume'; readonly id: string }
  /** Passed on only when the agent takes it; `null` leaves the choice to the agent. */
  readonly model: string | null
  readonly mode: AgentMode
  /** What a person has allowed 'always in this task', in the agent's notation. */
  readonly allowedRules: readonly string[]
  /** Of the kind that `Agent.access` names. */
  readonly access: ModelAccess
  /** It runs as root, without a sandbox. */
  readonly isRoot: boolean
  /** None by default, and for an agent that takes none. */
  readonly mcpServers?: readonly McpServerForAgent[]
}

export interface Launch {
  readonly argv: readonly string[]
  /** What the CLI needs beside `HOME`, `PATH` and the like. Holds the run's token, or the key of an agent that needs it. */
  readonly env: Readonly<Record<string, string>>
}

/** A file that an agent finds in its home when it starts. */
export interface HomeFile {
  /** Relative to the home. */
  readonly path: string
  readonly content: string | Uint8Array
  /** What the CLI keeps its own state in is written once and then left to it. */
  readonly onlyOnce: boolean
  readonly isExecutable?: boolean
}

/** What a repository and a person give an agent, besides the instruction files in the workspace. */
export interface Brought extends OwnInstructions {
  /** As they are in the commit that the work began from. */
  readonly files: readonly AbilityFile[]
}

/** How an agent wants to reach its model: through the broker, over a unix socket or the loopback, in the words of an API; or with its key. */
export type AgentAccess =
  | {
      readonly kind: 'socket' | 'loopback'
      readonly api: ModelApiName
      /** `false` for an agent whose tools the built-in scripted model does not know. */
      readonly scripted?: false
    }
  | { readonly kind: 'key' }

/** How an agent's CLI is used. */
export interface Agent {
  readonly name: AgentName
  /** Its program on this machine. */
  locate(where: WhereToLook): Promise<Located>
  /** The name in the `Co-Authored-By` line of its commits. */
  readonly author: string
  /**
   * Of a process. `many`: it takes message after message on standard input while it runs, and leaves when that is closed. `one`: it takes one, ended
   * by the close of standard input, and its process ends with the turn.
   */
  readonly turns: 'many' | 'one'
  /** Where its home keeps its sessions: from them another runner resumes one. */
  readonly sessionFolders: readonly string[]
  readonly access: AgentAccess
  /** `told`: its events say what it used of its models. `metered`: they do not, and what the broker counted is taken instead. */
  readonly usage: 'told' | 'metered'
  /** Whether it can be trusted to leave after its `end`; one that cannot is to be killed then. */
  readonly leavesByItself: boolean
  /** The files of its home. `present`: those `instructionFiles` that the repository has; `workspace`: where the sandbox has the repository. */
  home(present: ReadonlySet<string>, workspace: string, brought: Brought): readonly HomeFile[]
  /** Folders of its home that hold nothing else than what `home` gives: they are emptied before each start. */
  readonly ownFolders?: readonly string[]
  /** Files of a repository by which it would run programs that nobody asked for, and that it cannot be told to pass over: with them it does not start. */
  readonly refusedFiles?: readonly string[]
  /** Models to choose from. Others can be asked for by their names. */
  readonly models: readonly AgentModel[]
  /** What a person is shown of what it wrote to standard error. */
  shownStderr(text: string, scripted: boolean): string
  /** Throws when the access is of another kind than its own. */
  launch(request: LaunchRequest): Launch
  /** For one process. */
  dialogue(request: DialogueRequest): AgentDialogue
  /** Why it ended without an `end`, judged by the last of its standard error; `null` if that names no known fault. */
  faultOf(said: string, exitCode: number | null): AgentError | null
  /** Whether it takes images within a message, or reads them from files that the message names. */
  readonly images: 'inline' | 'files'
}
