/**
 * Remote calls to any process that can respond. Calls are not stored, so a call that no process receives is lost. Tested by
 * `tests/contracts/rpc.spec.ts`.
 */
import { z } from 'zod'
import { workspaceOutcomes } from '#domain/api/cleanUp.ts'
import { RepositoryAbility } from '#domain/api/abilities.schema.ts'
import { TerminalSize } from '#domain/api/shell.schema.ts'
import { McpTest, SuggestedMcpServer } from '#domain/api/mcpServers.schema.ts'
import { HostSuggestion, ShownRepository } from '#domain/api/projectSettings.schema.ts'
import { FileEntry, FilesFrom, TaskFile } from '#domain/api/taskFiles.schema.ts'
import { faultCodes } from '#domain/kernel/errors.ts'
import { Position } from '#domain/kernel/event.schema.ts'
import { BlobRef } from '#domain/kernel/ids.schema.ts'
import { AgentName } from '#domain/task/events.ts'

const project = z.object({ projectId: z.string(), ownerId: z.string() })
/** The person for whom a call is made. A process of an older version does not send it. */
const caller = z.string().default('')
/** A task's workspace. Of one owner, a runner handles only few of these calls at once. */
const inWorkspace = z.object({ taskId: z.string(), ownerId: caller })
/**
 * The commit from which the task began or, if there is no task or its commit is unknown, `branch` as last fetched. A `branch` of `null` means the
 * default branch.
 */
const atCommit = project.extend({ taskId: z.string().nullable(), branch: z.string().nullable() })

