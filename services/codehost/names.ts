/** Which names a repository may bear. */

/**
 * The name a repository gets when `wanted` was asked for, as GitHub does it: what may not be in a name becomes a dash.
 * `undefined` when nothing usable is left, or when the result would be taken for an option, a folder or a git address.
 */
export function repositoryName(wanted: string): string | undefined {
  const name = wanted.trim().replace(/[^A-Za-z0-9._-]+/g, '-')
  const usable = name.length > 0 && name.length <= 100 && !/^[-]|^\.{1,2}$|\.(git|wiki)$/i.test(name)
  return usable ? name : undefined
}

/** Whether a host name is this machine itself, as browsers see it. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname)
}
