/** The body of a pull request: the task's text, and below it the repository's own template. */

/** A rule and an HTML comment by which the template's part is recognized again. */
const mark = '<!-- Template of the repository -->'

/** GitHub's maximum length of a body. */
const longestBody = 65_536

/** Our text with the template below; without the template if there is none, or if the body would be too long for GitHub. */
export function withTemplate(ours: string, template: string | null): string {
  if (template === null) return ours
  const above = ours.replaceAll(mark, '').trimEnd()
  const body = `${above}\n\n---\n${mark}\n\n${template.replaceAll(mark, '')}`
  return body.length > longestBody ? ours : body.trimStart()
}

/** The part below the mark, as people filled it in; `null` when there is none. */
export function belowTemplateMark(body: string): string | null {
  const at = body.indexOf(mark)
  return at === -1 ? null : body.slice(at + mark.length).trimStart()
}
