/** The chunk that shows Markdown. A page that will need it loads it beside its data. */
export const loadMarkdown = () => import('./Markdown.tsx')
