/** A task's chat, its command log and its terminal: routes and enums. */
import type { Routes } from './route.ts'

export const chatRoutes = {
  getChat: { method: 'GET', path: '/tasks/:taskId/chat' },
  sendMessage: { method: 'POST', path: '/tasks/:taskId/chat' },
  withdrawMessage: { method: 'DELETE', path: '/tasks/:taskId/chat/:messageId' },
  editMessage: { method: 'PUT', path: '/tasks/:taskId/chat/:messageId' },
  steerMessage: { method: 'POST', path: '/tasks/:taskId/chat/:messageId/steer' },
  reorderQueue: { method: 'PUT', path: '/tasks/:taskId/queue' },
  getCommands: { method: 'GET', path: '/tasks/:taskId/commands' },
  getTaskImages: { method: 'GET', path: '/tasks/:taskId/images' },
  getTerminal: { method: 'GET', path: '/tasks/:taskId/terminal' },
} as const satisfies Routes

export const messageTypes = ['user', 'command', 'system', 'error', 'response'] as const
export const commandStatuses = ['pending', 'queued', 'running', 'completed', 'failed', 'cancelled'] as const
