/** An address that may be followed: http and https only. `null` for `javascript:` and whatever else somebody put there. */
export function safeLink(address: string | null | undefined): string | null {
  if (!address) return null
  try {
    const { protocol, href } = new URL(address)
    return protocol === 'https:' || protocol === 'http:' ? href : null
  } catch {
    return null
  }
}