/** All calls, with the schemas of their requests and responses. Both are small: large data is put into a blob. */
export const rpcCalls = {
  /** The changes of a task against a branch. Answered by the runner with the task's workspace. */
  changes: {
    request: inWorkspace.extend({ baseBranch: z.string() }),
    response: z.discriminatedUnion('kind', [
      z.object({
        kind: z.literal('changes'),
        currentBranch: z.string(),
        ahead: z.int(),
        behind: z.int(),
        truncated: z.boolean(),
        files: z.int(),
        /** The blob with the changed files, encrypted under the task's key; `null` when no file has changed. The caller removes the blob. */
        blob: BlobRef.nullable(),
      }),
      z.object({ kind: z.literal('base_not_found') }),
    ]),
  },
  /**
   * Lines of a file as they were before a task changed it. Answered by the runner with the task's workspace. `blob` is the git object name of the
   * content; line numbers begin at 1, and both ends are included.
   */
  lines: {
    request: inWorkspace.extend({ blob: z.string(), from: z.int(), to: z.int() }),
    response: z.object({ lines: z.array(z.string()).readonly(), total: z.int() }),
  },
  /** The files that an undo would change. Answered by the runner with the task's workspace. */
  undoPreview: {
    request: inWorkspace.extend({ executionId: z.string() }),
    response: z.discriminatedUnion('kind', [
      z.object({
        kind: z.literal('preview'),
        /** The first 1,000 changed files. */
        files: z
          .array(z.object({ path: z.string(), change: z.enum(['added', 'modified', 'deleted']) }).readonly())
          .readonly(),
        total: z.int(),
        kept: z.array(z.string()).readonly(),
      }),
      z.object({ kind: z.literal('refused'), code: z.enum(faultCodes), sentence: z.string() }),
    ]),
  },
  /** The turn that wrote each line of a file. Answered by the runner with the task's workspace. */
  origins: {
    request: inWorkspace.extend({ path: z.string() }),
    response: z.object({
      /** `null` when the task has no turns or no text file at `path`, or when finding the turns takes too long. */
      ranges: z
        .array(
          z.object({
            from: z.int(),
            to: z.int(),
            executionId: z.string().nullable(),
            /** The path that the file had when the lines were written, if it differs from the present path. */
            path: z.string().exactOptional(),
            /** The `lineHash` of each line; left out for lines that no turn wrote, and when the file has too many lines. */
            hashes: z.array(z.string()).readonly().exactOptional(),
          }),
        )
        .readonly()
        .nullable(),
      /** The git object name of the file content that the ranges are about. */
      blob: z.string().exactOptional(),
      /** The ids of the task's ended turns and commands, oldest first. */
      turns: z.array(z.string()).readonly().exactOptional(),
    }),
  },
  /**
   * Removes the workspace of a task unless it is in use or work would be lost. Answered by the runner `runnerId`, which ran the task last. The
   * workspace is restored if the task goes on. `unreachable`: the code host did not say in time which of the task's commits it has.
   */
  removeWorkspace: {
    request: z.object({ taskId: z.string(), runnerId: z.string() }),
    response: z.object({ outcome: z.enum(workspaceOutcomes) }),
  },
  /**
   * Asks a runner to prepare for a task that may be created with the id `taskId`. The response says whether the runner has begun. The caller has
   * checked access to the project.
   */
  prepare: {
    request: project.extend({
      taskId: z.string(),
      branch: z.string(),
      agent: AgentName,
      model: z.string().nullable(),
    }),
    response: z.object({ kind: z.enum(['begun', 'left']) }),
  },
  /**
   * Asks all runners to prepare a new environment of a project. The response comes from the first runner that answers. `position` is that of the
   * event that records the beginning of the work; `null` when this call began none. The caller has checked access to the project.
   */
  rebuildEnvironment: {
    request: project,
    response: z.object({
      kind: z.enum(['begun', 'no_setup', 'busy', 'no_sandbox']),
      position: Position.nullable(),
    }),
  },
  /**
   * Tells the runners that the repository of a project may have changed, so that each makes its environments again if they are old. The caller has
   * checked nothing: the access of `ownerId` is used.
   */
  repositoryChanged: { request: project, response: z.object({}) },
  /**
   * The hosts that package managers use and the repositories of submodules, according to the files of a project's repository. The caller has checked
   * access to the project.
   */
  hosts: { request: project, response: z.object({ suggestions: z.array(HostSuggestion).readonly() }) },
  /** The skills, commands and subagents of a project's repository. The caller has checked access to the task or project. */
  abilities: {
    request: atCommit,
    response: z.object({
      abilities: z.array(RepositoryAbility).readonly(),
      /** Which files were left out, and why. */
      notes: z.array(z.string()).readonly(),
    }),
  },
  /** Lists the files of a project's repository whose path contains `search`. The caller has checked access to the task or project. */
  files: {
    request: atCommit.extend({ search: z.string() }),
    response: z.object({ files: z.array(z.string()).readonly() }),
  },
  /**
   * The file or folder at a path of a task or, with a search, the paths that contain the search text. They are read from the task's workspace, from
   * its saved work or from a branch. The caller has checked access to the task.
   */
  taskFiles: {
    request: project.extend({
      taskId: z.string(),
      /** The task's base branch; `workingBranch` is the task's own branch. */
      branch: z.string(),
      workingBranch: z.string().nullable(),
      /** The git bundle of the task's last saved work. */
      saved: BlobRef.nullable(),
      read: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('path'), path: z.string(), download: z.boolean() }),
        z.object({ kind: z.literal('search'), search: z.string() }),
      ]),
    }),
    response: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('found'), files: z.array(z.string()).readonly() }),
      z.object({
        kind: z.literal('folder'),
        entries: z.array(FileEntry).readonly(),
        leftOut: z.int(),
        from: FilesFrom,
      }),
      z.object({
        kind: z.literal('file'),
        file: TaskFile,
        /** The bytes of `file.content`, encrypted with the task's key; `null` when there are none. The caller removes the blob. */
        content: BlobRef.nullable(),
        from: FilesFrom,
      }),
      z.object({ kind: z.literal('missing') }),
    ]),
  },
  /** Facts about a project's repository. Answered by a runner that has fetched it. The caller has checked access to the project. */
  repository: { request: project, response: z.object({ repository: ShownRepository }) },
  /** The MCP servers that a project's repository suggests. The caller has checked access to the project. */
  mcpSuggestions: {
    request: project,
    response: z.object({ suggestions: z.array(SuggestedMcpServer).readonly() }),
  },
  /** The tools of a remote MCP server of a project or a person. The caller has checked that the server belongs to them. */
  mcpTools: {
    request: z.object({
      of: z.enum(['project', 'person']),
      id: z.string(),
      serverId: z.string(),
      ownerId: caller,
    }),
    response: z.object({ test: McpTest }),
  },
  /**
   * Opens a person's shell in the workspace of a task, or joins the open one. Answered by the runner with the task's workspace. The caller has
   * checked that the task is the person's.
   */
  openShell: {
    request: z.object({ taskId: z.string(), size: TerminalSize }),
    response: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('opened'), shellId: z.string(), shared: z.boolean() }),
      z.object({ kind: z.literal('refused'), code: z.enum(faultCodes), sentence: z.string() }),
    ]),
  },
  /**
   * A person's use of a shell: input, a new size, or closing it. `sealed` is the input, encrypted under the task's key. Answered by the runner that
   * has the shell, once the shell has taken the input.
   */
  useShell: {
    request: z.object({
      taskId: z.string(),
      shellId: z.string(),
      use: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('input'), sealed: z.base64() }),
        z.object({ kind: z.literal('resize'), size: TerminalSize }),
        z.object({ kind: z.literal('close') }),
      ]),
    }),
    response: z.object({ taken: z.literal(true) }),
  },
  /**
   * A seal that covers the present log; if there is no such seal, it is made now. The response is the seal's revision in the stream of seals.
   * Answered by the process that seals.
   */
  seal: { request: z.object({}), response: z.object({ revision: z.int().nonnegative() }) },
}
export type RpcName = keyof typeof rpcCalls
type RpcTypes = {
  readonly [N in RpcName]: {
    readonly request: z.output<(typeof rpcCalls)[N]['request']>
    readonly response: z.output<(typeof rpcCalls)[N]['response']>
  }
}
export type RpcRequest<N extends RpcName> = RpcTypes[N]['request']
export type RpcResponse<N extends RpcName> = RpcTypes[N]['response']

export interface Rpc {
  /**
   * Handles calls of this name until the returned function is called. A handler that returns `undefined` or throws leaves the call to other
   * processes. Thrown faults are reported.
   */
  handle<N extends RpcName>(
    name: N,
    handler: (request: RpcRequest<N>) => Promise<RpcResponse<N> | undefined>,
  ): () => void
  /** The first response of any process; `undefined` when no process gives one in time. Throws `EngineUnavailable` when the call cannot be sent. */
  call<N extends RpcName>(
    name: N,
    request: RpcRequest<N>,
    timeoutMs: number,
  ): Promise<RpcResponse<N> | undefined>
  ready(): Promise<void>
  close(): Promise<void>
}
