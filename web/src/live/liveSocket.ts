/** The live connection, as parts of a page use it. */
import type { Socket } from 'socket.io-client'
import type { ClientEvents, JoinAnswer, ServerEvents } from '#domain/api/socket.schema.ts'
import type { Position } from '#domain/kernel/event.ts'

export interface LiveSocket {
  isConnected(): boolean
  join(taskId: string, last: Position | null): Promise<JoinAnswer>
  leave(taskId: string): void
  /** The socket itself, for requests that only one part of a page makes. */
  readonly raw?: Socket<ServerEvents, ClientEvents>
  close(): void
}
