/** Pictures of people and organisations: their initials on a colour of their own. */
import type { Owner } from '../accounts.ts'
import { html } from '#platform/http/html.ts'

const colours = ['#4a45c9', '#0a6670', '#8a4600']

/** An SVG of 96 pixels. */
export function avatar(owner: Owner): string {
  const initials = owner.name
    .split(' ')
    .map((word) => word.charAt(0))
    .join('')
    .slice(0, 2)
  const text = html`<svg
    xmlns="http://www.w3.org/2000/svg"
    width="96"
    height="96"
    viewBox="0 0 96 96"
    role="img"
    aria-label="${owner.name}"
  >
    <rect width="96" height="96" fill="${colours[owner.id % colours.length]}" />
    <text
      x="48"
      y="60"
      text-anchor="middle"
      font-family="ui-sans-serif,system-ui,sans-serif"
      font-size="36"
      font-weight="600"
      fill="#fff"
    >
      ${initials}
    </text>
  </svg>`
  return text.html
}
