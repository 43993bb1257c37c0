/** Ids for tests: UUIDs from which one can read the kind and the number. */

/** The `n`th id of its kind: a UUID whose second group names the kind. */
function numbered(kind: string): (n: number) => string {
  return (n) => `00000000-${kind}-4000-8000-${n.toString(16).padStart(12, '0')}`
}

export const userId = numbered('a000')
export const projectId = numbered('b000')
export const taskId = numbered('c000')
export const messageId = numbered('d000')
export const executionId = numbered('e000')
export const sessionId = numbered('f000')
export const credentialId = numbered('9000')
export const imageId = numbered('1000')
export const questionId = numbered('2000')
