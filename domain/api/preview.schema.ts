/** Previews of the programs that listen on ports in a task's sandbox. */
import { z } from 'zod'
import { TaskId } from '../kernel/ids.schema.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { previewRoutes } from './preview.ts'

const Port = z.int().min(1).max(65_535)

export const ListeningPort = z.object({
  port: Port,
  /** The name of the listening process, as chosen by the process itself; `null` when the name is not known. */
  process: z.string().nullable(),
})
export type ListeningPort = z.output<typeof ListeningPort>

export const listPorts = defineRead(previewRoutes.listPorts, {
  summary: "The ports on which programs of the task listen in its sandbox, without Flightdeck's own.",
  params: z.object({ taskId: TaskId }),
  answer: {
    ports: z.array(ListeningPort),
    /** Whether a sandbox of the task runs. */
    running: z.boolean(),
    /** A sentence that says why this server has no previews; `null` when it has previews. */
    unavailable: z.string().nullable(),
  },
  faults: ['not_found'],
})

export const openPort = defineWrite(previewRoutes.openPort, {
  summary:
    'An address at which a browser opens the preview of a port: once, and within a minute. The preview ends with the sandbox, and with the session of the person.',
  params: z.object({ taskId: TaskId, port: z.coerce.number().pipe(Port) }),
  answer: { url: z.url() },
  faults: ['not_found', 'not_running', 'preview_unavailable'],
})
