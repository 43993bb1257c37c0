/** The reason of a rejected job, in the form in which the queue stores it. */

/**
 * The part of a fault that may be stored in the queue, which is not erased with its task: its type and its stack. The message is only in the server's
 * log, since it may contain a person's text.
 */
export function traceOf(fault: unknown): string {
  if (!(fault instanceof Error)) return `a thrown ${typeof fault}`
  const code =
    'code' in fault && typeof fault.code === 'string' && /^[\w.-]{1,50}$/.test(fault.code)
      ? ` (${fault.code})`
      : ''
  // Only the lines below the message are searched for stack frames, because the lines of a message may look like stack frames.
  const { message, stack = '' } = fault
  const begins = stack.indexOf(message)
  const below = begins < 0 ? '' : stack.slice(begins + message.length)
  const frames = below.split('\n').filter((line) => /^\s+at \S/.test(line))
  return [
    `${fault.constructor.name}${code}${frames[0]?.replace(/^\s+/, ' ') ?? ''}`,
    ...frames.slice(1),
  ].join('\n')
}
