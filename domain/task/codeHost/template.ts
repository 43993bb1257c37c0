/** The body of a pull request with the repository's own template below the words of the task. */

/** A rule, and a remark by which what stands below is known again. */
const mark = '<!-- Template of the repository -->'

/** GitHub takes no longer body. */
const longestBody = 65_536

/** Our words, and the template below them; without it where there is none, and where GitHub would not take that much. */
export function withTemplate(ours: string, template: string | null): string {
  if (template === null) return ours
  const above = ours.replaceAll(mark, '').trimEnd()
  const body = `${above}\n\n---\n${mark}\n\n${template.replaceAll(mark, '')}`
  return body.length > longestBody ? ours : body.trimStart()
}

/** What stands below in a body that was made so, as people filled it in; `null` where there is nothing. */
export function belowTemplateMark(body: string): string | null {
  const at = body.indexOf(mark)
  return at === -1 ? null : body.slice(at + mark.length).trimStart()
}
