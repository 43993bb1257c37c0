/** What the job queue keeps of the fault that a job was rejected for. */

/**
 * What of a fault may stand in the queue, where nothing is erased with its task: its kind and where it arose. Its message may hold a
 * person's words; the server's log has it.
 */
export function traceOf(fault: unknown): string {
  if (!(fault instanceof Error)) return `a thrown ${typeof fault}`
  const code =
    'code' in fault && typeof fault.code === 'string' && /^[\w.-]{1,50}$/.test(fault.code)
      ? ` (${fault.code})`
      : ''
  // A message of several lines may look like frames.
  const { message, stack = '' } = fault
  const begins = stack.indexOf(message)
  const below = begins < 0 ? '' : stack.slice(begins + message.length)
  const frames = below.split('\n').filter((line) => /^\s+at \S/.test(line))
  return [
    `${fault.constructor.name}${code}${frames[0]?.replace(/^\s+/, ' ') ?? ''}`,
    ...frames.slice(1),
  ].join('\n')
}
